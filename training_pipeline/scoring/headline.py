"""Which score a run is known by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Headline:
    """The one number a run is known by, on `n` items of `split` (`n_groups` groups where the study has them).

    `low` and `high` bound its 95 % interval; both are None where a single item or group leaves nothing to resample.
    """

    split: str
    metric: str
    value: float
    low: float | None
    high: float | None
    n: int
    n_groups: int | None = None

    @property
    def name(self) -> str:
        """The metric's name with its split, such as `val_macro_f1`."""
        return f"{self.split}_{self.metric}"


def headline_split(supports: Mapping[str, int], *, keeps_best_epoch: bool) -> str | None:
    """Return the split that the headline is taken from: the first of val, test that has items.

    A trainer that kept its best epoch by val has seen val, so test comes first for it. None where neither has items.
    """
    order = ("test", "val") if keeps_best_epoch else ("val", "test")
    return next((split for split in order if supports.get(split)), None)
