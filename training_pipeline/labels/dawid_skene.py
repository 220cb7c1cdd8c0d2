"""The model of Dawid and Skene (1979): each annotator has a confusion matrix of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from training_pipeline.labels.votes import Resolved, Votes

_MAX_ITERATIONS = 100
# Change of the mean log-likelihood of an answer. At crowd-kit's own 1e-5 a study's posteriors are still moving in the
# second decimal.
_TOLERANCE = 1e-7
# Two categories that the data cannot tell apart come out a rounding error from each other.
_TIE = 1e-9


def dawid_skene(votes: Votes) -> Resolved:
    """Estimate each item's category by expectation-maximisation, started at the shares of the votes (crowd-kit).

    Of categories with the same posterior the first in sorted order wins. An annotator's reliability is the
    probability of answering an item correctly: the sum over categories of prior times the diagonal of the annotator's
    confusion matrix. Where everybody gave one and the same answer there is nothing to estimate: all are certain.
    """
    if (votes.value == votes.value[0]).all():
        unanimous = np.full(votes.n_items, votes.value[0], dtype=np.int32)
        return Resolved(unanimous, np.ones(votes.n_items), np.ones(votes.n_annotators))
    # Importing crowd-kit takes longer than resolving a small study.
    import pandas as pd  # noqa: PLC0415
    from crowdkit.aggregation.classification.dawid_skene import DawidSkene  # noqa: PLC0415

    model: Any = DawidSkene(n_iter=_MAX_ITERATIONS, tol=_TOLERANCE).fit(
        pd.DataFrame({"task": votes.item, "worker": votes.annotator, "label": votes.value})
    )
    # crowd-kit lists items and categories in the order in which it first sees them, and no category without a vote.
    categories = range(votes.n_values)
    probability = model.probas_.reindex(index=range(votes.n_items), columns=categories, fill_value=0.0).to_numpy()
    best = probability.max(axis=1, keepdims=True)
    value = (probability >= best - _TIE).argmax(axis=1)
    posterior = probability[np.arange(votes.n_items), value]

    prior = model.priors_.reindex(categories, fill_value=0.0).to_numpy()
    annotator, answer = (model.errors_.index.get_level_values(level).to_numpy() for level in ("worker", "label"))
    confusion = model.errors_.reindex(columns=categories, fill_value=0.0).to_numpy()
    correct = prior[answer] * confusion[np.arange(len(answer)), answer]
    reliability = np.zeros(votes.n_annotators)
    np.add.at(reliability, annotator, correct)
    return Resolved(value.astype(np.int32), posterior, reliability)
