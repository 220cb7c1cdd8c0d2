"""The trainers there are, by name. A trainer's libraries are imported only where it trains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from training_pipeline.trainers.base import Trainer
from training_pipeline.trainers.declaration import Declaration
from training_pipeline.trainers.declared import images, language, others, text
from training_pipeline.trainers.errors import WorkerError
from training_pipeline.trainers.params import ParamDescription, ParamsClass, describe_params
from training_pipeline.trainers.wording import near_miss

TRAINERS: Mapping[str, str] = {
    "sklearn-text": "training_pipeline.trainers.sklearn_text:SklearnText",
}
"""The trainers that train, by name."""

DECLARED: Mapping[str, Declaration] = {
    one.name: one for family in (text, images, language, others) for one in family.DECLARATIONS
}
"""The trainers of later versions, by name: a config may hold their params, a run of them is refused."""

NAMES = (*TRAINERS, *DECLARED)


@dataclass(frozen=True)
class TrainerDescription:
    """A trainer as people read about it.

    `available` says that this version can train it; `missing` are the modules it needs that are not installed here.
    `annotation_types` are the only types of schema it learns, empty where its kinds say it all.
    """

    name: str
    summary: str
    kinds: tuple[str, ...]
    annotation_types: tuple[str, ...]
    params: tuple[ParamDescription, ...]
    libraries: tuple[str, ...]
    licence: str
    needs_accept_licence: bool
    install: str
    keeps_best_epoch: bool
    local_only: bool
    available: bool
    missing: tuple[str, ...]

    @property
    def installed(self) -> bool:
        """Whether what it needs is on this machine."""
        return not self.missing

    def learns(self, kind: str, annotation_type: str) -> bool:
        """Return whether it learns schemas of that kind and type."""
        return kind in self.kinds and (not self.annotation_types or annotation_type in self.annotation_types)


def trainer(name: str) -> type[Trainer[Any]]:
    """Return the trainer of that name.

    Raises WorkerError `unknown_trainer`, naming those there are, or `not_available` for one of a later version.
    """
    if name in DECLARED:
        raise WorkerError(
            "not_available",
            f"{name} is not available in this version: its params are known so that a config can be checked whole.",
            f"Trainers that run: {', '.join(TRAINERS)}.",
        )
    if name not in TRAINERS:
        raise WorkerError(
            "unknown_trainer",
            f"There is no trainer {name!r}.",
            f"{near_miss(name, NAMES)} There are: {', '.join(NAMES)}.".lstrip(),
        )
    module, _, attribute = TRAINERS[name].partition(":")
    found: type[Trainer[Any]] = getattr(import_module(module), attribute)
    return found


def params_class(name: str) -> type[ParamsClass]:
    """Return the params class of a trainer, of this version or a later one. Raises WorkerError `unknown_trainer`."""
    return DECLARED[name].params_class if name in DECLARED else trainer(name).params_class


def missing_libraries(found: type[Trainer[Any]] | Declaration) -> tuple[str, ...]:
    """Return the modules that the trainer needs and this machine lacks, without importing any."""
    return tuple(library for library in found.libraries if find_spec(library) is None)


def describe(name: str) -> TrainerDescription:
    """Describe one trainer. Raises WorkerError `unknown_trainer`."""
    return _describe_declared(DECLARED[name]) if name in DECLARED else _describe_trainer(trainer(name))


def describe_all() -> tuple[TrainerDescription, ...]:
    """Describe every trainer, in the order of the registry, those of later versions last."""
    return tuple(map(describe, NAMES))


def _describe_trainer(found: type[Trainer[Any]]) -> TrainerDescription:
    return TrainerDescription(
        name=found.name,
        summary=found.summary,
        kinds=found.kinds,
        annotation_types=(),
        params=describe_params(found.params_class),
        libraries=found.libraries,
        licence=found.licence,
        needs_accept_licence=False,
        install=found.install,
        keeps_best_epoch=found.keeps_best_epoch,
        local_only=False,
        available=True,
        missing=missing_libraries(found),
    )


def _describe_declared(declared: Declaration) -> TrainerDescription:
    return TrainerDescription(
        name=declared.name,
        summary=declared.summary,
        kinds=declared.kinds,
        annotation_types=declared.annotation_types,
        params=describe_params(declared.params_class),
        libraries=declared.libraries,
        licence=declared.licence,
        needs_accept_licence=declared.needs_accept_licence,
        install="",
        keeps_best_epoch=declared.keeps_best_epoch,
        local_only=declared.local_only,
        available=False,
        missing=missing_libraries(declared),
    )
