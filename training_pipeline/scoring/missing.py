"""What counts for a single choice that a trainer did not predict."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from training_pipeline.scoring.classes import MISSING, Coded


def worst_predictions(coded: Coded) -> NDArray[np.int64]:
    """Return the predictions with each missing one replaced by a wrong class, such that macro F1 is lowest.

    A missing prediction costs its own class a hit, and as a wrong answer it is a false alarm for another one. Were it
    not, leaving out the items that a model gets wrong would spare it the false alarms and raise its score. Where all
    items have one label there is no other class to alarm, and the prediction stays missing.
    """
    missing = np.flatnonzero(coded.predicted == MISSING)
    n_labels = len(coded.labels)
    support = np.bincount(coded.truth, minlength=n_labels)
    classes = np.flatnonzero(support)
    if not len(missing) or len(classes) < 2:
        return coded.predicted
    n_missing = np.bincount(coded.truth[missing], minlength=n_labels)[classes]
    hits = np.bincount(coded.truth[coded.truth == coded.predicted], minlength=n_labels)[classes]
    named = np.bincount(coded.predicted[coded.predicted != MISSING], minlength=n_labels)[classes]
    alarms = _worst_alarms(hits, support[classes] + named, len(missing) - n_missing, len(missing))
    given = _share_out(n_missing, alarms)

    predicted = coded.predicted.copy()
    for k, label in enumerate(classes):
        predicted[missing[coded.truth[missing] == label]] = np.repeat(classes, given[k])
    return predicted


def _worst_alarms(
    hits: NDArray[np.int64], mentions: NDArray[np.int64], most: NDArray[np.int64], n: int
) -> NDArray[np.int64]:
    """Spread `n` false alarms over the classes, at most `most[c]` on class c, so that the sum of F1 is lowest.

    F1 of a class is 2 hits / (mentions + alarms), mentions being its agreed labels and its predictions. It falls ever
    more slowly as alarms are added, so giving each alarm to the class that loses most by it is optimal (greedy
    allocation of a separable convex sum).
    """
    alarms = np.zeros_like(hits)

    def loss(c: int) -> float:
        return float(hits[c] / ((mentions[c] + alarms[c]) * (mentions[c] + alarms[c] + 1)))

    queue = [(-loss(c), c) for c in range(len(hits)) if most[c] > 0]
    heapq.heapify(queue)
    for _ in range(n):
        _, c = queue[0]
        alarms[c] += 1
        if alarms[c] < most[c]:
            heapq.heapreplace(queue, (-loss(c), c))
        else:
            heapq.heappop(queue)
    return alarms


def _share_out(n_missing: NDArray[np.int64], alarms: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many missing items of class r (row) become an alarm of class c (column), none of its own class.

    A flow that uses every item exists as no class has more alarms than there are missing items of other classes.
    """
    n = len(alarms)
    source, sink = 2 * n, 2 * n + 1
    capacity = np.zeros((2 * n + 2, 2 * n + 2), dtype=np.int32)
    capacity[source, :n] = n_missing
    capacity[:n, n : 2 * n] = np.where(np.eye(n, dtype=bool), 0, n_missing[:, np.newaxis])
    capacity[n : 2 * n, sink] = alarms
    flow = maximum_flow(csr_array(capacity), source, sink).flow
    return flow.toarray()[:n, n : 2 * n].astype(np.int64)
