"""Runs: asked for, waiting their turn, going, ended. One at a time per study, and the ledger decides which."""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypedDict, Unpack

from training_pipeline.errors import PipelineError
from training_pipeline.ledger import run_rows, stops, supervisors
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.owners import Owner, is_gone
from training_pipeline.ledger.records import Cost, Progress, RunRecord, Status
from training_pipeline.scoring.headline import Headline

_NEXT: Mapping[Status, Status] = {Status.BUILDING: Status.RUNNING, Status.RUNNING: Status.EVALUATING}
_STAMP = "%Y%m%dT%H%M%S"
_SUFFIXES = 1 << 24
_ID_PATTERN = "[0-9]" * 8 + "T" + "[0-9]" * 6 + "-" + "[0-9a-f]" * 6
_UNFINISHED = "status IN ('queued', 'building', 'running', 'evaluating')"


class Facts(TypedDict, total=False):
    """What becomes known of a run while it goes."""

    dagster_run_id: str
    kinds: tuple[str, ...]
    n_unlabeled: int
    split_seed: int
    params: Mapping[str, Any]
    param_sources: Mapping[str, str]
    metrics: Mapping[str, float]
    headline: Headline | None
    not_scored_because: str | None
    comparable: bool
    bundle_digest: str
    artifact_dir: str
    model_version: str
    cost: Cost | None


def request(
    ledger: Ledger,
    *,
    trainer: str,
    schema_names: Sequence[str],
    backend: str,
    trigger: str,
    owner: Owner | None,
    queue_max: int,
    may_wait: bool = True,
    requested_params: Mapping[str, Any] | None = None,
    kinds: Sequence[str] = (),
    dagster_run_id: str = "",
) -> RunRecord:
    """Write down a run that somebody asked for, and return it: `queued`, with an id of its own.

    Where it would have to wait, it is refused with `busy` (`may_wait` false) or `queue_full` (`queue_max` runs wait
    already). `owner` is the process that waits for the turn; None where the run waits in Dagster's queue.
    """
    with ledger.transaction() as connection:
        _interrupt_abandoned(connection, ledger.project)
        unfinished = unfinished_runs(connection, ledger.project)
        if any(_comes_before(connection, ledger.project, other) for other in unfinished):
            _refuse_if_no_room(unfinished, queue_max=queue_max, may_wait=may_wait)
        run = RunRecord(
            run_id=_next_id(_newest_id(connection, ledger.project)),
            status=Status.QUEUED,
            trainer=trainer,
            schema_names=tuple(schema_names),
            backend=backend,
            trigger=trigger,
            created_at=time.time(),
            kinds=tuple(kinds),
            requested_params=dict(requested_params or {}),
            dagster_run_id=dagster_run_id,
            owner=owner,
        )
        run_rows.insert(connection, ledger.project, run)
    return run


def take_turn(ledger: Ledger, run_id: str, owner: Owner) -> bool:
    """Make the run `building` and `owner`'s, if no other run is active and none that lives has waited longer.

    False: it goes on waiting, in `owner`. A run that does not wait any more (cancelled, say) is refused with its own
    error code.
    """
    with ledger.transaction() as connection:
        _interrupt_abandoned(connection, ledger.project, spare=run_id)
        run = require(connection, ledger.project, run_id)
        if run.status is not Status.QUEUED:
            raise PipelineError(
                run.error_code or "bad_transition",
                f"Run {run_id} does not wait for its turn any more: it is {run.status}. {run.error}".rstrip(),
            )
        if any(
            other.run_id != run_id and _comes_before(connection, ledger.project, other, run_id)
            for other in unfinished_runs(connection, ledger.project)
        ):
            if run.owner != owner:
                run_rows.update(connection, ledger.project, run_id, {"owner": owner})
            return False
        changes = {"status": Status.BUILDING, "owner": owner, "started_at": time.time()}
        run_rows.update(connection, ledger.project, run_id, changes)
    return True


def position(ledger: Ledger, run_id: str) -> int | None:
    """Return the run's place among those that wait, 1 for the next; None if it does not wait."""
    with ledger.read() as connection:
        waiting = [run.run_id for run in run_rows.select(connection, ledger.project, "status = 'queued'")]
    return waiting.index(run_id) + 1 if run_id in waiting else None


def advance(ledger: Ledger, run_id: str, status: Status) -> None:
    """Take an active run to the next status: building, running, evaluating. `finish` ends it.

    The progress of the status before is over, so it goes.
    """
    with ledger.transaction() as connection:
        run = require(connection, ledger.project, run_id)
        if _NEXT.get(run.status) is not status:
            raise _bad_transition(run, status)
        run_rows.update(connection, ledger.project, run_id, {"status": status, "progress": None})


def record(ledger: Ledger, run_id: str, **facts: Unpack[Facts]) -> None:
    """Write down what became known of a run; of an ended one too (its scores computed again, say)."""
    with ledger.transaction() as connection:
        run = replace(require(connection, ledger.project, run_id), **facts)
        run_rows.update(connection, ledger.project, run_id, facts)
        if run.status.has_ended:
            run_rows.mirror(connection, ledger.project, run)


def warn(ledger: Ledger, run_id: str, warnings: Iterable[str]) -> None:
    """Add what a person should know of a run to its record, each sentence once."""
    with ledger.transaction() as connection:
        run = require(connection, ledger.project, run_id)
        told = tuple(dict.fromkeys((*run.warnings, *warnings)))
        run_rows.update(connection, ledger.project, run_id, {"warnings": told})


def report_progress(ledger: Ledger, run_id: str, progress: Progress) -> None:
    """Write down how far the run is."""
    with ledger.transaction() as connection:
        run_rows.update(connection, ledger.project, run_id, {"progress": progress})


def finish(
    ledger: Ledger, run_id: str, status: Status, *, error: str = "", error_code: str = "", **facts: Unpack[Facts]
) -> RunRecord:
    """End a run and, in the same transaction, list it in Potato's own table.

    `success` needs a run that is evaluating and whose write-back is done. A run that has ended stays as it ended:
    `already_ended`.
    """
    with ledger.transaction() as connection:
        run = require(connection, ledger.project, run_id)
        _refuse_wrong_end(run, status)
        return _end(connection, ledger.project, run, status, {**facts, "error": error, "error_code": error_code})


def get(ledger: Ledger, run_id: str) -> RunRecord:
    """Return one run, ours or one that only the annotation server recorded; raises `unknown_run`."""
    found = [run for run in list_runs(ledger) if run.run_id == run_id]
    if not found:
        raise _unknown(run_id)
    return found[0]


def list_runs(ledger: Ledger) -> list[RunRecord]:
    """Return all runs, newest first: ours, and those that only the annotation server recorded."""
    with ledger.read() as connection:
        return all_runs(connection, ledger.project)


def all_runs(connection: sqlite3.Connection, project: str) -> list[RunRecord]:
    """`list_runs`, inside a transaction that is open."""
    runs = run_rows.select(connection, project, "1") + run_rows.select_potatos_own(connection, project)
    return sorted(runs, key=lambda run: (run.created_at, run.run_id), reverse=True)


def latest_success(ledger: Ledger, schema: str) -> RunRecord | None:
    """Return our newest successful run that learned `schema`."""
    with ledger.read() as connection:
        succeeded = run_rows.select(connection, ledger.project, "status = 'success'")
    return next((run for run in reversed(succeeded) if schema in run.schema_names), None)


def unfinished_runs(connection: sqlite3.Connection, project: str) -> list[RunRecord]:
    """Return our own runs that wait or go, oldest first, inside a transaction that is open."""
    return run_rows.select(connection, project, _UNFINISHED)


def end_stopped(ledger: Ledger, run_id: str, otherwise: stops.Stop = stops.CANCELLED) -> None:
    """End a run whose process is interrupted: as it was told to, else as `otherwise`. An ended run stays as it is."""
    with ledger.transaction() as connection:
        run = require(connection, ledger.project, run_id)
        if not run.status.has_ended:
            stop = stops.of_run(connection, ledger.project, run_id) or otherwise
            _end_as_told(connection, ledger.project, run, stop)


def end_waiting(
    ledger: Ledger, run_id: str, status: Status, *, error: str, error_code: str, only_in_dagster: bool = False
) -> RunRecord | None:
    """End a run that waits, and return it as it was; None, and nothing changes, if it does not wait any more.

    `only_in_dagster`: nor where a process waits with it meanwhile.
    """
    with ledger.transaction() as connection:
        run = require(connection, ledger.project, run_id)
        if run.status is not Status.QUEUED or (only_in_dagster and run.owner is not None):
            return None
        _end(connection, ledger.project, run, status, {"error": error, "error_code": error_code})
    return run


def interrupt_abandoned(ledger: Ledger) -> list[RunRecord]:
    """End every waiting or active run whose process on this host is gone, and return them: `interrupted`."""
    with ledger.transaction() as connection:
        return _interrupt_abandoned(connection, ledger.project)


def require(connection: sqlite3.Connection, project: str, run_id: str) -> RunRecord:
    """Return one of our own runs, inside a transaction that is open; raises `unknown_run`."""
    found = run_rows.select(connection, project, "run_id = ?", run_id)
    if not found:
        raise _unknown(run_id)
    return found[0]


def our_ids(connection: sqlite3.Connection, project: str) -> set[str]:
    """Return the ids of our own runs, inside a transaction that is open."""
    rows = connection.execute("SELECT run_id FROM pipeline_runs WHERE project = ?", (project,))
    return {run_id for (run_id,) in rows}


def require_publishable(connection: sqlite3.Connection, project: str, run_id: str) -> None:
    """Refuse a run whose predictions must not be shown: one that failed, or whose train items are not known yet."""
    run = require(connection, project, run_id)
    if run.status not in (Status.EVALUATING, Status.SUCCESS):
        raise PipelineError(
            "bad_transition",
            f"Run {run_id} is {run.status}, so nothing of it is published: it must be evaluating or have succeeded.",
        )
    if not run.items_written:
        raise PipelineError(
            "bad_transition",
            f"The splits of run {run_id} are not all in the ledger, so its train items could not be kept out: nothing"
            " was published.",
        )


def _unknown(run_id: str) -> PipelineError:
    return PipelineError(
        "unknown_run", f"No such run: {run_id}. `training-pipeline runs` lists those that the ledger still has."
    )


def _newest_id(connection: sqlite3.Connection, project: str) -> str:
    (newest,) = connection.execute(
        "SELECT max(run_id) FROM (SELECT run_id FROM pipeline_runs WHERE project = ?1"
        " UNION ALL SELECT run_id FROM training_runs WHERE project = ?1) WHERE run_id GLOB ?2",
        (project, _ID_PATTERN),
    ).fetchone()
    return newest or ""


def _next_id(newest: str) -> str:
    # Ids of one project rise strictly, even within a second and when the clock jumps back, so that a newer run's
    # predictions are known by its id alone.
    stamp, _, suffix = newest.partition("-")
    now = datetime.now(tz=UTC).strftime(_STAMP)
    if now > stamp:
        return f"{now}-{secrets.randbelow(_SUFFIXES // 2):06x}"
    following = int(suffix, 16) + 1 + secrets.randbelow(256)
    if following < _SUFFIXES:
        return f"{stamp}-{following:06x}"
    later = datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC) + timedelta(seconds=1)
    return f"{later.strftime(_STAMP)}-{secrets.randbelow(_SUFFIXES // 2):06x}"


def _refuse_if_no_room(unfinished: list[RunRecord], *, queue_max: int, may_wait: bool) -> None:
    first = next((run for run in unfinished if run.status.is_active), unfinished[0])
    waiting = len(unfinished) - 1
    if not may_wait:
        raise PipelineError(
            "busy",
            f"Run {first.run_id} is {first.status}, and one run goes at a time. Wait for its end, or let this queue.",
        )
    if waiting >= queue_max:
        raise PipelineError(
            "queue_full",
            f"Run {first.run_id} is {first.status} and {waiting} more wait, which is all that"
            f" model_training.queue_max ({queue_max}) allows. Ask again later, or raise it.",
        )


def _refuse_wrong_end(run: RunRecord, status: Status) -> None:
    if run.status.has_ended:
        raise PipelineError("already_ended", f"Run {run.run_id} has ended already: it is {run.status}.")
    if status is Status.SUCCESS and (run.status is not Status.EVALUATING or run.writeback is None):
        raise _bad_transition(run, status)
    if not status.has_ended:
        raise _bad_transition(run, status)


def _bad_transition(run: RunRecord, status: Status) -> PipelineError:
    missing = " before its write-back is done" if status is Status.SUCCESS and run.status is Status.EVALUATING else ""
    return PipelineError("bad_transition", f"Run {run.run_id} is {run.status} and cannot become {status}{missing}.")


def _end(
    connection: sqlite3.Connection, project: str, run: RunRecord, status: Status, changes: Mapping[str, Any]
) -> RunRecord:
    now = time.time()
    written = {**changes, "status": status, "finished_at": now}
    if run.started_at is not None:
        measured = changes.get("cost") or run.cost or Cost(wall_seconds=0.0)
        written["cost"] = replace(measured, wall_seconds=max(0.0, now - run.started_at))
    run_rows.update(connection, project, run.run_id, written)
    stops.forget(connection, project, run.run_id)
    ended = replace(run, **written)
    run_rows.mirror(connection, project, ended)
    return ended


def _end_as_told(connection: sqlite3.Connection, project: str, run: RunRecord, stop: stops.Stop) -> RunRecord:
    return _end(
        connection,
        project,
        run,
        stop.status,
        {
            "error": stop.why,
            "error_code": "interrupted" if stop.status is Status.INTERRUPTED else "cancelled",
        },
    )


def _interrupt_abandoned(connection: sqlite3.Connection, project: str, spare: str = "") -> list[RunRecord]:
    return [
        _end_as_told(connection, project, run, stops.of_run(connection, project, run.run_id) or _interruption(run))
        for run in unfinished_runs(connection, project)
        if run.run_id != spare and run.owner is not None and is_gone(run.owner)
    ]


def _interruption(run: RunRecord) -> stops.Stop:
    return stops.Stop(Status.INTERRUPTED, _why_interrupted(run))


def _comes_before(connection: sqlite3.Connection, project: str, other: RunRecord, run_id: str | None = None) -> bool:
    """Whether `run_id`, or a run that is asked for now, must wait for `other`, an unfinished run.

    One that waits in Dagster's queue while nothing takes runs out of it keeps its place, and lets the others pass.
    """
    if other.status.is_active:
        return True
    is_older = run_id is None or other.run_id < run_id
    return is_older and (other.owner is not None or supervisors.is_there(connection, project))


def _why_interrupted(run: RunRecord) -> str:
    pid, host = (run.owner.pid, run.owner.host) if run.owner else (0, "")
    published = " Its predictions had been published already and stay." if run.writeback else ""
    return (
        f"The process that the run belonged to (pid {pid} on {host}) ended while the run was {run.status}: it was"
        f" killed, or the machine was restarted.{published} Start the run again."
    )
