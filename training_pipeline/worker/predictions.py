"""The predictions of a run, as they stand in predictions.jsonl."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from training_pipeline.bundle.files import json_line
from training_pipeline.bundle.manifest import SPLITS, SchemaSpec
from training_pipeline.bundle.reader import Bundle
from training_pipeline.bundle.row import Row
from training_pipeline.trainers.base import Prediction

PREDICTIONS_FILE = "predictions.jsonl"
PREDICTED_SPLITS = tuple(split for split in SPLITS if split != "train")
_KINDS_OF_ONE_CHOICE = frozenset({"nominal", "ordinal"})
_LINES_A_PROGRESS = 1_000


def rows_to_predict(bundle: Bundle) -> Iterator[Row]:
    """Yield val, test and unlabeled items: never one that the model learned from."""
    return chain.from_iterable(bundle.rows(split) for split in PREDICTED_SPLITS)


def count_to_predict(bundle: Bundle) -> int:
    """Return how many rows `rows_to_predict` yields."""
    return sum(bundle.n(split) for split in PREDICTED_SPLITS)


def prediction_record(prediction: Prediction, schema: SchemaSpec) -> dict[str, Any]:
    """Return a prediction as its line says it.

    A choice is `{"label", "confidence"}`, several ticks a list of those, each with its own confidence; numbers and
    text are plain. `confidence` inside is left out where the model has none.
    """
    payload: Any = prediction.payload
    if schema.kind in _KINDS_OF_ONE_CHOICE:
        payload = _choice(payload, prediction.confidence)
    elif isinstance(payload, tuple):
        confidences = prediction.label_confidences or {}
        payload = [_choice(label, confidences.get(label)) for label in payload]
    return {
        "instance_id": prediction.instance_id,
        "schema_name": schema.name,
        "payload": payload,
        "confidence": prediction.confidence,
    }


def write_predictions(
    predictions: Iterable[Prediction], schema: SchemaSpec, path: Path, progress: Callable[[int], None]
) -> int:
    """Write predictions under a temporary name, rename them into place, and return how many there are.

    `progress` is told the count every so often.
    """
    partial = path.with_name(f"{path.name}.partial")
    count = 0
    try:
        with partial.open("wb") as file:
            for count, prediction in enumerate(predictions, start=1):
                file.write(json_line(prediction_record(prediction, schema)))
                if count % _LINES_A_PROGRESS == 0:
                    progress(count)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return count


def _choice(label: str, confidence: float | None) -> dict[str, Any]:
    return {"label": label} if confidence is None else {"label": label, "confidence": confidence}
