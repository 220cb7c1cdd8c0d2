"""What goes into a vote and what comes out, as integer codes: every way of resolving annotators speaks these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Votes:
    """Answers that are categories: row k says that annotator `annotator[k]` gave category `value[k]` to `item[k]`.

    Codes count from 0. There is at least one row an item and at most one for an annotator and item. The codes of
    categories follow the sorted order of the categories, so that "the first" is the same category every time.
    """

    item: NDArray[np.int32]
    annotator: NDArray[np.int32]
    value: NDArray[np.int32]
    n_items: int
    n_annotators: int
    n_values: int


@dataclass(frozen=True)
class Resolved:
    """The category of each item and its probability (n_items), each annotator's reliability (n_annotators).

    `posterior` is None where the rule has no probabilities; a reliability is NaN where nothing measures it.
    """

    value: NDArray[np.int32]
    posterior: NDArray[np.float64] | None
    reliability: NDArray[np.float64]


Resolver: TypeAlias = Callable[[Votes], Resolved]
