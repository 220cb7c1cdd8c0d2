"""The model of Dawid and Skene (1979): each annotator has a confusion matrix of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from training_pipeline.labels.votes import Resolved, Votes

Floats = NDArray[np.float64]
Sparse = Any
"""A csr_array; scipy's types do not say that its product with a dense array is dense."""

_MAX_ITERATIONS = 100
# Change of the evidence's lower bound, an answer. At 1e-5 a study's posteriors are still moving in the second decimal.
_TOLERANCE = 1e-7
# No answer is impossible: a probability of zero would outvote any number of annotators.
_SMALLEST = 1e-10
# Two categories that the data cannot tell apart come out a rounding error from each other.
_TIE = 1e-9


def dawid_skene(votes: Votes) -> Resolved:
    """Estimate each item's category by expectation-maximisation, started at the shares of the votes.

    The estimates and the moment to stop are those of crowd-kit's DawidSkene, computed as two products of a sparse
    matrix an iteration, which takes seconds where crowd-kit's joins of tables take minutes.

    Of categories with the same posterior the first in sorted order wins. An annotator's reliability is the
    probability of answering an item correctly: the sum over categories of prior times the diagonal of the annotator's
    confusion matrix. Where everybody gave one and the same answer there is nothing to estimate: all are certain.
    """
    if (votes.value == votes.value[0]).all():
        unanimous = np.full(votes.n_items, votes.value[0], dtype=np.int32)
        return Resolved(unanimous, np.ones(votes.n_items), np.ones(votes.n_annotators))
    said = _Said.of(votes)
    model = _Model.of(said, said.shares())
    bound = -np.inf
    for _ in range(_MAX_ITERATIONS):
        model = _Model.of(said, _posterior(said, model))
        last, bound = bound, model.evidence_lower_bound() / len(votes.item)
        if bound - last < _TOLERANCE:
            break
    best = model.posterior.max(axis=1, keepdims=True)
    value = (model.posterior >= best - _TIE).argmax(axis=1)
    correct = model.prior[said.value] * model.confusion[np.arange(len(said.value)), said.value]
    reliability = np.zeros(votes.n_annotators)
    np.add.at(reliability, said.annotator, correct)
    posterior: Floats = model.posterior[np.arange(votes.n_items), value]
    return Resolved(value.astype(np.int32), posterior, reliability)


@dataclass(frozen=True)
class _Said:
    """Who said what: `of_item` (items, pairs) holds a 1 where pair p, an annotator and a value, was said of the item.

    Only pairs that occur are kept, sorted by annotator, so that memory grows with the answers.
    """

    of_item: Sparse
    annotator: NDArray[np.int64]
    value: NDArray[np.int64]
    n_values: int

    @classmethod
    def of(cls, votes: Votes) -> _Said:
        pairs, pair = np.unique(votes.annotator.astype(np.int64) * votes.n_values + votes.value, return_inverse=True)
        of_item = csr_array((np.ones(len(pair)), (votes.item, pair)), shape=(votes.n_items, len(pairs)))
        return cls(of_item, *np.divmod(pairs, votes.n_values), votes.n_values)

    def shares(self) -> Floats:
        """Return each category's share of an item's votes (items, categories)."""
        counts: Floats = self.of_item @ np.eye(self.n_values)[self.value]
        counts /= counts.sum(axis=1, keepdims=True)
        return counts


@dataclass(frozen=True)
class _Model:
    """What the posteriors (items, categories) make likeliest.

    `prior` (categories); `said` (pairs, categories), how often the pair was said of items of the category; `confusion`
    (pairs, categories), how probable it is that the annotator says so of one.
    """

    posterior: Floats
    prior: Floats
    said: Floats
    confusion: Floats

    @classmethod
    def of(cls, said: _Said, posterior: Floats) -> _Model:
        expected: Floats = said.of_item.T @ posterior
        counts = np.maximum(expected, _SMALLEST)
        first = np.flatnonzero(np.diff(said.annotator, prepend=-1))
        of_annotator = np.add.reduceat(counts, first, axis=0)
        confusion = counts / np.repeat(of_annotator, np.diff(first, append=len(counts)), axis=0)
        return cls(posterior, np.maximum(posterior.mean(axis=0), _SMALLEST), expected, confusion)

    def evidence_lower_bound(self) -> float:
        """Return crowd-kit's bound, which counts an item's prior once an answer."""
        joint = (self.said * (np.log(self.confusion) + np.log(self.prior))).sum()
        entropy = -(self.posterior * np.log(np.maximum(self.posterior, _SMALLEST))).sum()
        return float(joint + entropy)


def _posterior(said: _Said, model: _Model) -> Floats:
    posterior: Floats = said.of_item @ np.log(model.confusion)
    posterior += np.log(model.prior)
    posterior -= posterior.max(axis=1, keepdims=True)
    np.exp(posterior, out=posterior)
    posterior /= posterior.sum(axis=1, keepdims=True)
    return posterior
