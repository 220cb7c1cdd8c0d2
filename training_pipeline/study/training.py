"""The model_training block of a study's config."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails

from training_pipeline.errors import ConfigError

BLOCK = "model_training"

Weight = Annotated[float, Field(ge=0)]
SplitName = Literal["train", "val", "test"]
Names = Annotated[tuple[str, ...], Field(strict=False)]


class _Block(BaseModel):
    """Numbers are strict: a boolean or a text is no number, nor is NaN."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)


class WritebackConfig(_Block):
    """Which predictions annotators are shown."""

    schemas: Names = ()
    min_confidence: Annotated[float, Field(ge=0, le=1)] = 0.0
    field: Annotated[str, Field(min_length=1)] = "predictions"
    include_unlabeled: bool = False
    allow_slider: bool = False


class AutoRetrainConfig(_Block):
    """When a run starts by itself."""

    enabled: bool = False
    trainer: str | None = None
    schemas: Names = ()
    min_interval_s: Weight = 600.0
    update_frequency: Annotated[int, Field(ge=1)] = 25
    params: dict[str, Any] = {}
    backend: str | None = None
    accept_licence: bool = False

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.enabled and not (self.trainer and self.schemas):
            raise ValueError("enabled needs a trainer and at least one of schemas")
        return self


class TrainingConfig(_Block):
    """The whole block, with its defaults. `splits` keeps the order written, on which membership depends."""

    model_config = ConfigDict(extra="ignore")

    enabled: bool = False
    split_seed: Annotated[int, Field(ge=0)] = 0
    splits: dict[SplitName, Weight] = {"train": 0.7, "val": 0.15, "test": 0.15}
    splits_by: Annotated[str, Field(min_length=1)] | None = None
    aggregation: Literal["consensus", "majority"] = "consensus"
    retain_runs: Annotated[int, Field(ge=0)] = 5
    queue_max: Annotated[int, Field(ge=0)] = 10
    max_wall_seconds: Annotated[float, Field(gt=0)] | None = None
    max_ram_mb: Annotated[float, Field(gt=0)] | None = None
    grace_seconds: Weight = 20.0
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    num_threads: Annotated[int, Field(ge=1)] | None = None
    backend: Annotated[str, Field(min_length=1)] = "local"
    backends: dict[str, dict[str, Any]] = {}
    trainer_params: dict[str, dict[str, Any]] = {}
    allowed_modules: Names = ()
    auto_retrain: AutoRetrainConfig = AutoRetrainConfig()
    writeback: WritebackConfig = WritebackConfig()
    tiling: dict[str, Any] = {}

    @field_validator("splits")
    @classmethod
    def _trainable(cls, splits: dict[SplitName, float]) -> dict[SplitName, float]:
        if "train" not in splits:
            raise ValueError("train is missing; give it a weight")
        if sum(splits.values()) <= 0:
            raise ValueError("the weights add up to 0; give at least train a weight above 0")
        return splits


def read_training(block: Mapping[str, Any]) -> TrainingConfig:
    """Return the block as a record; ConfigError that lists every problem, one a line, by its full key."""
    try:
        return TrainingConfig.model_validate(block)
    except ValidationError as error:
        problems = [_problem(details) for details in error.errors(include_url=False)]
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise ConfigError("\n".join([f"{BLOCK} has {count}", *problems])) from error


def unknown_keys(block: Mapping[str, Any]) -> Iterator[str]:
    """Yield a warning for each key of the block that nothing reads, with the near miss where there is one."""
    for key in block:
        if key not in TrainingConfig.model_fields:
            near = _near_miss(str(key), TrainingConfig)
            yield f"{BLOCK}.{key}: no such key, so it changes nothing{near}"


_SENTENCES: Mapping[str, str] = {
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "string_type": "must be a text",
    "string_too_short": "must not be empty",
    "tuple_type": "must be a list",
    "dict_type": "must be a mapping of keys to values",
    "model_type": "must be a mapping of keys to values",
    "invalid_key": "must be a text",
    "greater_than": "must be above {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
    "literal_error": "must be {expected}",
}


def _problem(details: ErrorDetails) -> str:
    location = [part for part in details["loc"] if part != "[key]"]
    path = BLOCK + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    if details["type"] == "extra_forbidden":
        model = _SUB_BLOCKS[str(location[0])]
        return f"{path}: no such key{_near_miss(str(location[-1]), model)}"
    if details["type"] == "value_error":
        return f"{path}: {details['ctx']['error']}"
    if details["loc"][-1] == "[key]":
        return f"{path}: the name {_SENTENCES[details['type']].format(**details.get('ctx', {}))}"
    sentence = _SENTENCES[details["type"]].format(**details.get("ctx", {}))
    return f"{path}: {sentence}, not {details['input']!r}"


_SUB_BLOCKS: Mapping[str, type[BaseModel]] = {"auto_retrain": AutoRetrainConfig, "writeback": WritebackConfig}


def _near_miss(key: str, model: type[BaseModel]) -> str:
    """Return the end of a sentence about an unknown key: the known key meant, or all that there are."""
    near = difflib.get_close_matches(key, model.model_fields, n=1)
    return f"; did you mean {near[0]}?" if near else f"; there are {', '.join(model.model_fields)}"
