"""A run that somebody asks for: what it will do, or every reason why it cannot."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from training_pipeline.errors import PipelineError
from training_pipeline.study.config import Study
from training_pipeline.study.kinds import Kind
from training_pipeline.study.schemas import Schema
from training_pipeline.trainers import registry
from training_pipeline.trainers.errors import WorkerError
from training_pipeline.trainers.params import parse_params

LOCAL = "local"
AGREEABLE = frozenset({Kind.NOMINAL, Kind.ORDINAL, Kind.MULTILABEL, Kind.CONTINUOUS})
"""The kinds of answer that can be resolved to an agreed label."""


@dataclass(frozen=True)
class RunRequest:
    """One run, ready to start. `requested_params` were given with it, `params` are all that it runs with."""

    schema: Schema
    trainer: str
    backend: str
    requested_params: Mapping[str, Any]
    params: Mapping[str, Any]


def resolve(
    study: Study,
    schema_name: str,
    trainer: str | None = None,
    backend: str | None = None,
    params: Mapping[str, Any] | None = None,
) -> RunRequest:
    """Return the run that a request means, with the study's defaults for what it leaves out.

    Raises `PipelineError` for a study without training, an unknown schema, trainer or backend, a schema that the
    trainer cannot learn, and params that the trainer does not take.
    """
    if not study.training.enabled:
        raise PipelineError("not_enabled", f"{study.config_path}: set model_training.enabled to true to train.")
    schema = study.schema(schema_name)
    name = trainer or default_trainer(study, schema)
    requested = _plain(params or {})
    try:
        found = registry.trainer(name)
        if schema.kind not in found.kinds:
            raise PipelineError(
                "schema_not_learnable",
                f"{name} cannot learn {schema.name!r}, whose answers are {schema.kind}; it learns "
                f"{', '.join(found.kinds)}.",
            )
        given = {**study.training.trainer_params.get(name, {}), **requested}
        parsed = parse_params(name, found.params_class, given)
    except WorkerError as error:
        raise PipelineError(error.code, str(error)) from error
    return RunRequest(schema, name, _backend(study, backend), requested, asdict(parsed))


def trainable(schema: Schema) -> tuple[str, ...]:
    """Return the names of the trainers that can learn a schema."""
    return tuple(name for name in registry.TRAINERS if schema.kind in registry.trainer(name).kinds)


def default_trainer(study: Study, schema: Schema) -> str:
    """Return the trainer of a run that names none: `auto_retrain.trainer`, else the first that fits the schema."""
    preferred = study.training.auto_retrain.trainer
    fitting = trainable(schema)
    if preferred is not None and preferred in fitting:
        return preferred
    if not fitting:
        raise PipelineError(
            "schema_not_learnable", f"No trainer learns {schema.name!r}, whose answers are {schema.kind}."
        )
    return fitting[0]


def _plain(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return params as the ledger can keep them: plain JSON values."""
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(params), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise PipelineError(
            "bad_params", f"Params are texts, numbers, true, false, null, lists and maps of those: {error}."
        ) from error
    return plain


def _backend(study: Study, asked: str | None) -> str:
    name = asked or study.training.backend
    if name != LOCAL:
        known = ", ".join([LOCAL, *study.training.backends])
        raise PipelineError("unknown_backend", f"A run cannot go to {name!r}: runs go to {LOCAL} only. Known: {known}.")
    return name
