"""A run's predictions.jsonl, read line by line."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from training_pipeline.errors import PipelineError


class Prediction(NamedTuple):
    """What a model says of one item; `confidence` None where it gives none."""

    instance_id: str
    schema_name: str
    payload: Any
    confidence: float | None


def read_predictions(path: Path) -> Iterator[Prediction]:
    """Yield the predictions of a file, in its order; raises `bad_prediction` with file and line."""
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                yield _parse(path, number, line)
    except FileNotFoundError as error:
        raise PipelineError(
            "bad_prediction", f"{path} is missing, so there is nothing to publish. Run the training again."
        ) from error


def _parse(path: Path, number: int, line: bytes) -> Prediction:
    try:
        entry = orjson.loads(line)
        prediction = Prediction(entry["instance_id"], entry["schema_name"], entry["payload"], entry["confidence"])
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise PipelineError(
            "bad_prediction",
            f"{path}, line {number} is no prediction ({error}); nothing was published. The file was cut short or"
            " changed since the run wrote it: run the training again.",
        ) from error
    _refuse_bad_confidence(path, number, prediction.confidence)
    return prediction


def _refuse_bad_confidence(path: Path, number: int, confidence: object) -> None:
    if confidence is None:
        return
    is_number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    if not is_number or not math.isfinite(confidence) or not 0 <= confidence <= 1:  # type: ignore[operator, arg-type]
        raise PipelineError(
            "bad_prediction",
            f"{path}, line {number}: confidence is {reprlib.repr(confidence)}, not a number from 0 to 1; nothing was"
            " published.",
        )
