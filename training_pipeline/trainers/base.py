"""What a trainer is: params and training data in, a model that predicts out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, Protocol, TypeAlias, TypeVar

from training_pipeline.bundle.manifest import SchemaSpec
from training_pipeline.bundle.reader import Bundle
from training_pipeline.bundle.row import Row
from training_pipeline.trainers.params import ParamsClass

P = TypeVar("P", bound=ParamsClass)

Payload: TypeAlias = str | float | tuple[str, ...]
"""What is predicted: a label, a number, or the labels that apply in the order of the schema's labels."""

Json: TypeAlias = str | int | float | bool | list["Json"] | dict[str, "Json"] | None


@dataclass(frozen=True, slots=True)
class Prediction:
    """A model's answer to one item.

    `confidence` is the probability of the answer, None where the model has none. `label_confidences` is, for a
    multilabel answer, how sure the model is of each label that applies.
    """

    instance_id: str
    payload: Payload
    confidence: float | None = None
    label_confidences: Mapping[str, float] | None = None


class Report(Protocol):
    """Where a trainer says what it is doing."""

    def step(self, name: str) -> None:
        """Say that a step (`reading`, `fitting`, ...) begins."""

    def log(self, level: str, message: str) -> None:
        """Say something once; `level` is `info` or `warning`."""


@dataclass(frozen=True)
class Job(Generic[P]):
    """What a trainer is asked to do: fit `schema` on the bundle's train split."""

    bundle: Bundle
    schema: SchemaSpec
    params: P
    seed: int
    report: Report
    allowed_modules: tuple[str, ...] = ()
    num_threads: int | None = None
    device: str = "auto"


class Predictor(ABC):
    """A model that answers."""

    @abstractmethod
    def predict(self, rows: Iterable[Row]) -> Iterator[Prediction]:
        """Yield one prediction a row, in the order of the rows, reading them in batches."""


@dataclass(frozen=True)
class FitFacts:
    """What there is to say about a fit.

    `metrics` are flat numbers (`train_accuracy`, ...). `calibration` and `card` are JSON: what calibration.json holds,
    and what the trainer adds to the model card.
    """

    label_order: tuple[str, ...]
    n_train: int
    metrics: Mapping[str, float]
    calibration: Mapping[str, Json]
    card: Mapping[str, Json]


class Fitted(Predictor):
    """A model that was just fitted, still in memory."""

    facts: FitFacts

    @abstractmethod
    def save(self, directory: Path) -> None:
        """Write all that `Trainer.load` needs into `directory`, which exists and is empty."""


class Trainer(ABC, Generic[P]):
    """One way of learning. Subclasses are imported to be described: what they need to fit, they import when they fit.

    `kinds` are the kinds of schema it learns, `libraries` the modules it imports, `licence` theirs (SPDX), `install`
    the command that installs them.
    `keeps_best_epoch` says that fitting picks its best epoch by val, which then is no longer unseen.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]]
    libraries: ClassVar[tuple[str, ...]]
    licence: ClassVar[str]
    install: ClassVar[str]
    keeps_best_epoch: ClassVar[bool]
    params_class: type[P]

    @classmethod
    @abstractmethod
    def warm_up(cls) -> None:
        """Import what `load` and `predict` need, which takes most of a short run's time."""

    @classmethod
    @abstractmethod
    def fit(cls, job: Job[P]) -> Fitted:
        """Learn. Raises WorkerError (`validation_failed`, `bad_params`, `fit_failed`)."""

    @classmethod
    @abstractmethod
    def load(cls, directory: Path, schema: SchemaSpec, allowed_modules: tuple[str, ...]) -> Predictor:
        """Load what `Fitted.save` wrote. Raises WorkerError `reload_failed` for what is not trusted or not whole."""
