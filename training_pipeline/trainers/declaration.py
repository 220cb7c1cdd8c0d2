"""A trainer that does not train yet: its name, what it will learn from, and its params."""

from __future__ import annotations

from dataclasses import dataclass

from training_pipeline.trainers.params import ParamsClass


@dataclass(frozen=True)
class Declaration:
    """What a config may say of a trainer before the trainer is there.

    `kinds` are the kinds of schema it learns, `annotation_types` the types among them where that is fewer.
    `needs_accept_licence` says that its licence must be accepted for each run, `local_only` that it runs nowhere else.
    """

    name: str
    summary: str
    kinds: tuple[str, ...]
    libraries: tuple[str, ...]
    licence: str
    keeps_best_epoch: bool
    params_class: type[ParamsClass]
    annotation_types: tuple[str, ...] = ()
    needs_accept_licence: bool = False
    local_only: bool = False
