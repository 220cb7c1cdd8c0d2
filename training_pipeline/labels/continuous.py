"""Numbers: the median."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from training_pipeline.labels.votes import Resolved, Votes


def resolve_numbers(votes: Votes, numbers: Sequence[float]) -> tuple[list[float], Resolved]:
    """Give each item the median of its answers, which is the mean of the middle two where their count is even.

    `votes.value` are codes into `numbers`, sorted; the result's are codes into the medians returned. A median has
    neither a probability nor reliabilities: how near an annotator must come to be right is for the study to say.
    """
    order = np.lexsort((votes.value, votes.item))
    answers = np.asarray(numbers, dtype=np.float64)[votes.value[order]]
    n_answers = np.bincount(votes.item, minlength=votes.n_items)
    first = np.cumsum(n_answers) - n_answers
    # Halved before they are added: two answers near the largest float have a median too.
    medians = answers[first + (n_answers - 1) // 2] / 2 + answers[first + n_answers // 2] / 2
    distinct, value = np.unique(medians, return_inverse=True)
    return distinct.tolist(), Resolved(value.astype(np.int32), None, np.full(votes.n_annotators, np.nan))
