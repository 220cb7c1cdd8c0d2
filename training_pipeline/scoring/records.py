"""What a run's held-out predictions are worth, as records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from training_pipeline.scoring.headline import Headline
from training_pipeline.study.answers import Value

NO_PREDICTION = "no prediction"
"""The column of a confusion matrix that counts the items without a prediction."""


@dataclass(frozen=True)
class HeldOut:
    """The held-out items of one split that have an agreed label, in any order.

    `predictions[k]` is None where the trainer gave none; `groups[k]` is the item's group where the study has
    `splits_by`.
    """

    ids: Sequence[str]
    truths: Sequence[Value]
    predictions: Sequence[Value | None]
    groups: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class ClassScore:
    """One class of the agreed labels: `support` items have it, `n_predicted` predictions name it.

    `precision` is None where no prediction names the class.
    """

    label: str
    support: int
    n_predicted: int
    precision: float | None
    recall: float
    f1: float


@dataclass(frozen=True)
class Confusion:
    """`counts[r][c]` items have the agreed label `agreed[r]` and the prediction `predicted[c]`.

    Rows are the classes of the agreed labels in the schema's order; columns the same and the classes that only
    predictions name, then `NO_PREDICTION` where there are such items.
    """

    agreed: tuple[str, ...]
    predicted: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Resampling:
    """The headline metric as a function of sums over items, which is all that a bootstrap needs.

    Item k is of sort `sort[k]`, items of one sort being alike to the metric; `statistics[s]` is what one item of sort
    s adds to the sums; `metric` takes sums (draws x statistics) to values (draws), NaN where the metric does not exist.
    """

    sort: NDArray[np.int64]
    statistics: csr_array
    metric: Callable[[NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True)
class Evaluation:
    """What a family of metrics finds on one split: each metric is in `metrics` or, with the reason, in `not_scored`.

    `resampling` is there exactly when the headline metric is.
    """

    metrics: Mapping[str, float]
    not_scored: Mapping[str, str] = field(default_factory=dict)
    classes: tuple[ClassScore, ...] = ()
    confusion: Confusion | None = None
    resampling: Resampling | None = None


@dataclass(frozen=True)
class SplitScores:
    """The scores on one split: `support` labelled items, of which the share `coverage` got a prediction."""

    support: int
    coverage: float
    evaluation: Evaluation


@dataclass(frozen=True)
class HeldOutScores:
    """The scores of a run, per split that has items, and its headline or the reason why there is none."""

    splits: Mapping[str, SplitScores]
    headline: Headline | None
    not_scored_because: str | None = None

    @property
    def metrics(self) -> dict[str, float]:
        """Every metric under its name with the split: `val_macro_f1`, `val_coverage`, `val_support`, ..."""
        flat: dict[str, float] = {}
        for split, scores in self.splits.items():
            flat |= {f"{split}_{name}": value for name, value in scores.evaluation.metrics.items()}
            flat |= {f"{split}_coverage": scores.coverage, f"{split}_support": scores.support}
        return flat

    @property
    def not_scored(self) -> dict[str, str]:
        """Every metric that does not exist, under its name with the split, and why."""
        return {
            f"{split}_{name}": reason
            for split, scores in self.splits.items()
            for name, reason in scores.evaluation.not_scored.items()
        }
