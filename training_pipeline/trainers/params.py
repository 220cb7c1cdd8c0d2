"""The params of a trainer: a frozen dataclass whose fields say what they are, read from a config or a request."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from types import NoneType, UnionType
from typing import Any, ClassVar, Protocol, TypeVar, get_args, get_origin, get_type_hints

from training_pipeline.trainers.errors import WorkerError


class ParamsClass(Protocol):
    """Any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


P = TypeVar("P", bound=ParamsClass)

_TYPE_NAMES: Mapping[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    dict: "a map",
    NoneType: "null",
}


@dataclass(frozen=True)
class ParamDescription:
    """One param as people read about it."""

    name: str
    type: str
    default: object
    description: str
    minimum: float | None = None
    choices: tuple[str, ...] = ()


def param(
    description: str,
    default: Any,
    *,
    minimum: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """Declare a field of a params class: what it does, its default, and what it may be."""
    metadata = {"description": description, "minimum": minimum, "choices": choices}
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=metadata)
    return field(default=default, metadata=metadata)


def describe_params(params_class: type[ParamsClass]) -> tuple[ParamDescription, ...]:
    """Return what the params class takes, in the order it is written."""
    hints = get_type_hints(params_class)
    return tuple(
        ParamDescription(
            name=entry.name,
            type=" or ".join(_TYPE_NAMES[option] for option in _types_of(hints[entry.name])),
            default=entry.default_factory() if entry.default_factory is not MISSING else entry.default,
            description=entry.metadata["description"],
            minimum=entry.metadata["minimum"],
            choices=entry.metadata["choices"],
        )
        for entry in fields(params_class)
    )


def parse_params(trainer: str, params_class: type[P], values: Mapping[str, Any]) -> P:
    """Return the params with these values, the trainer's defaults elsewhere.

    Raises WorkerError `bad_params` that lists every problem: a name the trainer does not take, a value of another
    type (true is no number, 5 is no text), a value out of its range.
    """
    described = {description.name: description for description in describe_params(params_class)}
    hints = get_type_hints(params_class)
    takes = ", ".join(described)
    problems = [
        f"{trainer} does not take {name}; it takes {takes}." if name not in described else problem
        for name, value in values.items()
        if name not in described or (problem := _problem(trainer, described[name], _types_of(hints[name]), value))
    ]
    if problems:
        raise WorkerError("bad_params", "\n".join(problems))
    return params_class(**values)


def _problem(trainer: str, description: ParamDescription, types: tuple[type, ...], value: object) -> str:
    name = f"{trainer}: {description.name}"
    if not any(_is_of(option, value) for option in types):
        return f"{name} must be {description.type}; it is {value!r}."
    if description.choices and value not in description.choices:
        return f"{name} must be one of {', '.join(description.choices)}; it is {value!r}."
    minimum = description.minimum
    if minimum is not None and isinstance(value, int | float) and value < minimum:
        return f"{name} must be at least {minimum}; it is {value!r}."
    return ""


def _is_of(option: type, value: object) -> bool:
    if option is float:
        return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
    return type(value) is option


def _types_of(hint: Any) -> tuple[type, ...]:
    options = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    return tuple(_plain(option) for option in options)


def _plain(hint: Any) -> type:
    origin = get_origin(hint) or hint
    return dict if origin is Mapping or origin is dict else origin
