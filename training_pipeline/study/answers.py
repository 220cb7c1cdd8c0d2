"""What annotators answered, one compact table a schema.

A study can hold millions of answers, so they are kept as three columns of integers into vocabularies: memory grows by
twelve bytes an answer, however long the items' texts are.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from training_pipeline.study.schemas import Schema

Value: TypeAlias = str | float | tuple[str, ...]
"""A decoded answer: nominal, ordinal and text a string; multilabel the sorted names ticked; continuous a finite number;
spans and objects their canonical JSON (sorted keys, no spaces), which is `"[]"` for "looked and found nothing"."""


@dataclass(frozen=True)
class Answers:
    """All human answers to one schema, at most one per annotator and item.

    Row k says that `annotators[annotator[k]]` gave `values[value[k]]` to `items[item[k]]`. `items`, `annotators` and
    `values` hold each entry once; `items` and `annotators` are sorted.
    """

    schema: Schema
    items: list[str]
    annotators: list[str]
    values: list[Value]
    item: NDArray[np.int32]
    annotator: NDArray[np.int32]
    value: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.item)


@dataclass(frozen=True)
class LeftOut:
    """What was not counted as a human answer, and why."""

    unreadable_files: tuple[tuple[Path, str], ...] = ()
    machine_annotators: tuple[str, ...] = ()
    n_unknown_items: int = 0
    n_undecodable: int = 0
