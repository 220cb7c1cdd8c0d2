"""The sensor as Dagster's daemon asks it, and the run that it starts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from click.testing import CliRunner

from tests.running import InstantBackend, review_answers, review_study, reviews
from tests.studies import write_answers
from training_pipeline.cli.main import main
from training_pipeline.definitions import build_definitions
from training_pipeline.errors import PipelineError
from training_pipeline.ledger import runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import RunRecord, Status
from training_pipeline.study.config import Study, load_study

AUTO = {"enabled": True, "trainer": "sklearn-text", "schemas": ["sentiment"], "update_frequency": 25}


class Daemon:
    """Asks the sensor, and carries out the run that it wants."""

    def __init__(self, config: Path) -> None:
        self.instance = dg.DagsterInstance.ephemeral()
        self.study: Study = load_study(config)
        self.ledger = Ledger(self.study.database, self.study.name)
        self.definitions = build_definitions(self.study, backend=InstantBackend())

    def ask(self) -> dg.RunRequest | str:
        """Return the run that the sensor wants, else why it wants none."""
        sensor = self.definitions.resolve_sensor_def("auto_retrain")
        with dg.build_sensor_context(instance=self.instance, resources={"ledger": self.ledger}) as context:
            said = sensor(context)
        if isinstance(said, dg.SkipReason):
            return said.skip_message or ""
        assert isinstance(said, dg.RunRequest)
        return said

    def carry_out(self, wanted: dg.RunRequest) -> RunRecord:
        job = self.definitions.resolve_job_def("train_sentiment")
        job.execute_in_process(
            instance=self.instance,
            run_config=wanted.run_config,
            tags={**job.tags, **wanted.tags, "dagster/run_key": wanted.run_key or ""},
            raise_on_error=False,
        )
        return runs.list_runs(self.ledger)[0]

    def label(self, annotator: str, n: int) -> None:
        write_answers(self.study.output_dir, annotator, review_answers(n, (annotator,))[annotator])


def study(directory: Path, *, n_labelled: int = 20, **settings: Any) -> Path:
    answers = review_answers(n_labelled, ("ann",))
    training = {"auto_retrain": {**AUTO, **settings}}
    return review_study(directory, answers=answers, training=training)


@pytest.fixture
def daemon(tmp_path: Path) -> Daemon:
    return Daemon(study(tmp_path, min_interval_s=0))


def test_it_says_why_it_starts_nothing_in_the_tick_and_in_the_status(tmp_path: Path) -> None:
    config = study(tmp_path)
    unasked = CliRunner().invoke(main, ["status", str(config)]).output
    assert "Automatic runs: nobody has asked yet; `training-pipeline up` does, every few seconds\n" in unasked
    assert Daemon(config).ask() == "waiting for 5 more annotation(s)"
    status = json.loads(CliRunner().invoke(main, ["status", str(config), "--json"]).output)
    assert (status["auto_retrain"], status["skip_reason"]) == (True, "waiting for 5 more annotation(s)")
    assert "Automatic runs: waiting for 5 more annotation(s) (0 seconds ago)\n" in (
        CliRunner().invoke(main, ["status", str(config)]).output
    )


def test_the_run_that_it_starts_is_the_configs(tmp_path: Path) -> None:
    daemon = Daemon(study(tmp_path, params={"min_instances": 12}))
    daemon.label("ann", 25)
    wanted = daemon.ask()
    assert isinstance(wanted, dg.RunRequest)
    assert wanted.run_config == {"trainer": "sklearn-text", "params": {"min_instances": 12}, "backend": "local"}
    run = daemon.carry_out(wanted)
    assert (run.status, run.error) == (Status.SUCCESS, "")
    assert (run.trigger, run.trainer, run.schema_names) == ("auto", "sklearn-text", ("sentiment",))
    assert run.requested_params == {"min_instances": 12}


def test_run_after_run_each_annotation_counts_once(daemon: Daemon) -> None:
    keys = []
    for n in (25, 50, 75):
        daemon.label("ann", n)
        wanted = daemon.ask()
        assert isinstance(wanted, dg.RunRequest)
        keys.append(wanted.run_key)
        assert daemon.carry_out(wanted).status is Status.SUCCESS
        assert daemon.ask() == "waiting for 25 more annotation(s)"
    assert len(set(keys)) == 3
    daemon.label("ben", 24)
    assert daemon.ask() == "waiting for 1 more annotation(s)"


def test_a_run_that_fails_is_not_followed_by_another(daemon: Daemon) -> None:
    daemon.label("ann", 25)
    items = daemon.study.task_dir / "data" / "items.jsonl"
    items.write_text("{")
    wanted = daemon.ask()
    assert isinstance(wanted, dg.RunRequest)
    run = daemon.carry_out(wanted)
    assert (run.status, run.error_code) == (Status.ERROR, "bad_items")
    items.write_text("".join(json.dumps(item) + "\n" for item in reviews(120)))
    assert daemon.ask() == "waiting for 25 more annotation(s)"


def test_one_that_dagster_has_but_has_not_begun_is_in_progress(daemon: Daemon) -> None:
    daemon.label("ann", 25)
    wanted = daemon.ask()
    assert isinstance(wanted, dg.RunRequest)
    job = daemon.definitions.resolve_job_def("train_sentiment")
    tags = {**job.tags, **wanted.tags}
    waiting = daemon.instance.create_run_for_job(job, run_config=wanted.run_config, tags=tags)
    assert daemon.ask() == "a run is already in progress"
    daemon.instance.report_run_failed(waiting, "The machine was restarted.")
    again = daemon.ask()
    assert isinstance(again, dg.RunRequest)
    assert again.run_key != wanted.run_key


def test_it_runs_from_the_start_and_looks_whenever_the_daemon_comes_by(daemon: Daemon) -> None:
    sensor = daemon.definitions.resolve_sensor_def("auto_retrain")
    assert sensor.default_status is dg.DefaultSensorStatus.RUNNING
    assert (sensor.minimum_interval_seconds or 30) < 5
    assert sensor.description == (
        "Train on sentiment with sklearn-text after 25 new annotations, 0 seconds after the last run at the earliest."
    )


@pytest.mark.parametrize(
    "training", [{}, {"auto_retrain": {**AUTO, "enabled": False}}, {"enabled": False, "auto_retrain": AUTO}]
)
def test_without_auto_retrain_there_is_none(tmp_path: Path, training: dict[str, Any]) -> None:
    config = review_study(tmp_path, training=training)
    assert list(build_definitions(load_study(config)).sensors or ()) == []
    assert "Automatic runs: off\n" in CliRunner().invoke(main, ["status", str(config)]).output


def test_a_run_that_could_never_start_is_refused_when_the_study_loads(tmp_path: Path) -> None:
    config = study(tmp_path, params={"epochs": 3})
    with pytest.raises(PipelineError, match="sklearn-text does not take epochs"):
        build_definitions(load_study(config))
