"""Which train items a fit leaves out, so that confidences can be judged on items the model did not see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]

N_FOLDS = 5
ONE_FOLD_FROM = 2_000
HELD_BACK_FROM = 50_000
N_HELD_BACK = 10_000


@dataclass(frozen=True)
class LeftOutPlan:
    """`folds` are the rows that each fit leaves out. `refit`: the model itself is fitted on all rows afterwards.

    Up to 2,000 rows five folds leave out every row once; from there one fold of a fifth keeps the cost of a run at two
    fits. From 50,000 rows on, 10,000 rows stay out for good: the model does not miss them, and one fit is enough.
    """

    folds: tuple[Rows, ...]
    refit: bool


def plan_left_out(classes: Rows, groups: Sequence[str | None], seed: int) -> LeftOutPlan:
    """Plan for rows of these classes (n,); rows that share a group that is not None are left out together.

    Every fold holds about its share of each class. A row whose class would be gone from the other rows is not left
    out; where all rows share a group there is no fold. The same rows and seed give the same plan.
    """
    n = len(classes)
    n_folds = N_FOLDS if n < HELD_BACK_FROM else n // N_HELD_BACK
    fold_of = _deal(classes, groups, n_folds, np.random.default_rng(seed))
    used = range(n_folds if n < ONE_FOLD_FROM else 1)
    folds = [_keeping_classes(np.flatnonzero(fold_of == fold), fold_of != fold, classes) for fold in used]
    left_out = tuple(fold for fold in folds if len(fold))
    return LeftOutPlan(left_out, refit=n < HELD_BACK_FROM or not left_out)


def _deal(classes: Rows, groups: Sequence[str | None], n_folds: int, rng: np.random.Generator) -> Rows:
    """Return each row's fold (n,). Groups are dealt out like cards, sorted by the class of their first row."""
    unit_of = _units(groups)
    _, first_row = np.unique(unit_of, return_index=True)
    order = np.lexsort((rng.permutation(len(first_row)), classes[first_row]))
    fold_of_unit = np.empty(len(order), dtype=np.intp)
    fold_of_unit[order] = np.arange(len(order)) % n_folds
    fold_of_row: Rows = fold_of_unit[unit_of]
    return fold_of_row


def _units(groups: Sequence[str | None]) -> Rows:
    numbers: dict[str, int] = {}
    count = 0
    units = np.empty(len(groups), dtype=np.intp)
    for row, group in enumerate(groups):
        unit = numbers.get(group, count) if group is not None else count
        if unit == count:
            count += 1
            if group is not None:
                numbers[group] = unit
        units[row] = unit
    return units


def _keeping_classes(left_out: Rows, kept: NDArray[np.bool_], classes: Rows) -> Rows:
    return left_out[np.isin(classes[left_out], classes[kept])]
