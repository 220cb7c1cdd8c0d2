"""Which score a run is known by."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from training_pipeline.study.kinds import Kind

HEADLINE_METRIC: Mapping[Kind, str] = MappingProxyType(
    {
        Kind.NOMINAL: "macro_f1",
        Kind.ORDINAL: "qwk",
        Kind.MULTILABEL: "micro_f1",
        Kind.CONTINUOUS: "mae",
    }
)
"""The headline metric of each kind of answer that can be scored."""


def headline_split(supports: Mapping[str, int], *, keeps_best_epoch: bool) -> str | None:
    """Return the split that the headline is taken from: the first of val, test that has items.

    A trainer that kept its best epoch by val has seen val, so test comes first for it. None where neither has items.
    """
    order = ("test", "val") if keeps_best_epoch else ("val", "test")
    return next((split for split in order if supports.get(split)), None)
