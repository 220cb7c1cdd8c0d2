"""The params of a trainer: a frozen dataclass whose fields say what they are, read from a config or a request."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, ClassVar, Protocol, TypeVar, Union, get_args, get_origin, get_type_hints

from training_pipeline.trainers.errors import WorkerError
from training_pipeline.trainers.wording import near_miss, number_mend, shown, text_mend, truth_mend


class ParamsClass(Protocol):
    """Any dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


P = TypeVar("P", bound=ParamsClass)

_TYPE_NAMES: Mapping[object, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    Mapping: "a map",
    tuple[str, ...]: "a list of texts",
    tuple[int, ...]: "a list of whole numbers",
    NoneType: "null",
}


@dataclass(frozen=True)
class Range:
    """What a number may be: at least `minimum`, above `above`, at most `maximum`, below `below`."""

    minimum: float | None = None
    above: float | None = None
    maximum: float | None = None
    below: float | None = None

    def broken_by(self, value: float) -> str:
        """Return what the number must be and is not, else an empty text."""
        if self.minimum is not None and value < self.minimum:
            return f"at least {self.minimum:g}"
        if self.above is not None and value <= self.above:
            return f"above {self.above:g}"
        if self.maximum is not None and value > self.maximum:
            return f"at most {self.maximum:g}"
        if self.below is not None and value >= self.below:
            return f"below {self.below:g}"
        return ""


@dataclass(frozen=True)
class ParamDescription:
    """One param as people read about it. `params` are those of a param that is a map of its own.

    `config_only` says that it comes from the study's config: a run that brings one is refused.
    """

    name: str
    type: str
    default: object
    description: str
    range: Range = Range()
    choices: tuple[str, ...] = ()
    config_only: bool = False
    params: tuple[ParamDescription, ...] = ()


@dataclass(frozen=True)
class ParamProblem:
    """One thing that is wrong with given params. `path` leads to it from the trainer's params.

    `is_unknown` says that there is no such param; the message then names it and the trainer.
    """

    path: tuple[str | int, ...]
    message: str
    hint: str = ""
    is_unknown: bool = False

    def tell(self, trainer: str) -> str:
        """Return it as one line that says what it is about."""
        about = "" if self.is_unknown else f"{trainer}, {'.'.join(map(str, self.path))}: "
        return f"{about}{self.message} {self.hint}".rstrip()


def param(
    description: str,
    default: Any,
    *,
    minimum: float | None = None,
    above: float | None = None,
    maximum: float | None = None,
    below: float | None = None,
    choices: tuple[str, ...] = (),
    config_only: bool = False,
) -> Any:
    """Declare a field of a params class: what it does, its default, and what it may be."""
    metadata = {
        "description": description,
        "range": Range(minimum, above, maximum, below),
        "choices": choices,
        "config_only": config_only,
    }
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=metadata)
    return field(default=default, metadata=metadata)


def describe_params(params_class: type[ParamsClass]) -> tuple[ParamDescription, ...]:
    """Return what the params class takes, in the order it is written."""
    hints = get_type_hints(params_class)
    return tuple(_described(entry, options_of(hints[entry.name])) for entry in fields(params_class))


def options_of(hint: Any) -> tuple[Any, ...]:
    """Return the types that a field of a params class may have, maps of any kind as Mapping."""
    options = get_args(hint) if get_origin(hint) in (UnionType, Union) else (hint,)
    return tuple(Mapping if get_origin(option) in (Mapping, dict) or option is dict else option for option in options)


def check_params(trainer: str, params_class: type[ParamsClass], values: Mapping[Any, Any]) -> Iterator[ParamProblem]:
    """Yield every problem: a name the trainer does not take, a value of another type or out of its range.

    true is no number, NaN is no number, and 5 is no text.
    """
    yield from _check(trainer, params_class, values, ())


def parse_params(trainer: str, params_class: type[P], values: Mapping[str, Any]) -> P:
    """Return the params with these values, the trainer's defaults elsewhere.

    Raises WorkerError `bad_params` that lists every problem that `check_params` finds.
    """
    problems = [problem.tell(trainer) for problem in check_params(trainer, params_class, values)]
    if problems:
        raise WorkerError("bad_params", "\n".join(problems))
    return _built(params_class, values)


def config_only_params(params_class: type[ParamsClass]) -> tuple[str, ...]:
    """Return the names of the params that a run may not bring."""
    return tuple(description.name for description in describe_params(params_class) if description.config_only)


def _described(entry: Field[Any], options: tuple[Any, ...]) -> ParamDescription:
    nested = nested_params(options)
    return ParamDescription(
        name=entry.name,
        type=_type_name(options),
        default=entry.default_factory() if entry.default_factory is not MISSING else entry.default,
        description=entry.metadata["description"],
        range=entry.metadata["range"],
        choices=entry.metadata["choices"],
        config_only=entry.metadata["config_only"],
        params=() if nested is None else describe_params(nested),
    )


def nested_params(options: tuple[Any, ...]) -> type[ParamsClass] | None:
    """Return the params class among the types of a field: that of a param that is a map of its own."""
    return next((option for option in options if isinstance(option, type) and is_dataclass(option)), None)


def _type_name(options: tuple[Any, ...]) -> str:
    return " or ".join("a map" if is_dataclass(option) else _TYPE_NAMES[option] for option in options)


def _check(
    trainer: str, params_class: type[ParamsClass], values: Mapping[Any, Any], path: tuple[str | int, ...]
) -> Iterator[ParamProblem]:
    described = {description.name: description for description in describe_params(params_class)}
    hints = get_type_hints(params_class)
    # `lora` stands for the trainer in what is said of the keys under it.
    taker = ".".join([trainer, *map(str, path)])
    for name, value in values.items():
        here = (*path, name)
        if name in described:
            yield from _check_value(trainer, described[name], options_of(hints[name]), value, here)
        else:
            takes = f"It takes {', '.join(described)}."
            hint = f"{near_miss(name, described)} {takes}".lstrip()
            yield ParamProblem(here, f"{taker} does not take {name}.", hint, is_unknown=True)


def _check_value(
    trainer: str, description: ParamDescription, options: tuple[Any, ...], value: Any, path: tuple[str | int, ...]
) -> Iterator[ParamProblem]:
    fitting = next((option for option in options if _is_of(option, value)), None)
    if fitting is None:
        yield ParamProblem(path, f"Must be {description.type}, not {shown(value)}.", _mend(options, value))
    elif (nested := nested_params((fitting,))) is not None:
        yield from _check(trainer, nested, value, path)
    elif fitting is Mapping and (reason := _not_plain(value)):
        yield ParamProblem(path, f"Must hold plain values; it holds {reason}.", "Put a text in quotes.")
    elif fitting is str and description.choices and value not in description.choices:
        choices = ", ".join(description.choices)
        yield ParamProblem(
            path, f"Must be one of {choices}, not {shown(value)}.", near_miss(value, description.choices)
        )
    elif fitting in (int, float) and (wanted := description.range.broken_by(value)):
        yield ParamProblem(path, f"Must be {wanted}, not {shown(value)}.")


def _mend(options: tuple[Any, ...], value: object) -> str:
    if value is None:
        return "Give it a value, or delete the line."
    if int in options or float in options:
        return number_mend(value)
    if str in options:
        return text_mend(value)
    return truth_mend(value) if bool in options else ""


def _is_of(option: Any, value: object) -> bool:
    if is_dataclass(option) or option is Mapping:
        return isinstance(value, dict)
    if get_origin(option) is tuple:
        of = get_args(option)[0]
        return isinstance(value, list | tuple) and all(type(entry) is of for entry in value)
    if option is float:
        return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
    return type(value) is option


def _not_plain(value: object) -> str:
    """Return what a nested value holds that JSON cannot, else an empty text."""
    if isinstance(value, dict):
        odd = [shown(key) for key in value if not isinstance(key, str)]
        return f"the key {odd[0]}" if odd else next(filter(None, map(_not_plain, value.values())), "")
    if isinstance(value, list | tuple):
        return next(filter(None, map(_not_plain, value)), "")
    is_plain = value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
    return "" if is_plain else shown(value)


def _built(params_class: type[P], values: Mapping[str, Any]) -> P:
    hints = get_type_hints(params_class)
    return params_class(**{name: _converted(options_of(hints[name]), value) for name, value in values.items()})


def _converted(options: tuple[Any, ...], value: Any) -> Any:
    nested = nested_params(options)
    if isinstance(value, dict) and nested is not None:
        return _built(nested, value)
    return tuple(value) if isinstance(value, list) else value
