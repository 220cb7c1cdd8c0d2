"""Dagster's runs whose process died do not go on for ever."""

from __future__ import annotations

from pathlib import Path

import dagster as dg

from tests.ledger.making import ask, dead_owner, make_ledger
from training_pipeline.ledger import owners, runs
from training_pipeline.ledger.records import Status
from training_pipeline.reconciling import reconcile


@dg.job
def nothing() -> None:
    """Do nothing."""


def started(instance: dg.DagsterInstance) -> str:
    return instance.create_run_for_job(nothing, status=dg.DagsterRunStatus.STARTED).run_id


def status_of(instance: dg.DagsterInstance, run_id: str) -> dg.DagsterRunStatus:
    run = instance.get_run_by_id(run_id)
    assert run is not None
    return run.status


def test_the_run_of_a_dead_process_is_reported_as_failed(tmp_path: Path) -> None:
    ledger, instance = make_ledger(tmp_path), dg.DagsterInstance.ephemeral()
    left_over = started(instance)
    run_id = ask(ledger, dagster_run_id=left_over).run_id
    assert runs.take_turn(ledger, run_id, dead_owner())
    assert close_left_over_runs(instance, ledger) == [left_over]
    assert runs.get(ledger, run_id).status is Status.INTERRUPTED
    assert status_of(instance, left_over) is dg.DagsterRunStatus.FAILURE


def test_a_run_that_goes_and_one_that_nobody_knows_are_left_alone(tmp_path: Path) -> None:
    ledger, instance = make_ledger(tmp_path), dg.DagsterInstance.ephemeral()
    going, unknown = started(instance), started(instance)
    run_id = ask(ledger, dagster_run_id=going).run_id
    assert runs.take_turn(ledger, run_id, owners.this_process())
    assert close_left_over_runs(instance, ledger) == []
    assert status_of(instance, going) is status_of(instance, unknown) is dg.DagsterRunStatus.STARTED
