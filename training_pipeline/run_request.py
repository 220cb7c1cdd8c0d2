"""A run that somebody asks for: what it will do, or every reason why it cannot."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from training_pipeline.errors import PipelineError
from training_pipeline.study.backends import LOCAL
from training_pipeline.study.config import Study
from training_pipeline.study.kinds import Kind
from training_pipeline.study.schemas import Schema
from training_pipeline.trainers import registry
from training_pipeline.trainers.errors import WorkerError
from training_pipeline.trainers.params import config_only_params, describe_params, parse_params

AGREEABLE = frozenset({Kind.NOMINAL, Kind.ORDINAL, Kind.MULTILABEL, Kind.CONTINUOUS})
"""The kinds of answer that can be resolved to an agreed label."""

FROM_RUN, FROM_CONFIG, FROM_DEFAULT = "run", "trainer_params", "default"
PARAM_ORDER = (FROM_RUN, FROM_CONFIG, FROM_DEFAULT)
"""Where a param may come from; the first that has it wins."""


@dataclass(frozen=True)
class RunRequest:
    """One run, ready to start.

    `requested_params` were given with it, `params` are all that it runs with, and `param_sources` says of each where
    it came from.
    """

    schema: Schema
    trainer: str
    backend: str
    requested_params: Mapping[str, Any]
    params: Mapping[str, Any]
    param_sources: Mapping[str, str]


def resolve(
    study: Study,
    schema_name: str,
    trainer: str | None = None,
    backend: str | None = None,
    params: Mapping[str, Any] | None = None,
) -> RunRequest:
    """Return the run that a request means, with the study's defaults for what it leaves out.

    Raises `PipelineError` with every reason why it cannot be, a line each, and the code of the first: a study without
    training, an unknown schema, trainer or backend, one that is not available in this version, a schema that the
    trainer cannot learn, and params that the trainer does not take or that only the study's config may set.
    """
    if not study.training.enabled:
        raise PipelineError("not_enabled", f"{study.config_path}: set model_training.enabled to true to train.")
    schema = study.schema(schema_name)
    name = trainer or default_trainer(study, schema)
    requested = _plain(params or {})
    given = {**study.training.trainer_params.get(name, {}), **requested}
    backend_name = backend or study.training.backend
    reasons = [
        *_against_trainer(schema, name),
        *_against_params(name, requested, given),
        *_against_backend(study, backend_name),
        *_against_write_back(study, schema),
    ]
    if reasons:
        raise PipelineError(reasons[0].code, "\n".join(map(str, reasons)))
    parsed = parse_params(name, registry.params_class(name), given)
    return RunRequest(
        schema=schema,
        trainer=name,
        backend=backend_name,
        requested_params=requested,
        params=asdict(parsed),
        param_sources=param_sources(study, name, requested),
    )


def param_sources(study: Study, trainer: str, requested: Mapping[str, Any]) -> dict[str, str]:
    """Return where each param of a trainer comes from: `run`, `trainer_params` or `default`."""
    configured = study.training.trainer_params.get(trainer, {})
    return {
        param.name: FROM_RUN if param.name in requested else FROM_CONFIG if param.name in configured else FROM_DEFAULT
        for param in describe_params(registry.params_class(trainer))
    }


def trainable(schema: Schema) -> tuple[str, ...]:
    """Return the names of the trainers of this version that can learn a schema."""
    return tuple(
        name for name in registry.TRAINERS if registry.describe(name).learns(schema.kind, schema.annotation_type)
    )


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


def _against_trainer(schema: Schema, name: str) -> Iterator[PipelineError]:
    try:
        registry.trainer(name)
    except WorkerError as error:
        yield PipelineError(error.code, str(error))
        return
    described = registry.describe(name)
    if not described.learns(schema.kind, schema.annotation_type):
        yield PipelineError(
            "schema_not_learnable",
            f"{name} cannot learn {schema.name!r}, whose answers are {schema.kind}; it learns "
            f"{', '.join(described.kinds)}.",
        )


def _against_params(name: str, requested: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[PipelineError]:
    if name not in registry.NAMES:
        return
    params_class = registry.params_class(name)
    for param in config_only_params(params_class):
        if param in requested:
            yield PipelineError(
                "bad_params",
                f"{name}: {param} comes from the study's config only; set it under model_training.trainer_params.",
            )
    try:
        parse_params(name, params_class, given)
    except WorkerError as error:
        yield PipelineError(error.code, str(error))


def _against_backend(study: Study, name: str) -> Iterator[PipelineError]:
    if name == LOCAL:
        return
    backend = study.training.backends.get(name)
    if backend is None:
        known = ", ".join([LOCAL, *study.training.backends])
        yield PipelineError("unknown_backend", f"There is no backend {name!r}; there are {known}.")
    elif backend.type != LOCAL:
        yield PipelineError(
            "not_available",
            f"{name} is a backend of type {backend.type}, which is not available in this version; runs go to {LOCAL}.",
        )


def _against_write_back(study: Study, schema: Schema) -> Iterator[PipelineError]:
    writeback = study.training.writeback
    # Without them more would be shown than the study's owner asked for.
    asked = {"gate": writeback.gate != "none", "target_precision": writeback.target_precision is not None}
    if schema.name in writeback.schemas:
        for key in (key for key, is_set in asked.items() if is_set):
            yield PipelineError(
                "not_available",
                f"model_training.writeback.{key} is not available in this version; take it out, "
                "or take the schema out of writeback.schemas.",
            )


def _plain(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return params as the ledger can keep them: plain JSON values."""
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(params), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise PipelineError(
            "bad_params", f"Params are texts, numbers, true, false, null, lists and maps of those: {error}."
        ) from error
    return plain
