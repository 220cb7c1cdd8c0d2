"""Single choices with an order: quadratic weighted kappa (Cohen 1968), accuracy and mean distance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from training_pipeline.scoring.classes import MISSING, code, confusion, in_order
from training_pipeline.scoring.records import Evaluation, Resampling


def evaluate(truths: Sequence[str], predictions: Sequence[str | None], options: Sequence[str]) -> Evaluation:
    """Score ordered choices, `options` from low to high; mae is in steps from option to option.

    A prediction that is missing, or is no option, counts as the option farthest from the truth. Where an agreed label
    is no option (the study's config changed), it has no place in the order: qwk and mae are not scored.
    """
    found = {*truths, *(prediction for prediction in predictions if prediction is not None)}
    picture = confusion(code(in_order(options, found), truths, predictions))
    accuracy = float(np.mean([truth == prediction for truth, prediction in zip(truths, predictions, strict=True)]))
    strangers = sorted(set(truths).difference(options))
    if strangers:
        reason = (
            f"The agreed label {strangers[0]!r} is no option of the schema, so its distance to the others is not "
            "known: add it to the schema's options, or have its items annotated again."
        )
        return Evaluation({"accuracy": accuracy}, {"qwk": reason, "mae": reason}, confusion=picture)

    coded = code(tuple(options), truths, predictions)
    farthest = np.where(2 * coded.truth >= len(options) - 1, 0, len(options) - 1)
    predicted = np.where(coded.predicted == MISSING, farthest, coded.predicted)
    resampling = _resampling(coded.truth, predicted, len(options))
    metrics = {"accuracy": accuracy, "mae": float(np.abs(coded.truth - predicted).mean())}
    qwk = float(resampling.metric(_sums(resampling))[0])
    if np.isnan(qwk):
        reason = "Every agreed label and every prediction is the same option, so there is no agreement beyond chance."
        return Evaluation(metrics, {"qwk": reason}, confusion=picture)
    return Evaluation({"qwk": qwk, **metrics}, confusion=picture, resampling=resampling)


def _resampling(truth: NDArray[np.int64], predicted: NDArray[np.int64], n: int) -> Resampling:
    """Sums over items of: the squared distance, and agreed labels and predictions by option."""
    cells, sort = np.unique(truth * n + predicted, return_inverse=True)
    low, high = np.divmod(cells, n)
    cell = np.arange(len(cells))
    distance = (low - high) ** 2
    statistics = csr_array(
        (
            np.concatenate([distance, np.ones(2 * len(cells))]),
            (np.tile(cell, 3), np.concatenate([np.zeros(len(cells), dtype=np.int64), 1 + low, 1 + n + high])),
        ),
        shape=(len(cells), 1 + 2 * n),
    )
    weights = np.subtract.outer(np.arange(n), np.arange(n)) ** 2.0

    def kappa(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        observed, agreed, named = sums[:, 0], sums[:, 1 : 1 + n], sums[:, 1 + n :]
        by_chance = ((agreed @ weights) * named).sum(axis=1) / agreed.sum(axis=1)
        share = np.divide(observed, by_chance, out=np.full_like(observed, np.nan), where=by_chance > 0)
        return np.asarray(1 - share)

    return Resampling(sort, statistics, kappa)


def _sums(resampling: Resampling) -> NDArray[np.float64]:
    counts = np.bincount(resampling.sort, minlength=resampling.statistics.shape[0])
    return np.asarray(resampling.statistics.T @ counts)[np.newaxis]
