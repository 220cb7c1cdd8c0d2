"""Numbers: mean absolute error, root mean squared error, r2 and Spearman's rank correlation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from training_pipeline.scoring.records import Evaluation, Resampling


def evaluate(
    truths: Sequence[float], predictions: Sequence[float | None], ends: tuple[float, float] | None
) -> Evaluation:
    """Score numbers, all finite; mae and rmse are in the units of the answers.

    `ends` are the lowest and highest value of the scale, or of train's labels: a missing prediction counts as the one
    farther from the truth. No prediction counts as further off than that, else leaving out a prediction beyond the ends
    would lower mae; so only rmse, r2 and mae are bounded, not the ranks. Without ends nothing is bounded, and nothing
    can be scored as soon as one prediction is missing.
    """
    truth = np.asarray(truths, dtype=np.float64)
    missing = np.array([prediction is None for prediction in predictions])
    if missing.any() and ends is None:
        reason = f"{missing.sum()} of {len(truth)} items have no prediction, and no scale says how wrong that is."
        return Evaluation({}, dict.fromkeys(("mae", "rmse", "r2", "spearman"), reason))
    low, high = ends or (0.0, 0.0)
    farther = np.where(np.abs(truth - low) >= np.abs(truth - high), low, high)
    predicted = np.where(missing, farther, np.array([p or 0.0 for p in predictions]))

    error = np.abs(truth - predicted)
    if ends is not None:
        error = np.minimum(error, np.abs(truth - farther))
    metrics = {"mae": float(error.mean()), "rmse": float(np.sqrt(np.mean(error**2)))}
    not_scored = {}
    if np.ptp(truth) == 0:
        not_scored["r2"] = "All agreed values are the same, so there is nothing to explain."
    else:
        metrics["r2"] = float(1 - np.sum(error**2) / np.sum((truth - truth.mean()) ** 2))
    if np.ptp(truth) == 0 or np.ptp(predicted) == 0:
        not_scored["spearman"] = "All agreed or all predicted values are the same, so they have no ranks to compare."
    else:
        metrics["spearman"] = _spearman(truth, predicted)
    statistics = csr_array(np.column_stack([error, np.ones(len(error))]))
    return Evaluation(metrics, not_scored, resampling=Resampling(np.arange(len(error)), statistics, _mean))


def _spearman(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    # scipy.stats takes a second to import.
    from scipy.stats import rankdata  # noqa: PLC0415

    return float(np.corrcoef(rankdata(a), rankdata(b))[0, 1])


def _mean(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    total, n = sums.T
    return np.asarray(total / n)
