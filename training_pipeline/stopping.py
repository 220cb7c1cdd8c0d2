"""Stopping runs: one that waits ends at once, one that goes is interrupted, and killed where it does not heed that."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

from training_pipeline.errors import PipelineError
from training_pipeline.ledger import runs, stops
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.owners import Owner, is_gone, is_here
from training_pipeline.ledger.records import RunRecord, Status
from training_pipeline.ledger.stops import CANCELLED, Stop

_POLL_SECONDS = 0.1
_MARGIN_SECONDS = 1.0  # after the grace, in which the worker's leash kills, for the run's process to end the run


def cancel(ledger: Ledger, run_id: str, grace_seconds: float) -> RunRecord:
    """Cancel a run, wait until it has ended, and return it.

    Raises `PipelineError`: `unknown_run`, `already_ended`, `being_cancelled` where somebody cancels it already, and
    `other_host` where its process cannot be reached. A run that is publishing finishes: `already_ended`.
    """
    run = runs.get(ledger, run_id)
    if run.status.has_ended or run.recorded_by == "potato":
        raise PipelineError("already_ended", f"Run {run_id} has ended already: it is {run.status}.")
    if cancel_waiting(ledger, run_id) is not None:
        return runs.get(ledger, run_id)
    tell(ledger, run_id, CANCELLED, grace_seconds)
    ended = _wait(ledger, run_id, grace_seconds)
    if ended.status is Status.SUCCESS:
        raise PipelineError(
            "already_ended",
            f"Run {run_id} was publishing when it was to be cancelled, and finished: it is {ended.status}."
            f" `training-pipeline retract {run_id}` takes its pre-labels down.",
        )
    return ended


def cancel_waiting(ledger: Ledger, run_id: str) -> RunRecord | None:
    """Take a run out of the queue, and return it as it was; None where it does not wait."""
    waited = runs.end_waiting(ledger, run_id, CANCELLED.status, error=CANCELLED.why, error_code=str(CANCELLED.status))
    if waited is not None and waited.owner is not None and waited.dagster_run_id and is_here(waited.owner):
        _interrupt(waited.owner)  # it waits inside a run that Dagster has started already
    return waited


def tell(ledger: Ledger, run_id: str, stop: Stop, grace_seconds: float) -> None:
    """Interrupt the process of a run that goes; the run ends as `stop` says.

    Raises `PipelineError`: `being_cancelled` where it was told a moment ago, `other_host` where it is out of reach.
    """
    owner = runs.get(ledger, run_id).owner
    if owner is None or not is_here(owner):
        host = owner.host if owner else "another machine"
        raise PipelineError(
            "other_host",
            f"Run {run_id} belongs to a process on {host}, which only that machine can stop. Cancel there.",
        )
    if not stops.ask(ledger, run_id, stop, again_after=grace_seconds + _MARGIN_SECONDS):
        raise PipelineError("being_cancelled", f"Run {run_id} is being cancelled already.")
    _interrupt(owner)


def kill_deaf(ledger: Ledger, grace_seconds: float) -> list[str]:
    """Kill the processes that were told to stop longer ago than the grace, and return their runs' ids."""
    killed = []
    for run_id, stop in stops.all_stops(ledger).items():
        run = runs.get(ledger, run_id)
        is_overdue = time.time() - stop.asked_at > grace_seconds + _MARGIN_SECONDS
        if run.status.is_active and is_overdue and run.owner and is_here(run.owner):
            _kill(run.owner)
            killed.append(run_id)
    return killed


def _wait(ledger: Ledger, run_id: str, grace_seconds: float) -> RunRecord:
    deadline = time.monotonic() + grace_seconds + _MARGIN_SECONDS
    while not (run := runs.get(ledger, run_id)).status.has_ended:
        if run.owner is not None and (is_gone(run.owner) or time.monotonic() > deadline):
            _kill(run.owner)
            runs.interrupt_abandoned(ledger)
        time.sleep(_POLL_SECONDS)
    return run


def _interrupt(owner: Owner) -> None:
    if not is_gone(owner):
        with suppress(ProcessLookupError):
            os.kill(owner.pid, signal.SIGINT)


def _kill(owner: Owner) -> None:
    """Kill a process and wait until it is gone; its worker's leash sees that and ends the worker."""
    with suppress(ProcessLookupError):
        while not is_gone(owner):
            os.kill(owner.pid, signal.SIGKILL)
            time.sleep(0.01)
