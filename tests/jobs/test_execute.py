"""The process that carries out one run ends it in the ledger, whatever happens."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from tests.ledger.making import ask
from tests.running import InstantBackend, review_study
from training_pipeline.instance import open_instance
from training_pipeline.jobs import execute
from training_pipeline.ledger import runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import RunRecord, Status
from training_pipeline.study.config import Study, load_study


@pytest.fixture(autouse=True)
def signals_as_they_were() -> Iterator[None]:
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


def asked_for(config: Path) -> tuple[Ledger, str]:
    study = load_study(config)
    ledger = Ledger(study.database, study.name)
    return ledger, ask(ledger).run_id


def executed(config: Path) -> tuple[int, RunRecord]:
    ledger, run_id = asked_for(config)
    status = execute.main(str(config), run_id, backend=InstantBackend())
    return status, runs.get(ledger, run_id)


@pytest.mark.slow
def test_the_run_that_was_asked_for_is_the_one_that_runs(tmp_path: Path) -> None:
    config = review_study(tmp_path)
    status, run = executed(config)
    assert (status, run.status) == (0, Status.SUCCESS)
    with open_instance(load_study(config)) as instance:
        (dagster_run,) = instance.get_runs()
    assert dagster_run.run_id == run.dagster_run_id
    assert dagster_run.tags["training/run_id"] == run.run_id


def test_an_error_of_a_step_ends_the_run_with_its_sentence(tmp_path: Path) -> None:
    status, run = executed(review_study(tmp_path, items=[], answers={}))
    assert (status, run.status, run.error_code) == (1, Status.ERROR, "bundle_failed")


def test_a_failure_outside_our_steps_ends_the_run_and_names_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_study: Study) -> dg.Definitions:
        raise RuntimeError("Dagster went away")

    monkeypatch.setattr(execute, "build_definitions", failing)
    config = review_study(tmp_path)
    ledger, run_id = asked_for(config)
    with pytest.raises(RuntimeError, match="Dagster went away"):
        execute.main(str(config), run_id)
    run = runs.get(ledger, run_id)
    log = tmp_path / "annotation_output" / "training" / "runs" / run_id / "dagster.log"
    assert (run.status, run.error_code) == (Status.ERROR, "unexpected")
    assert run.error == f"The run failed outside its own steps, which is a defect of this program; {log} says where."


def test_a_dagster_run_that_fails_without_a_word_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @dg.op
    def broken() -> None:
        raise RuntimeError("not in a stage")

    @dg.config_mapping(config_schema=dict)
    def anything(_val: object) -> dict[str, object]:
        return {}

    @dg.job(name="train_sentiment", config=anything)
    def job() -> None:
        broken()

    monkeypatch.setattr(execute, "build_definitions", lambda _study: dg.Definitions(jobs=[job]))
    config = review_study(tmp_path)
    ledger, run_id = asked_for(config)
    assert execute.main(str(config), run_id) == 1
    assert runs.get(ledger, run_id).error_code == "unexpected"


def test_an_interruption_outside_a_step_cancels_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_study: Study) -> dg.Definitions:
        signal.raise_signal(signal.SIGTERM)
        raise AssertionError("the signal was not felt")

    monkeypatch.setattr(execute, "build_definitions", interrupted)
    config = review_study(tmp_path)
    ledger, run_id = asked_for(config)
    assert execute.main(str(config), run_id) == 1
    run = runs.get(ledger, run_id)
    assert (run.status, run.error, run.error_code) == (Status.CANCELLED, "Cancelled.", "cancelled")
