"""Sets of labels: micro and macro F1, exact match, and each label's precision, recall and F1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from training_pipeline.scoring.classes import class_score, in_order
from training_pipeline.scoring.records import Evaluation, Resampling


def evaluate(
    truths: Sequence[tuple[str, ...]], predictions: Sequence[tuple[str, ...] | None], options: Sequence[str]
) -> Evaluation:
    """Score sets of labels; macro F1 is averaged over the labels that some agreed set holds.

    A missing prediction counts as exactly the labels that the agreed set has not, among `options` and all that occurs:
    each label's decision is then wrong, so leaving an item out raises no F1 as long as `options` holds every label that
    could have been predicted.
    """
    support = Counter(label for agreed in truths for label in agreed)
    labels = in_order(options, support)
    every_label = {*options, *support, *(label for predicted in predictions for label in predicted or ())}
    counted = [
        every_label.difference(agreed) if predicted is None else set(predicted)
        for agreed, predicted in zip(truths, predictions, strict=True)
    ]
    hits: Counter[str] = Counter()
    named: Counter[str] = Counter()
    outcomes = np.empty((len(truths), 3), dtype=np.int64)
    exact = 0
    for k, (agreed, predicted) in enumerate(zip(map(set, truths), counted, strict=True)):
        right = agreed & predicted
        hits.update(right)
        named.update(predicted)
        outcomes[k] = len(right), len(predicted) - len(right), len(agreed) - len(right)
        exact += predictions[k] is not None and agreed == predicted

    classes = tuple(class_score(label, hits[label], support[label], named[label]) for label in labels)
    metrics = {"exact_match": exact / len(truths)}
    not_scored = {}
    if classes:
        metrics["macro_f1"] = float(np.mean([score.f1 for score in classes]))
    else:
        not_scored["macro_f1"] = "No agreed set holds a label."
    micro_f1 = float(_micro_f1(outcomes.sum(axis=0, keepdims=True))[0])
    if np.isnan(micro_f1):
        not_scored["micro_f1"] = "No agreed set and no predicted set holds a label."
        return Evaluation(metrics, not_scored, classes)
    metrics["micro_f1"] = micro_f1
    return Evaluation(metrics, not_scored, classes, resampling=_resampling(outcomes))


def _resampling(outcomes: NDArray[np.int64]) -> Resampling:
    """Sums over items of: hits, false alarms, misses."""
    statistics, sort = np.unique(outcomes, axis=0, return_inverse=True)
    return Resampling(sort.reshape(-1), csr_array(statistics.astype(np.float64)), _micro_f1)


def _micro_f1(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    hits, alarms, misses = sums.T
    named = 2 * hits + alarms + misses
    f1: NDArray[np.float64] = np.divide(2 * hits, named, out=np.full(len(sums), np.nan), where=named > 0)
    return f1
