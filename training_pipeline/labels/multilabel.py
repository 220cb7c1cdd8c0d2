"""Sets of labels: each label is a yes-or-no question of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from training_pipeline.labels.votes import Resolved, Resolver, Votes


def resolve_sets(
    votes: Votes, sets: Sequence[tuple[str, ...]], resolve: Resolver
) -> tuple[list[tuple[str, ...]], Resolved]:
    """Resolve each label on its own and put an item's set together from the labels that apply.

    `votes.value` are codes into `sets`, and so is the result's into the sets returned. An answer without a label says
    no to it; where yes and no are equally likely the label does not apply, so an item can end with the empty set. The
    posterior is the smallest over the labels, a reliability the mean over them.
    """
    names = sorted({name for answered in sets for name in answered})
    if not names:
        return [()], resolve(votes)
    ticked = np.array([[name in answered for name in names] for answered in sets], dtype=np.int32)
    applies = np.empty((votes.n_items, len(names)), dtype=bool)
    posterior = np.ones(votes.n_items)
    reliability = np.zeros(votes.n_annotators)
    for k in range(len(names)):
        one = resolve(
            Votes(votes.item, votes.annotator, ticked[votes.value, k], votes.n_items, votes.n_annotators, n_values=2)
        )
        applies[:, k] = one.value == 1
        if one.posterior is not None:
            np.minimum(posterior, one.posterior, out=posterior)
        reliability += one.reliability / len(names)
    value, rows = _distinct_rows(applies)
    combined = [tuple(name for name, holds in zip(names, row, strict=True) if holds) for row in rows]
    return combined, Resolved(value, posterior, reliability)


def _distinct_rows(table: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    packed, value = np.unique(np.packbits(table, axis=1), axis=0, return_inverse=True)
    rows = np.unpackbits(packed, axis=1, count=table.shape[1]).astype(bool)
    return value.reshape(-1).astype(np.int32), rows
