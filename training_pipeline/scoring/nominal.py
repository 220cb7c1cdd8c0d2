"""Single choices without an order: macro F1, accuracy, and each class's precision, recall and F1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from training_pipeline.scoring.classes import MISSING, Coded, class_scores, code, confusion, in_order
from training_pipeline.scoring.missing import worst_predictions
from training_pipeline.scoring.records import Evaluation, Resampling


def evaluate(truths: Sequence[str], predictions: Sequence[str | None], options: Sequence[str]) -> Evaluation:
    """Score single choices; macro F1 is averaged over the classes of the agreed labels.

    A missing prediction counts as a wrong class (`worst_predictions`), except in the confusion matrix, which shows it
    as it is. A draw of the bootstrap averages over the classes it holds.
    """
    found = {*truths, *(prediction for prediction in predictions if prediction is not None)}
    coded = code(in_order(options, found), truths, predictions)
    counted = replace(coded, predicted=worst_predictions(coded))
    classes = class_scores(counted)
    return Evaluation(
        metrics={
            "macro_f1": float(np.mean([score.f1 for score in classes])),
            "accuracy": float(np.mean(counted.truth == counted.predicted)),
        },
        classes=classes,
        confusion=confusion(coded),
        resampling=_resampling(counted),
    )


def _resampling(coded: Coded) -> Resampling:
    """Sums over items of: hits, agreed labels and predictions, each by class."""
    n = len(coded.labels)
    cells, sort = np.unique(coded.truth * (n + 1) + coded.predicted + 1, return_inverse=True)
    truth, predicted = cells // (n + 1), cells % (n + 1) - 1
    cell = np.arange(len(cells))
    hit, named = truth == predicted, predicted != MISSING
    row = np.concatenate([cell[hit], cell, cell[named]])
    column = np.concatenate([truth[hit], n + truth, 2 * n + predicted[named]])
    statistics = csr_array((np.ones(len(row)), (row, column)), shape=(len(cells), 3 * n))
    return Resampling(sort, statistics, _macro_f1)


def _macro_f1(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    hits, support, named = np.split(sums, 3, axis=1)
    present = support > 0
    f1 = np.divide(2 * hits, support + named, out=np.zeros_like(hits), where=present)
    mean: NDArray[np.float64] = f1.sum(axis=1) / present.sum(axis=1)
    return mean
