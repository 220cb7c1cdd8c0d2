"""Dagster's queue does as the ledger says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.run_coordinator import SubmitRunContext

from tests.ledger.making import ask
from tests.origins import origin_of
from tests.running import review_study
from training_pipeline.assets.stage import AUTO, CHAIN, RUN_ID_TAG, TRIGGER_TAG
from training_pipeline.coordinator import StudyQueue
from training_pipeline.definitions import build_definitions
from training_pipeline.instance import open_instance
from training_pipeline.jobs.train import SCHEMA_TAG, STUDY_TAG
from training_pipeline.ledger import runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.owners import this_process
from training_pipeline.ledger.records import RunRecord, Status
from training_pipeline.study.config import Study, load_study

D = dg.DagsterRunStatus


@dataclass(frozen=True)
class Queue:
    """A study's Dagster, and what a person does in its UI."""

    study: Study
    ledger: Ledger
    instance: dg.DagsterInstance

    @property
    def coordinator(self) -> StudyQueue:
        found = self.instance.run_coordinator
        assert isinstance(found, StudyQueue)
        return found

    def launch(self, job: str = "train_sentiment", config: Any = None, **given: Any) -> dg.DagsterRun:
        definition = build_definitions(self.study).resolve_job_def(job)
        run = self.instance.create_run_for_job(
            definition, run_config=config or {}, remote_job_origin=origin_of(job), **given
        )
        return self.coordinator.submit_run(SubmitRunContext(run, workspace=None))  # type: ignore[arg-type] # not used

    @property
    def newest(self) -> RunRecord:
        return runs.list_runs(self.ledger)[0]

    def status_of(self, run: dg.DagsterRun) -> D:
        found = self.instance.get_run_by_id(run.run_id)
        assert found is not None
        return found.status


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Queue]:
    config = review_study(tmp_path, training={"queue_max": 1})
    monkeypatch.setenv("TRAINING_PIPELINE_CONFIG", str(config))
    study = load_study(config)
    with open_instance(study) as instance:
        yield Queue(study, Ledger(study.database, study.name), instance)


def test_a_run_gets_its_row_when_it_is_asked_for(at: Queue) -> None:
    launched = at.launch(config={"params": {"min_instances": 20}})
    run = at.newest
    assert (launched.status, run.status, run.waits_in) == (D.QUEUED, Status.QUEUED, "dagster")
    assert (run.dagster_run_id, run.requested_params, run.trigger) == (launched.run_id, {"min_instances": 20}, "manual")
    tags = at.instance.get_run_by_id(launched.run_id)
    assert tags is not None
    assert tags.tags[RUN_ID_TAG] == run.run_id


def test_a_chain_started_from_the_graph_is_a_run_of_the_study_too(at: Queue) -> None:
    chain = frozenset(dg.AssetKey(["sentiment", asset]) for asset in CHAIN)
    config = {"ops": {"sentiment__fitted_model": {"config": {"params": {"calibrate": False}}}}}
    launched = at.launch("__ASSET_JOB", config, asset_selection=chain)
    found = at.instance.get_run_by_id(launched.run_id)
    assert found is not None
    assert (found.tags[STUDY_TAG], found.tags[SCHEMA_TAG]) == (str(at.study.task_dir), "sentiment")
    assert at.newest.requested_params == {"calibrate": False}


def test_a_part_of_a_chain_is_no_run(at: Queue) -> None:
    launched = at.launch("__ASSET_JOB", asset_selection=frozenset({dg.AssetKey(["sentiment", "agreed_labels"])}))
    assert launched.status is D.QUEUED
    assert runs.list_runs(at.ledger) == []


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"trainer": "nope"}, "There is no trainer 'nope'."),
        ({"backend": "moon"}, "There is no backend 'moon'; there are local."),
    ],
)
def test_what_cannot_run_is_refused_at_once_in_one_sentence(at: Queue, config: dict[str, str], sentence: str) -> None:
    with pytest.raises(Exception, match=f"^{re.escape(sentence)}"):
        at.launch(config=config)
    assert runs.list_runs(at.ledger) == []


def test_the_queue_is_full_for_dagster_as_for_everybody(at: Queue) -> None:
    ask(at.ledger)
    at.launch()
    with pytest.raises(Exception, match=r"is queued and 1 more wait, which is all that .*queue_max \(1\) allows"):
        at.launch()


def test_an_automatic_run_never_waits(at: Queue) -> None:
    ask(at.ledger)
    with pytest.raises(Exception, match="one run goes at a time"):
        at.launch(tags={TRIGGER_TAG: AUTO})


def test_a_study_that_broke_refuses_with_its_problem(at: Queue) -> None:
    at.study.config_path.write_text("{")
    with pytest.raises(Exception, match="not YAML"):
        at.coordinator.submit_run(
            SubmitRunContext(at.instance.create_run_for_job(_job()), workspace=None)  # type: ignore[arg-type] # not used
        )


def _job() -> dg.JobDefinition:
    @dg.job
    def nothing() -> None:
        """Do nothing."""

    return nothing


def test_a_run_cancelled_in_the_queue_leaves_both(at: Queue) -> None:
    launched = at.launch()
    assert at.coordinator.cancel_run(launched.run_id)
    assert (at.newest.status, at.status_of(launched)) == (Status.CANCELLED, D.CANCELED)


def test_a_run_that_has_published_cannot_be_cancelled_any_more(at: Queue) -> None:
    launched = at.launch()
    with at.ledger.transaction() as connection:
        connection.execute("UPDATE pipeline_runs SET status = 'success'")
    assert not at.coordinator.cancel_run(launched.run_id)
    assert at.status_of(launched) is D.QUEUED


def limits_of_study(at: Queue) -> list[int]:
    found = at.coordinator.get_run_queue_config().tag_concurrency_limits
    return [limit["limit"] for limit in found if limit.get("value") == str(at.study.task_dir)]


def test_no_run_leaves_the_queue_while_one_of_the_command_line_goes_or_waits(at: Queue) -> None:
    at.launch()
    assert limits_of_study(at) == []
    with at.ledger.transaction() as connection:
        connection.execute("DELETE FROM pipeline_runs")
    run_id = ask(at.ledger).run_id
    at.launch()
    assert limits_of_study(at) == [0]
    assert runs.take_turn(at.ledger, run_id, this_process())
    assert limits_of_study(at) == [0]
    runs.finish(at.ledger, run_id, Status.ERROR)
    assert limits_of_study(at) == []


def test_the_queue_moves_on_while_the_config_is_broken(at: Queue) -> None:
    at.launch()
    assert limits_of_study(at) == []
    at.study.config_path.write_text("{")
    assert limits_of_study(at) == []
