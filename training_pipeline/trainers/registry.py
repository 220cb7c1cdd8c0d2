"""The trainers there are, by name. A trainer's libraries are imported only where it trains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from training_pipeline.trainers.base import Trainer
from training_pipeline.trainers.errors import WorkerError
from training_pipeline.trainers.params import ParamDescription, describe_params

TRAINERS: Mapping[str, str] = {
    "sklearn-text": "training_pipeline.trainers.sklearn_text:SklearnText",
}


@dataclass(frozen=True)
class TrainerDescription:
    """A trainer as people read about it; `missing` are the modules it needs that are not installed here."""

    name: str
    summary: str
    kinds: tuple[str, ...]
    params: tuple[ParamDescription, ...]
    libraries: tuple[str, ...]
    licence: str
    install: str
    keeps_best_epoch: bool
    missing: tuple[str, ...]

    @property
    def installed(self) -> bool:
        """Whether a run of it can start on this machine."""
        return not self.missing


def trainer(name: str) -> type[Trainer[Any]]:
    """Return the trainer of that name. Raises WorkerError `unknown_trainer`, naming those there are."""
    if name not in TRAINERS:
        raise WorkerError("unknown_trainer", f"There is no trainer {name!r}; there are: {', '.join(TRAINERS)}.")
    module, _, attribute = TRAINERS[name].partition(":")
    found: type[Trainer[Any]] = getattr(import_module(module), attribute)
    return found


def missing_libraries(found: type[Trainer[Any]]) -> tuple[str, ...]:
    """Return the modules that the trainer needs and this machine lacks, without importing any."""
    return tuple(library for library in found.libraries if find_spec(library) is None)


def describe(name: str) -> TrainerDescription:
    """Describe one trainer. Raises WorkerError `unknown_trainer`."""
    found = trainer(name)
    return TrainerDescription(
        name=found.name,
        summary=found.summary,
        kinds=found.kinds,
        params=describe_params(found.params_class),
        libraries=found.libraries,
        licence=found.licence,
        install=found.install,
        keeps_best_epoch=found.keeps_best_epoch,
        missing=missing_libraries(found),
    )


def describe_all() -> tuple[TrainerDescription, ...]:
    """Describe every trainer, in the order of the registry."""
    return tuple(describe(name) for name in TRAINERS)
