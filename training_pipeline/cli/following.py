"""What a person who started a run sees of it while it goes: a bar on a terminal, else a line for each change."""

from __future__ import annotations

import time
from collections.abc import Callable

from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TaskID, TextColumn
from rich.progress import Progress as Bars

from training_pipeline.cli.common import err
from training_pipeline.ledger import runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import RunRecord, Status

_POLL_SECONDS = 0.1


def follow(ledger: Ledger, run_id: str, goes_on: Callable[[], bool]) -> None:
    """Tell on stderr what a run does until `goes_on` says that it does not."""
    if err.is_terminal:
        _draw(ledger, run_id, goes_on)
    else:
        _print(ledger, run_id, goes_on)


def _print(ledger: Ledger, run_id: str, goes_on: Callable[[], bool]) -> None:
    told = ""
    while goes_on():
        now = f"run {run_id}: {_doing(ledger, runs.get(ledger, run_id))}"
        if now != told:
            err.print(now)
            told = now
        time.sleep(_POLL_SECONDS)


def _draw(ledger: Ledger, run_id: str, goes_on: Callable[[], bool]) -> None:
    step, eta = TextColumn("{task.description}"), TextColumn("{task.fields[eta]}")
    with Bars(SpinnerColumn(), step, BarColumn(), MofNCompleteColumn(), eta, console=err, transient=True) as bars:
        task = bars.add_task(f"run {run_id}", total=None, eta="")
        while goes_on():
            _update(bars, task, ledger, runs.get(ledger, run_id))
            time.sleep(_POLL_SECONDS)


def _update(bars: Bars, task: TaskID, ledger: Ledger, run: RunRecord) -> None:
    progress = run.progress
    bars.update(
        task,
        description=f"run {run.run_id}: {_doing(ledger, run)}",
        completed=progress.current if progress else 0,
        total=(progress.total or None) if progress else None,
        eta=_in_words(progress.eta_seconds) if progress else "",
    )


def _doing(ledger: Ledger, run: RunRecord) -> str:
    if run.status is Status.QUEUED:
        return _waiting(ledger, run.run_id)
    step = run.progress.step if run.progress else ""
    return str(run.status) + (f": {step}" if step and not run.status.has_ended else "")


def _waiting(ledger: Ledger, run_id: str) -> str:
    place = runs.position(ledger, run_id)
    # The run's own process needs a moment to take a turn that is free.
    is_free = not any(other.status.is_active for other in runs.list_runs(ledger))
    return "starting" if place == 1 and is_free else f"waiting #{place}"


def _in_words(eta_seconds: float | None) -> str:
    if eta_seconds is None:
        return ""
    minutes, seconds = divmod(round(eta_seconds), 60)
    return f"{minutes} min {seconds} s left" if minutes else f"{seconds} s left"
