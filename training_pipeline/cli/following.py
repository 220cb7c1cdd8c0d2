"""What a person who started a run sees of it while it goes: a bar on a terminal, else a line for each change."""

from __future__ import annotations

import time
from collections.abc import Callable

from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn
from rich.progress import Progress as Bars

from training_pipeline.cli.common import err, visible
from training_pipeline.errors import PipelineError
from training_pipeline.ledger import runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import Progress, Status

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
        now = f"run {run_id}: {_look(ledger, run_id)[0]}"
        if now != told:
            err.print(now, markup=False, soft_wrap=True)
            told = now
        time.sleep(_POLL_SECONDS)


def _draw(ledger: Ledger, run_id: str, goes_on: Callable[[], bool]) -> None:
    step, eta = TextColumn("{task.description}", markup=False), TextColumn("{task.fields[eta]}")
    with Bars(SpinnerColumn(), step, BarColumn(), MofNCompleteColumn(), eta, console=err) as bars:
        task = bars.add_task(f"run {run_id}", total=None, eta="")
        while goes_on():
            doing, progress = _look(ledger, run_id)
            bars.update(
                task,
                description=f"run {run_id}: {doing}",
                completed=progress.current if progress else 0,
                total=(progress.total or None) if progress else None,
                eta=_in_words(progress.eta_seconds) if progress else "",
            )
            time.sleep(_POLL_SECONDS)


def _look(ledger: Ledger, run_id: str) -> tuple[str, Progress | None]:
    """Return what a run does now, in words, and how far its step is."""
    try:
        run = runs.get(ledger, run_id)
        if run.status is Status.QUEUED:
            return _waiting(ledger, run_id), None
    except PipelineError as error:
        return visible(
            str(error)
        ), None  # a ledger that cannot be read now does not end the run, nor the waiting for it
    progress = None if run.status.has_ended else run.progress
    return f"{run.status}: {visible(progress.step)}" if progress and progress.step else str(run.status), progress


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
