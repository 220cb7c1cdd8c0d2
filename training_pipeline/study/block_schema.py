"""The model_training block as a JSON Schema, so that editors complete and check it: made of the models themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import NoneType
from typing import Any, get_type_hints

from pydantic.json_schema import GenerateJsonSchema

from training_pipeline.study.training import TrainingConfig
from training_pipeline.trainers import registry
from training_pipeline.trainers.params import (
    ParamDescription,
    ParamsClass,
    Range,
    describe_params,
    nested_params,
    options_of,
)

_TYPES: Mapping[object, Mapping[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    NoneType: {"type": "null"},
    Mapping: {"type": "object"},
    tuple[str, ...]: {"type": "array", "items": {"type": "string"}},
    tuple[int, ...]: {"type": "array", "items": {"type": "integer"}},
}
_BOUNDS = (
    ("minimum", "minimum"),
    ("above", "exclusiveMinimum"),
    ("maximum", "maximum"),
    ("below", "exclusiveMaximum"),
)


def block_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of what stands under `model_training`, or in a training.yaml.

    What is only a warning to `validate`, an unknown key of the block or of tiling, the schema allows.
    """
    schema = TrainingConfig.model_json_schema()
    trainers = {name: params_schema(registry.params_class(name)) for name in registry.NAMES}
    described = schema["properties"]["trainer_params"]["description"]
    schema["properties"]["trainer_params"] = {
        "type": "object",
        "description": described,
        "default": {},
        "properties": trainers,
        "propertyNames": {"minLength": 1},
        "additionalProperties": {"type": ["object", "null"]},
    }
    return {"$schema": GenerateJsonSchema.schema_dialect, **schema, "title": "model_training"}


def params_schema(params_class: type[ParamsClass]) -> dict[str, Any]:
    """Return the JSON Schema of a trainer's params."""
    hints = get_type_hints(params_class)
    described = {description.name: description for description in describe_params(params_class)}
    properties = {
        entry.name: _param_schema(described[entry.name], options_of(hints[entry.name]))
        for entry in fields(params_class)
    }
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _param_schema(description: ParamDescription, options: tuple[Any, ...]) -> dict[str, Any]:
    choices = [_option_schema(option, description) for option in options]
    type_schema = choices[0] if len(choices) == 1 else {"anyOf": choices}
    return {**type_schema, "description": description.description, "default": description.default}


def _option_schema(option: Any, description: ParamDescription) -> dict[str, Any]:
    nested = nested_params((option,))
    if nested is not None:
        return params_schema(nested)
    schema = dict(_TYPES[option])
    if option is str and description.choices:
        schema["enum"] = list(description.choices)
    return schema | (_bounds(description.range) if option in (int, float) else {})


def _bounds(allowed: Range) -> dict[str, float]:
    return {word: bound for name, word in _BOUNDS if (bound := getattr(allowed, name)) is not None}
