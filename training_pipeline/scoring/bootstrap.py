"""The percentile bootstrap of Efron (1979), over items, or over groups whose items stand or fall together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from training_pipeline.scoring.records import Resampling

DRAWS = 1000
_PERCENTILES = (2.5, 97.5)
# Drawing how often each sort occurs costs about as much a sort as drawing eight items one by one.
_ITEMS_A_SORT = 8


def interval(
    resampling: Resampling, groups: Sequence[str] | None, seed: int, draws: int = DRAWS
) -> tuple[float, float] | None:
    """Return the 95 % interval of a metric; None where a single item or group leaves nothing to draw from.

    With groups, whole groups are drawn. A draw in which the metric does not exist (kappa, on one class) is left out.
    The same data and seed give the same interval.
    """
    n_sorts = resampling.statistics.shape[0]
    if groups is None:
        units, statistics = resampling.sort, resampling.statistics
    else:
        names, group = np.unique(np.asarray(groups, dtype=object), return_inverse=True)
        ones = np.ones(len(group))
        per_group = csr_array((ones, (group, resampling.sort)), shape=(len(names), n_sorts))
        units, statistics = np.arange(len(names)), csr_array(per_group @ resampling.statistics)
    if len(units) < 2:
        return None
    draw = _drawer(units, statistics.shape[0], np.random.default_rng(seed))
    of_unit = statistics.T.tocsr()
    sums = np.array([of_unit @ draw() for _ in range(draws)])
    values = resampling.metric(sums)
    values = values[~np.isnan(values)]
    if not len(values):
        return None
    low, high = np.percentile(values, _PERCENTILES)
    return float(low), float(high)


def _drawer(units: NDArray[np.int64], n_sorts: int, rng: np.random.Generator) -> Callable[[], NDArray[np.int64]]:
    """Return a function that draws as many units as there are, with replacement, and counts them by sort."""
    n = len(units)
    if n_sorts * _ITEMS_A_SORT < n:
        share = np.bincount(units, minlength=n_sorts) / n
        return lambda: rng.multinomial(n, share)
    return lambda: np.bincount(units[rng.integers(0, n, n, dtype=np.int32)], minlength=n_sorts)
