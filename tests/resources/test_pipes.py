"""The worker's events as Dagster sees them, while they are written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.ledger.making import wait_for
from training_pipeline.resources.pipes import Event, EventsReader


class Handler:
    """Takes messages as Dagster would."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, Any]] = []

    def handle_message(self, message: Any) -> None:
        self.messages.append((message["method"], message["params"]))


@pytest.fixture
def follow(tmp_path: Path) -> Callable[..., Any]:
    def following(on_event: Callable[[Event], None] = lambda _event: None) -> tuple[Handler, Any]:
        handler = Handler()
        return handler, EventsReader(tmp_path / "events.jsonl", on_event).read_messages(handler)  # type: ignore[arg-type]

    return following


def write(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def line(**event: Any) -> str:
    return json.dumps({"v": 1, "t": 0.0, **event}) + "\n"


def test_steps_and_logs_are_told_as_they_come(tmp_path: Path, follow: Callable[..., Any]) -> None:
    events = tmp_path / "events.jsonl"
    seen: list[str] = []
    handler, session = follow(lambda event: seen.append(event["event"]))
    with session:
        write(events, line(event="status", state="running", step="fitting"))
        wait_for(lambda: seen == ["status"])
        assert handler.messages == [
            ("opened", {"extras": {}}),
            ("log", {"message": "fitting", "level": "info"}),
        ]
        write(events, line(event="log", level="warning", message="Few items."))
        write(events, line(event="result", status="success"))
    assert seen == ["status", "log", "result"]
    assert handler.messages[2:] == [("log", {"message": "Few items.", "level": "warning"}), ("closed", None)]


def test_half_a_line_waits_for_its_other_half(tmp_path: Path, follow: Callable[..., Any]) -> None:
    events = tmp_path / "events.jsonl"
    seen: list[Event] = []
    whole = line(event="log", level="info", message="grüße 🙂")
    _, session = follow(seen.append)
    with session:
        write(events, line(event="progress") + whole[:20])
        wait_for(lambda: len(seen) == 1)
        write(events, whole[20:])
    assert [event["event"] for event in seen] == ["progress", "log"]


def test_a_worker_that_was_killed_closes_its_session_once(tmp_path: Path, follow: Callable[..., Any]) -> None:
    handler, session = follow()
    with session:
        write(tmp_path / "events.jsonl", line(event="progress") + '{"v": 1, "event": "resu')
    assert [method for method, _ in handler.messages] == ["opened", "closed"]


def test_a_worker_that_never_spoke_opens_no_session(follow: Callable[..., Any]) -> None:
    handler, session = follow()
    with session:
        pass
    assert handler.messages == []
