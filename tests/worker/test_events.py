"""Events on disk."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from training_pipeline.worker.events import Events


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_each_event_is_on_disk_when_it_is_told(tmp_path: Path) -> None:
    events = Events(tmp_path / "events.jsonl")
    events.log("warning", "two\nlines, 😀")
    (event,) = read(tmp_path / "events.jsonl")
    assert (event["v"], event["event"], event["level"], event["message"]) == (1, "log", "warning", "two\nlines, 😀")


def test_progress_comes_twice_a_second_and_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    events = Events(tmp_path / "events.jsonl")
    for current in range(1, 101):
        events.progress("predicting", current, 100)
        now += 0.0625
    assert [event["current"] for event in read(tmp_path / "events.jsonl")] == [*range(1, 101, 8), 100]


def test_nothing_follows_the_end(tmp_path: Path) -> None:
    events = Events(tmp_path / "events.jsonl")
    assert events.result(n_predictions=1)
    assert not events.error("cancelled", "The run was cancelled.", "")
    events.step("again")
    assert [event["event"] for event in read(tmp_path / "events.jsonl")] == ["result"]
