"""Most votes win."""

from __future__ import annotations

import numpy as np

from training_pipeline.labels.votes import Resolved, Votes


def majority(votes: Votes) -> Resolved:
    """Give each item its most frequent category; of several equally frequent ones, the first in sorted order.

    The posterior is the share of the item's votes. An annotator's reliability is the share of their answers that
    equal the result, over the items that somebody else answered too; NaN where there is none.
    """
    cells, count = np.unique(votes.item.astype(np.int64) * votes.n_values + votes.value, return_counts=True)
    item, value = np.divmod(cells, votes.n_values)
    # Stable, so categories with equal counts keep their sorted order within an item.
    order = np.lexsort((-count, item))
    best = order[np.searchsorted(item, np.arange(votes.n_items))]
    winner = value[best].astype(np.int32)
    n_votes = np.bincount(votes.item, minlength=votes.n_items)

    shared = n_votes[votes.item] > 1
    hits = np.bincount(
        votes.annotator[shared],
        weights=votes.value[shared] == winner[votes.item[shared]],
        minlength=votes.n_annotators,
    )
    n_shared = np.bincount(votes.annotator[shared], minlength=votes.n_annotators)
    reliability = np.full(votes.n_annotators, np.nan)
    np.divide(hits, n_shared, out=reliability, where=n_shared > 0)
    return Resolved(winner, count[best] / n_votes, reliability)
