"""Runs that wait: in Dagster's queue or in a process, in one line, never more of them than may."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.ledger.making import ask, dead_owner, make_ledger
from training_pipeline.errors import PipelineError
from training_pipeline.ledger import queue, runs, stops, supervisors
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.owners import this_process
from training_pipeline.ledger.records import RunRecord, Status
from training_pipeline.ledger.stops import Stop


def in_dagster(ledger: Ledger, dagster_run_id: str = "d1") -> RunRecord:
    return runs.request(
        ledger,
        trainer="sklearn-text",
        schema_names=["sentiment"],
        backend="local",
        trigger="manual",
        owner=None,
        queue_max=10,
        dagster_run_id=dagster_run_id,
    )


def test_it_says_where_a_run_waits(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    assert (in_dagster(ledger).waits_in, ask(ledger).waits_in) == ("dagster", "process")
    run_id = runs.list_runs(ledger)[0].run_id
    assert runs.take_turn(ledger, run_id, this_process())
    assert runs.get(ledger, run_id).waits_in is None


def test_dagsters_queue_keeps_its_place_only_while_something_takes_runs_out_of_it(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    first, second = in_dagster(ledger), ask(ledger)
    supervisors.come(ledger, this_process())
    assert not runs.take_turn(ledger, second.run_id, this_process())
    supervisors.come(ledger, dead_owner())
    assert runs.take_turn(ledger, second.run_id, this_process())
    assert runs.get(ledger, first.run_id).status is Status.QUEUED


def test_a_run_that_nothing_takes_out_of_the_queue_makes_nobody_wait(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    in_dagster(ledger)
    assert ask(ledger, may_wait=False).status is Status.QUEUED


def test_a_run_in_dagsters_queue_has_no_process_that_could_be_gone(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    run = in_dagster(ledger)
    assert runs.interrupt_abandoned(ledger) == []
    assert queue.waiting_in_dagster(ledger) == [run]
    assert queue.of_dagster_run(ledger, "d1") == run
    assert queue.of_dagster_run(ledger, "d2") is None


def test_dagster_may_start_a_run_when_the_first_in_line_is_its_own(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    assert queue.is_dagsters_turn(ledger)
    waiting = ask(ledger)
    in_dagster(ledger)
    assert not queue.is_dagsters_turn(ledger)
    assert runs.take_turn(ledger, waiting.run_id, this_process())
    assert not queue.is_dagsters_turn(ledger)
    runs.finish(ledger, waiting.run_id, Status.ERROR)
    assert queue.is_dagsters_turn(ledger)


def test_a_thousand_runs_asked_for_at_once_leave_one_and_the_queue(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)

    def outcome(_number: int) -> str:
        try:
            return ask(ledger, queue_max=10).status
        except PipelineError as refusal:
            return refusal.code

    with ThreadPoolExecutor(32) as pool:
        assert Counter(pool.map(outcome, range(1000))) == {"queued": 11, "queue_full": 989}
    ids = [run.run_id for run in runs.list_runs(ledger) if run.status is Status.QUEUED]
    assert sorted(runs.position(ledger, run_id) or 0 for run_id in ids) == list(range(1, 12))


def test_with_no_place_to_wait_a_run_goes_only_while_no_other_does(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    going = ask(ledger, queue_max=0).run_id
    with pytest.raises(PipelineError, match=r"is queued and 0 more wait, which is all that .*queue_max \(0\) allows"):
        ask(ledger, queue_max=0)
    runs.end_waiting(ledger, going, Status.CANCELLED, error="", error_code="")
    assert ask(ledger, queue_max=0).status is Status.QUEUED


def test_a_process_that_waits_takes_the_run_over(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    ask(ledger)
    run = in_dagster(ledger)
    assert not runs.take_turn(ledger, run.run_id, this_process())
    assert runs.get(ledger, run.run_id).owner == this_process()


def test_a_run_that_waits_is_ended_and_one_that_does_not_is_left(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    going, waiting = ask(ledger), in_dagster(ledger)
    assert runs.take_turn(ledger, going.run_id, this_process())
    assert runs.end_waiting(ledger, going.run_id, Status.CANCELLED, error="", error_code="") is None
    assert runs.end_waiting(ledger, waiting.run_id, Status.CANCELLED, error="x", error_code="cancelled") == waiting
    assert [run.status for run in runs.list_runs(ledger)] == [Status.CANCELLED, Status.BUILDING]


def test_what_dagster_says_does_not_end_a_run_that_a_process_has_taken_over(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    run_id = ask(ledger).run_id
    ended = runs.end_waiting(ledger, run_id, Status.ERROR, error="", error_code="", only_in_dagster=True)
    assert ended is None
    assert runs.get(ledger, run_id).status is Status.QUEUED


def going(ledger: Ledger) -> str:
    run_id = ask(ledger).run_id
    assert runs.take_turn(ledger, run_id, this_process())
    return run_id


def test_an_interrupted_run_ends_as_it_was_told_to(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    told = going(ledger)
    stops.ask(ledger, told, Stop(Status.INTERRUPTED, "The shop closes."))
    runs.end_stopped(ledger, told)
    untold = going(ledger)
    runs.end_stopped(ledger, untold)
    first, second = runs.get(ledger, told), runs.get(ledger, untold)
    assert (first.status, first.error, first.error_code) == (Status.INTERRUPTED, "The shop closes.", "interrupted")
    assert (second.status, second.error, second.error_code) == (Status.CANCELLED, "Cancelled.", "cancelled")
    assert stops.all_stops(ledger) == {}


def test_a_run_that_was_cancelled_and_then_killed_is_cancelled(tmp_path: Path) -> None:
    ledger, dead = make_ledger(tmp_path), dead_owner()
    run_id = ask(ledger).run_id
    assert runs.take_turn(ledger, run_id, dead)
    stops.ask(ledger, run_id, stops.CANCELLED)
    assert [run.run_id for run in runs.interrupt_abandoned(ledger)] == [run_id]
    assert runs.get(ledger, run_id).status is Status.CANCELLED


def test_a_run_is_told_to_stop_once_in_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = make_ledger(tmp_path)
    run_id, now = going(ledger), 1000.0
    monkeypatch.setattr(time, "time", lambda: now)
    assert stops.ask(ledger, run_id, stops.CANCELLED, again_after=10)
    now = 1009.0
    assert not stops.ask(ledger, run_id, stops.CANCELLED, again_after=10)
    now = 1010.0
    assert stops.ask(ledger, run_id, stops.CANCELLED, again_after=10)
    now = 500.0  # the clock was set back
    assert stops.ask(ledger, run_id, stops.CANCELLED, again_after=10)


def test_a_supervisor_leaves_in_its_own_name_only(tmp_path: Path) -> None:
    ledger, dead = make_ledger(tmp_path), dead_owner()
    assert supervisors.present(ledger) is None
    supervisors.come(ledger, dead)
    assert supervisors.present(ledger) is None
    supervisors.come(ledger, this_process())
    supervisors.leave(ledger, dead)
    assert supervisors.present(ledger) == this_process()
    supervisors.leave(ledger, this_process())
    assert supervisors.present(ledger) is None
