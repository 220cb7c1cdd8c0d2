"""Answers that name labels which the schema does not offer, as after an option has been renamed."""

from __future__ import annotations

from collections import Counter

from training_pipeline.study.answers import Answers
from training_pipeline.study.schemas import CHOICES


def strange_labels(given: Answers) -> Counter[str]:
    """Return how many answers name each label that is no option; empty where the schema has no options."""
    counts: Counter[str] = Counter()
    if not given.schema.options or given.schema.kind not in CHOICES:
        return counts
    options = frozenset(given.schema.options)
    n_of_value = Counter(given.value.tolist())
    for code, value in enumerate(given.values):
        for label in value if isinstance(value, tuple) else (str(value),):
            if label not in options:
                counts[label] += n_of_value[code]
    return counts
