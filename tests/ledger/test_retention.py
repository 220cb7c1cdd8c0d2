from __future__ import annotations

from pathlib import Path

from tests.ledger.making import PROJECT, ask, dead_owner, evaluating, execute, make_ledger
from training_pipeline.ledger import runs, splits
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.owners import this_process
from training_pipeline.ledger.records import Status
from training_pipeline.ledger.retention import prune, reconcile


def ended(ledger: Ledger, status: Status = Status.ERROR) -> str:
    run_id = evaluating(ledger, {"a": "train"})
    runs.finish(ledger, run_id, status)
    return run_id


def runs_with_items(ledger: Ledger) -> tuple[str, ...]:
    with ledger.read() as connection:
        return splits.runs_with_items(connection, ledger.project)


def test_the_newest_runs_stay_whatever_their_outcome(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    ids = [ended(ledger, status) for status in (Status.ERROR, Status.CANCELLED, Status.INTERRUPTED)]
    assert prune(ledger, retain_runs=2) == ids[:1]
    assert [run.run_id for run in runs.list_runs(ledger)] == [ids[2], ids[1]]
    assert execute(ledger.path, "SELECT run_id FROM training_runs ORDER BY run_id") == [(ids[1],), (ids[2],)]
    assert runs_with_items(ledger) == (ids[1], ids[2])


def test_a_run_with_a_prediction_shown_stays(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    old, new = ended(ledger), ended(ledger)
    execute(
        ledger.path, "INSERT INTO training_predictions VALUES (?, 'b', 'sentiment', ?, '\"x\"', 1, 0)", PROJECT, old
    )
    assert prune(ledger, retain_runs=0) == [new]


def test_runs_that_wait_or_go_stay_the_servers_too(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    going = evaluating(ledger, {"a": "train"})
    waiting = ask(ledger).run_id
    execute(
        ledger.path,
        "INSERT INTO training_runs (project, run_id, trainer, status, created_at) VALUES (?, 'x', 't', 'running', 1)",
        PROJECT,
    )
    assert prune(ledger, retain_runs=0) == []
    assert {run.run_id for run in runs.list_runs(ledger)} == {going, waiting, "x"}
    assert runs_with_items(ledger) == (going,)


def test_another_projects_runs_stay(tmp_path: Path) -> None:
    other = make_ledger(tmp_path, "another")
    run_id = ended(other)
    prune(make_ledger(tmp_path), retain_runs=0)
    assert [run.run_id for run in runs.list_runs(other)] == [run_id]
    assert runs_with_items(other) == (run_id,)


def test_reconcile_ends_what_nobody_works_on_and_removes_what_it_left_half_done(tmp_path: Path) -> None:
    ledger, dead = make_ledger(tmp_path), dead_owner()
    run_id = ask(ledger, owner=dead).run_id
    runs.take_turn(ledger, run_id, dead)
    execute(ledger.path, "INSERT INTO training_run_items VALUES (?, ?, 'a', 'train')", PROJECT, run_id)
    assert [run.run_id for run in reconcile(ledger)] == [run_id]
    assert runs.get(ledger, run_id).status is Status.INTERRUPTED
    assert runs_with_items(ledger) == ()
    assert reconcile(ledger) == []


def test_reconcile_leaves_living_and_complete_runs_alone(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    complete = ended(ledger)
    going = ask(ledger).run_id
    runs.take_turn(ledger, going, this_process())
    execute(ledger.path, "INSERT INTO training_run_items VALUES (?, ?, 'a', 'train')", PROJECT, going)
    assert reconcile(ledger) == []
    assert runs_with_items(ledger) == (complete, going)
