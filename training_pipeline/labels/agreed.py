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
    """How often an annotator is expected to give the agreed label, 0 to 1.

    `reliability` is None where nothing measures it: the schema has one annotator, nobody else answered this
    annotator's items (majority), or the answers are numbers.
    """

    annotator: str
    n_answers: int
    reliability: float | None


@dataclass(frozen=True)
class AgreedLabels:
    """The agreed labels of one schema, items sorted.

    Row k: `items[k]` is `labels[label[k]]`, decided by `rules[rule[k]]` from `n_answers[k]` answers, with probability
    `posterior[k]` (`agree` says what that is under each rule). `labels` holds each label in use once, sorted.
    `posterior` is None for numbers, whose median has no probability.
    """

    schema: Schema
    items: list[str]
    labels: list[Value]
    label: NDArray[np.int32]
    posterior: NDArray[np.float64] | None
    rules: list[Rule]
    rule: NDArray[np.int8]
    n_answers: NDArray[np.int32]
    reliabilities: tuple[Reliability, ...]
    n_corrected_unlabelled: int = 0

    def __len__(self) -> int:
        return len(self.items)
