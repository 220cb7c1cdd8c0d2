"""The agreed label: one per item and schema, and how it came about."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from training_pipeline.study.answers import Value
from training_pipeline.study.schemas import Schema


class Rule(StrEnum):
    """Which rule decided a label."""

    DAWID_SKENE = "dawid-skene"
    MAJORITY = "majority"
    MEDIAN = "median"
    SINGLE = "single"
    CORRECTED = "corrected"


@dataclass(frozen=True)
class Reliability:
    """How often an annotator is expected to give the agreed label: 0 to 1 (continuous: see `agree`)."""

    annotator: str
    n_answers: int
    reliability: float


@dataclass(frozen=True)
class AgreedLabels:
    """The agreed labels of one schema, items sorted.

    Row k: `items[k]` is `labels[label[k]]` with probability `posterior[k]`, decided by `rules[rule[k]]` from
    `n_answers[k]` answers.
    """

    schema: Schema
    items: list[str]
    labels: list[Value]
    label: NDArray[np.int32]
    posterior: NDArray[np.float64]
    rules: list[Rule]
    rule: NDArray[np.int8]
    n_answers: NDArray[np.int32]
    reliabilities: tuple[Reliability, ...]
    n_corrected_unlabelled: int = 0

    def __len__(self) -> int:
        return len(self.items)
