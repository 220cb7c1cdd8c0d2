"""Writing predictions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from training_pipeline.bundle.manifest import SchemaSpec
from training_pipeline.trainers.base import Prediction
from training_pipeline.worker.predictions import write_predictions

COMMENT = SchemaSpec("comment", "text", "text")


def test_text_stays_plain(tmp_path: Path) -> None:
    n = write_predictions([Prediction("a", "words", 0.5)], COMMENT, tmp_path / "p.jsonl", lambda count: None)
    assert n == 1
    assert json.loads((tmp_path / "p.jsonl").read_text()) == {
        "instance_id": "a",
        "schema_name": "comment",
        "payload": "words",
        "confidence": 0.5,
    }


def test_predictions_that_break_off_leave_no_file(tmp_path: Path) -> None:
    def full() -> Iterator[Prediction]:
        yield Prediction("a", "words")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        write_predictions(full(), COMMENT, tmp_path / "p.jsonl", lambda count: None)
    assert list(tmp_path.iterdir()) == []
