from __future__ import annotations

import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.ledger.making import PROJECT, ask, dead_owner, evaluating, execute, make_ledger
from training_pipeline.errors import PipelineError
from training_pipeline.ledger import runs, staging
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.owners import this_process
from training_pipeline.ledger.records import Cost, Progress, Status, WritebackReport
from training_pipeline.scoring.headline import Headline

REPORT = WritebackReport(None, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, ("sentiment",), ("a warning",), "Published 2 of 3")


def report_written(ledger: Ledger, run_id: str) -> None:
    with ledger.transaction() as connection:
        staging.save_report(connection, ledger.project, REPORT, run_id)


def refusal(call: Callable[[], object]) -> PipelineError:
    with pytest.raises(PipelineError) as refused:
        call()
    return refused.value


def test_ids_are_unique_and_sort_by_time(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    ids = [ask(ledger, queue_max=100).run_id for _ in range(40)]
    assert ids == sorted(set(ids))
    assert all(re.fullmatch(r"\d{8}T\d{6}-[0-9a-f]{6}", run_id) for run_id in ids)
    assert abs(datetime.strptime(ids[0][:15], "%Y%m%dT%H%M%S").replace(tzinfo=UTC).timestamp() - _now()) < 5


def test_ids_rise_when_the_clock_jumps_back(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    ask(ledger)
    execute(ledger.path, "UPDATE pipeline_runs SET run_id = '29990101T000000-ffffff'")
    assert ask(ledger).run_id.startswith("29990101T000001-")


def test_a_run_goes_through_its_statuses_to_success(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    run_id = evaluating(ledger, {"a": "train", "b": "val"})
    report_written(ledger, run_id)
    ended = runs.finish(ledger, run_id, Status.SUCCESS, metrics={"val_macro_f1": 0.5})
    assert ended == runs.get(ledger, run_id)
    assert (ended.status, ended.n_train, ended.n_val, ended.n_test) == (Status.SUCCESS, 1, 1, 0)
    assert ended.started_at is not None
    assert ended.finished_at is not None
    assert ended.created_at <= ended.started_at <= ended.finished_at


def test_every_fact_comes_back_as_it_was_written(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    run_id = ask(ledger, requested_params={"C": 10}, kinds=["nominal"], dagster_run_id="d-1").run_id
    headline = Headline("val", "macro_f1", 0.71, 0.6, None, 29)
    runs.record(
        ledger,
        run_id,
        params={"C": 10, "größe": ["a|b"]},
        metrics={"val_macro_f1": 0.71},
        headline=headline,
        comparable=False,
        cost=Cost(wall_seconds=1.5, peak_rss_mb=200),
        n_unlabeled=7,
    )
    runs.warn(ledger, run_id, ["one"])
    runs.warn(ledger, run_id, ["two", "one"])
    runs.report_progress(ledger, run_id, Progress("fit", 3, 10, "epoch 3"))
    run = runs.get(ledger, run_id)
    assert run.requested_params == {"C": 10}
    assert run.params == {"C": 10, "größe": ["a|b"]}
    assert run.headline == headline
    assert run.warnings == ("one", "two")
    assert run.cost == Cost(1.5, 200)
    assert run.progress == Progress("fit", 3, 10, "epoch 3")
    assert run.owner == this_process()
    assert (run.comparable, run.n_unlabeled, run.kinds, run.dagster_run_id) == (False, 7, ("nominal",), "d-1")
    assert run.as_json()["headline"] == {
        "split": "val", "metric": "macro_f1", "value": 0.71, "low": 0.6, "high": None, "n": 29, "n_groups": None
    }  # fmt: skip


@pytest.mark.parametrize("status", [Status.EVALUATING, Status.SUCCESS, Status.QUEUED, Status.BUILDING])
def test_no_status_is_skipped_or_gone_back_to(tmp_path: Path, status: Status) -> None:
    ledger = make_ledger(tmp_path)
    run_id = ask(ledger).run_id
    runs.take_turn(ledger, run_id, this_process())
    assert refusal(lambda: runs.advance(ledger, run_id, status)).code == "bad_transition"
    assert runs.get(ledger, run_id).status is Status.BUILDING


def test_success_needs_the_write_back(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    run_id = evaluating(ledger, {"a": "train"})
    assert "before its write-back is done" in str(refusal(lambda: runs.finish(ledger, run_id, Status.SUCCESS)))


@pytest.mark.parametrize("status", [Status.ERROR, Status.CANCELLED, Status.INTERRUPTED])
def test_what_has_ended_stays_ended(tmp_path: Path, status: Status) -> None:
    ledger = make_ledger(tmp_path)
    run_id = ask(ledger).run_id
    runs.finish(ledger, run_id, status, error="Stopped.", error_code="stopped")
    assert refusal(lambda: runs.finish(ledger, run_id, Status.ERROR)).code == "already_ended"
    assert refusal(lambda: runs.take_turn(ledger, run_id, this_process())).code == "stopped"
    assert runs.get(ledger, run_id).status is status


def test_an_ended_run_stands_in_potatos_table(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    run_id = evaluating(ledger, {"a": "train", "b": "test"})
    assert execute(ledger.path, "SELECT * FROM training_runs") == []
    runs.finish(ledger, run_id, Status.ERROR, error="No.", error_code="fit_failed", params={"C": 1})
    assert execute(
        ledger.path,
        "SELECT project, run_id, trainer, schema_names, status, n_train, n_test, params, error, error_code"
        " FROM training_runs",
    ) == [(PROJECT, run_id, "sklearn-text", '["sentiment"]', "error", 1, 1, '{"C": 1}', "No.", "fit_failed")]


def test_facts_of_an_ended_run_reach_potatos_table_too(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    run_id = ask(ledger).run_id
    runs.finish(ledger, run_id, Status.CANCELLED)
    runs.record(ledger, run_id, metrics={"val_mae": 1.0})
    assert execute(ledger.path, "SELECT status, metrics FROM training_runs") == [("cancelled", '{"val_mae": 1.0}')]


def test_one_run_goes_and_the_others_wait_in_order(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    first, second, third = (ask(ledger).run_id for _ in range(3))
    assert [runs.position(ledger, run_id) for run_id in (first, second, third)] == [1, 2, 3]
    assert not runs.take_turn(ledger, second, this_process())
    assert runs.take_turn(ledger, first, this_process())
    assert not runs.take_turn(ledger, second, this_process())
    assert [runs.position(ledger, run_id) for run_id in (first, second, third)] == [None, 1, 2]
    runs.finish(ledger, first, Status.ERROR)
    assert not runs.take_turn(ledger, third, this_process())
    assert runs.take_turn(ledger, second, this_process())


def test_only_one_of_many_at_once_gets_the_turn(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    run_ids = [ask(ledger).run_id for _ in range(8)]
    got: list[str] = []

    def race(run_id: str) -> None:
        if runs.take_turn(ledger, run_id, this_process()):
            got.append(run_id)

    threads = [threading.Thread(target=race, args=(run_id,)) for run_id in run_ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == run_ids[:1]


def test_runs_whose_process_died_let_others_pass(tmp_path: Path) -> None:
    ledger, dead = make_ledger(tmp_path), dead_owner()
    going = ask(ledger, owner=dead).run_id
    waiting, mine = ask(ledger).run_id, ask(ledger).run_id
    execute(ledger.path, "UPDATE pipeline_runs SET status = 'running' WHERE run_id = ?", going)
    execute(
        ledger.path,
        "UPDATE pipeline_runs SET owner = (SELECT owner FROM pipeline_runs WHERE run_id = ?1) WHERE run_id = ?2",
        going,
        waiting,
    )
    assert runs.take_turn(ledger, mine, this_process())
    assert [runs.get(ledger, run_id).status for run_id in (going, waiting)] == [Status.INTERRUPTED] * 2
    assert f"pid {dead.pid}" in runs.get(ledger, going).error
    # Potato's table has no such status.
    assert execute(ledger.path, "SELECT DISTINCT status, error_code FROM training_runs") == [("error", "interrupted")]


def test_a_run_asked_for_by_a_process_that_ended_can_be_taken_over(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    run_id = ask(ledger, owner=dead_owner()).run_id
    assert runs.take_turn(ledger, run_id, this_process())
    assert runs.get(ledger, run_id).owner == this_process()


def test_a_run_that_may_not_wait_is_refused(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    first = ask(ledger, may_wait=False).run_id
    refused = refusal(lambda: ask(ledger, may_wait=False))
    assert refused.code == "busy"
    assert first in str(refused)


def test_queue_max_counts_those_that_wait(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    ask(ledger, queue_max=0)
    assert refusal(lambda: ask(ledger, queue_max=0)).code == "queue_full"
    ask(ledger, queue_max=1)
    refused = refusal(lambda: ask(ledger, queue_max=1))
    assert refused.code == "queue_full"
    assert "queue_max (1)" in str(refused)


def test_the_newest_success_for_a_schema(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    for schema, status in (("sentiment", Status.SUCCESS), ("topic", Status.SUCCESS), ("sentiment", Status.ERROR)):
        run_id = evaluating(ledger, {"a": "train"}, schema_names=[schema])
        report_written(ledger, run_id)
        runs.finish(ledger, run_id, status)
    newest = runs.latest_success(ledger, "sentiment")
    assert newest is not None
    assert newest.run_id == runs.list_runs(ledger)[-1].run_id
    assert runs.latest_success(ledger, "stance") is None


def test_projects_in_one_file_do_not_see_each_other(tmp_path: Path) -> None:
    ours, theirs = make_ledger(tmp_path), make_ledger(tmp_path, "Another study")
    run_id = ask(theirs).run_id
    runs.take_turn(theirs, run_id, this_process())
    assert runs.list_runs(ours) == []
    assert runs.take_turn(ours, ask(ours).run_id, this_process())
    assert refusal(lambda: runs.get(ours, run_id)).code == "unknown_run"
    assert refusal(lambda: runs.finish(ours, run_id, Status.ERROR)).code == "unknown_run"


def _now() -> float:
    return datetime.now(tz=UTC).timestamp()
