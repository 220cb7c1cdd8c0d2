"""Whatever died, ledger and Dagster say the same of every run afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from tests.ledger.making import ask, dead_owner, execute
from tests.origins import origin_of
from tests.running import review_study
from training_pipeline import reconciling
from training_pipeline.assets.stage import RUN_ID_TAG
from training_pipeline.jobs.train import STUDY_TAG
from training_pipeline.ledger import owners, runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import RunRecord, Status
from training_pipeline.reconciling import reconcile, reconcile_at_start
from training_pipeline.study.config import Study, load_study

D = dg.DagsterRunStatus


@dg.job
def nothing() -> None:
    """Do nothing."""


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return load_study(review_study(tmp_path))


@pytest.fixture
def ledger(study: Study) -> Ledger:
    return Ledger(study.database, study.name)


def in_dagster(instance: dg.DagsterInstance, status: D, **tags: str) -> str:
    return instance.create_run_for_job(nothing, status=status, tags=tags, remote_job_origin=origin_of("nothing")).run_id


def waiting(ledger: Ledger, dagster_run_id: str) -> RunRecord:
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


def status_of(instance: dg.DagsterInstance, run_id: str) -> D:
    run = instance.get_run_by_id(run_id)
    assert run is not None
    return run.status


def test_the_run_of_a_dead_process_fails_in_dagster(instance: dg.DagsterInstance, study: Study, ledger: Ledger) -> None:
    left_over = in_dagster(instance, D.STARTED)
    run_id = ask(ledger, dagster_run_id=left_over).run_id
    assert runs.take_turn(ledger, run_id, dead_owner())
    assert len(reconcile(instance, study, ledger)) == 2
    assert runs.get(ledger, run_id).status is Status.INTERRUPTED
    assert status_of(instance, left_over) is D.FAILURE
    assert reconcile(instance, study, ledger) == []


def test_a_run_that_goes_and_one_that_nobody_knows_are_left_alone(
    instance: dg.DagsterInstance, study: Study, ledger: Ledger
) -> None:
    going, unknown = in_dagster(instance, D.STARTED), in_dagster(instance, D.STARTED)
    run_id = ask(ledger, dagster_run_id=going).run_id
    assert runs.take_turn(ledger, run_id, owners.this_process())
    assert reconcile(instance, study, ledger) == []
    assert status_of(instance, going) is status_of(instance, unknown) is D.STARTED


def test_a_run_that_has_ended_here_and_is_being_closed_in_dagster_is_left_alone(
    instance: dg.DagsterInstance, study: Study, ledger: Ledger
) -> None:
    closing = in_dagster(instance, D.STARTED)
    run_id = ask(ledger, dagster_run_id=closing).run_id
    runs.finish(ledger, run_id, Status.ERROR)
    assert reconcile(instance, study, ledger) == []
    assert status_of(instance, closing) is D.STARTED


def test_at_a_start_what_dagster_holds_for_running_has_died(
    instance: dg.DagsterInstance, study: Study, ledger: Ledger
) -> None:
    unknown = in_dagster(instance, D.STARTED)
    reconcile_at_start(instance, study, ledger)
    assert status_of(instance, unknown) is D.FAILURE


@pytest.mark.parametrize("status", [D.STARTING, D.STARTED, D.FAILURE])
def test_at_a_start_a_run_that_was_about_to_start_waits_again(
    instance: dg.DagsterInstance, study: Study, ledger: Ledger, status: D
) -> None:
    taken_out = in_dagster(instance, status)
    run = waiting(ledger, taken_out)
    assert len(reconcile_at_start(instance, study, ledger)) == 1
    assert status_of(instance, taken_out) is D.QUEUED
    assert runs.get(ledger, run.run_id) == run


def test_a_run_that_waits_is_left_in_its_queue(instance: dg.DagsterInstance, study: Study, ledger: Ledger) -> None:
    queued = in_dagster(instance, D.QUEUED)
    run = waiting(ledger, queued)
    assert reconcile_at_start(instance, study, ledger) == []
    assert status_of(instance, queued) is D.QUEUED
    assert runs.get(ledger, run.run_id).status is Status.QUEUED


@pytest.mark.parametrize("status", [Status.CANCELLED, Status.ERROR])
def test_a_run_that_has_left_the_ledgers_queue_leaves_dagsters(
    instance: dg.DagsterInstance, study: Study, ledger: Ledger, status: Status
) -> None:
    queued = in_dagster(instance, D.QUEUED)
    run = waiting(ledger, queued)
    runs.end_waiting(ledger, run.run_id, status, error="Cancelled.", error_code="cancelled")
    reconcile(instance, study, ledger)
    assert status_of(instance, queued) is (D.CANCELED if status is Status.CANCELLED else D.FAILURE)


def test_a_run_that_was_cancelled_or_deleted_in_dagsters_queue_has_left_ours(
    instance: dg.DagsterInstance, study: Study, ledger: Ledger
) -> None:
    cancelled, deleted = waiting(ledger, in_dagster(instance, D.CANCELED)), waiting(ledger, "deleted")
    reconcile(instance, study, ledger)
    found = {run.run_id: (run.status, run.error) for run in runs.list_runs(ledger)}
    assert found == {
        cancelled.run_id: (Status.CANCELLED, "Cancelled."),
        deleted.run_id: (Status.CANCELLED, "Cancelled: its run was deleted in Dagster."),
    }


def test_a_run_that_dagster_could_not_start_says_so(instance: dg.DagsterInstance, study: Study, ledger: Ledger) -> None:
    run = waiting(ledger, in_dagster(instance, D.FAILURE))
    reconcile(instance, study, ledger)
    assert runs.get(ledger, run.run_id).error_code == "not_started"


@pytest.mark.parametrize(
    ("change", "because"),
    [
        (lambda text: text.replace("sentiment", "mood"), "has no schema 'sentiment'; it has mood"),
        (lambda text: text + "\n{", "not YAML"),
    ],
)
def test_a_run_that_dagster_could_not_start_since_the_study_changed_names_the_change(
    instance: dg.DagsterInstance, study: Study, ledger: Ledger, change: object, because: str
) -> None:
    run, following = waiting(ledger, in_dagster(instance, D.FAILURE)), waiting(ledger, in_dagster(instance, D.QUEUED))
    study.config_path.write_text(change(study.config_path.read_text()))  # type: ignore[operator] # a function
    reconcile(instance, study, ledger)
    ended = runs.get(ledger, run.run_id)
    assert (ended.status, ended.error_code) == (Status.ERROR, "invalid_when_dequeued")
    assert ended.error.startswith(f"The study changed while run {run.run_id} waited, so it cannot run any more: ")
    assert because in ended.error
    assert runs.get(ledger, following.run_id).status is Status.QUEUED


def test_a_run_that_was_never_put_into_the_queue_ends_after_a_while(
    instance: dg.DagsterInstance, study: Study, ledger: Ledger
) -> None:
    run = waiting(ledger, in_dagster(instance, D.NOT_STARTED))
    assert reconcile(instance, study, ledger) == []
    execute(ledger.path, "UPDATE pipeline_runs SET created_at = created_at - 600")
    reconcile(instance, study, ledger)
    reconcile(instance, study, ledger)
    assert runs.get(ledger, run.run_id).error_code == "not_started"


def test_a_run_whose_starting_process_died_waits_again_after_a_while(
    instance: dg.DagsterInstance, study: Study, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    starting = in_dagster(instance, D.STARTING)
    waiting(ledger, starting)
    reconcile(instance, study, ledger)
    assert status_of(instance, starting) is D.STARTING
    monkeypatch.setattr(reconciling, "_SECONDS_TO_START", -1.0)
    reconcile(instance, study, ledger)
    assert status_of(instance, starting) is D.QUEUED


def test_half_written_training_data_of_ended_runs_goes(
    instance: dg.DagsterInstance, study: Study, ledger: Ledger
) -> None:
    going = ask(ledger)
    for run_id in (going.run_id, "20250101T000000-000000"):
        (study.runs_dir / run_id / "bundle.partial-77").mkdir(parents=True)
    reconcile(instance, study, ledger)
    assert [path.parent.name for path in study.runs_dir.glob("*/bundle.partial-*")] == [going.run_id]


def test_dagster_forgets_the_runs_that_the_ledger_has_forgotten(
    instance: dg.DagsterInstance, study: Study, ledger: Ledger
) -> None:
    of_study = {STUDY_TAG: str(study.task_dir)}
    refused_long_ago = in_dagster(instance, D.FAILURE, **of_study)
    kept = in_dagster(instance, D.SUCCESS, **of_study, **{RUN_ID_TAG: "kept"})
    run_id = ask(ledger, dagster_run_id=kept).run_id
    runs.finish(ledger, run_id, Status.ERROR)
    forgotten = in_dagster(instance, D.SUCCESS, **of_study, **{RUN_ID_TAG: "forgotten"})
    refused = in_dagster(instance, D.FAILURE, **of_study)
    anothers = in_dagster(instance, D.SUCCESS, **{STUDY_TAG: "/another", RUN_ID_TAG: "x"})
    reconcile(instance, study, ledger)
    assert {run.run_id for run in instance.get_runs()} == {kept, refused, anothers}
    assert forgotten not in {run.run_id for run in instance.get_runs()}
    assert refused_long_ago not in {run.run_id for run in instance.get_runs()}
