"""The worker as a Dagster Pipes process.

The worker knows nothing of Dagster: it writes `events.jsonl`, the same on every backend. The reader here turns those
events into Pipes messages while they are written, so that a person watching the run in Dagster sees them live.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import dagster as dg
from dagster_pipes import PIPES_PROTOCOL_VERSION, PIPES_PROTOCOL_VERSION_FIELD, PipesExtras, PipesMessage, PipesParams

from training_pipeline.resources.local import LocalBackend
from training_pipeline.worker.spec import Limits

Event = Mapping[str, Any]
_POLL_SECONDS = 0.1
_LEVELS = {"debug": "debug", "info": "info", "warning": "warning", "error": "error"}


class EventsReader(dg.PipesMessageReader):
    """Follows a worker's `events.jsonl` until the session closes.

    `on_event` gets every event, in order, in the reader's thread; Dagster's log gets the statuses and log lines.
    """

    def __init__(self, path: Path, on_event: Callable[[Event], None]) -> None:
        self._path = path
        self._on_event = on_event
        self._offset = 0
        self._opened = False
        self._closed = False

    @contextmanager
    def read_messages(self, handler: dg.PipesMessageHandler) -> Iterator[PipesParams]:
        """Follow the file in a thread while the session is open; read what is left when it closes."""
        done = threading.Event()
        thread = threading.Thread(target=self._follow, args=(handler, done), name="worker-events", daemon=True)
        thread.start()
        try:
            yield {}
        finally:
            done.set()
            thread.join()

    def no_messages_debug_text(self) -> str:
        """Say where Dagster's warning about a silent worker should send a person."""
        return f"Looked for the worker's events in {self._path}; see stderr.log beside it."

    def _follow(self, handler: dg.PipesMessageHandler, done: threading.Event) -> None:
        while not done.wait(_POLL_SECONDS):
            self._read(handler)
        self._read(handler)
        if self._opened and not self._closed:
            # A killed worker writes no last event; the asset reports that in words, Pipes needs not warn as well.
            handler.handle_message(_message("closed", None))

    def _read(self, handler: dg.PipesMessageHandler) -> None:
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    return  # the rest of this line is still being written
                self._offset += len(line)
                self._handle(handler, json.loads(line))

    def _handle(self, handler: dg.PipesMessageHandler, event: Event) -> None:
        if not self._opened:
            self._opened = True
            handler.handle_message(_message("opened", {"extras": {}}))
        self._on_event(event)
        if event["event"] == "log":
            level = _LEVELS.get(str(event.get("level")), "info")
            handler.handle_message(_message("log", {"message": str(event.get("message", "")), "level": level}))
        elif event["event"] == "status" and event.get("step"):
            handler.handle_message(_message("log", {"message": str(event["step"]), "level": "info"}))
        elif event["event"] in ("result", "error") and not self._closed:
            self._closed = True
            handler.handle_message(_message("closed", None))


class _SpecInjector(dg.PipesContextInjector):
    """The worker reads everything it needs from its spec; Dagster's own context stays here."""

    @contextmanager
    def inject_context(self, context_data: Any) -> Iterator[PipesParams]:  # noqa: ARG002 - the base's shape
        yield {}

    def no_messages_debug_text(self) -> str:
        return "The worker takes its orders from spec.json in the run's directory."


class WorkerClient(dg.PipesClient):
    """Runs one worker to its end on a backend, and leaves nothing of it behind however it ends."""

    def __init__(self, backend: LocalBackend) -> None:
        self._backend = backend

    def run(  # type: ignore[override] # the base allows further arguments, by position of **kwargs only
        self,
        *,
        context: dg.AssetExecutionContext,
        extras: PipesExtras | None = None,
        run_dir: Path,
        limits: Limits,
        grace_seconds: float,
        on_event: Callable[[Event], None],
    ) -> tuple[dg.PipesClientCompletedInvocation, int]:
        """Start the worker on `<run_dir>/spec.json` and wait for it.

        Returns the completed invocation and the worker's exit status. When the step is interrupted, the worker and all
        its children are gone before the interruption goes on.
        """
        reader = EventsReader(run_dir / "events.jsonl", on_event)
        with dg.open_pipes_session(
            context=context, context_injector=_SpecInjector(), message_reader=reader, extras=extras
        ) as session:
            worker = self._backend.start(run_dir, limits=limits, grace_seconds=grace_seconds)
            try:
                status = worker.wait()
            finally:
                worker.stop()
        return dg.PipesClientCompletedInvocation(session), status


def _message(method: Literal["opened", "closed", "log"], params: Mapping[str, Any] | None) -> PipesMessage:
    return {PIPES_PROTOCOL_VERSION_FIELD: PIPES_PROTOCOL_VERSION, "method": method, "params": params}  # type: ignore[misc] # the protocol's version key is a constant of theirs, not a literal
