"""The training job of a schema: its short form, and what it says of itself."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from tests.running import InstantBackend, review_study, train
from training_pipeline.definitions import build_definitions
from training_pipeline.jobs.train import SCHEMA_TAG, STUDY_TAG, job_name
from training_pipeline.study.config import load_study
from training_pipeline.study.kinds import Kind
from training_pipeline.study.schemas import Schema
from training_pipeline.trainers.registry import NAMES


@pytest.mark.parametrize("name", ["review sentiment", "a/b", "тема", "重さ"])
def test_its_name_is_one_that_dagster_takes(name: str) -> None:
    assert job_name(Schema(name, "radio", Kind.NOMINAL, options=("a", "b"))).removeprefix("train_").isascii()


def test_it_tells_the_schemas_true_name_and_the_study(tmp_path: Path) -> None:
    study = load_study(review_study(tmp_path))
    job = build_definitions(study).resolve_job_def("train_sentiment")
    assert job.tags[SCHEMA_TAG] == "sentiment"
    assert job.tags[STUDY_TAG] == str(study.task_dir)
    assert job.description == (
        "Train on sentiment, score on held-out items, and publish pre-labels. Trainers that fit: sklearn-text; "
        "default sklearn-text."
    )


def test_the_launchpads_params_reach_the_run(tmp_path: Path) -> None:
    asked = {"trainer": "sklearn-text", "backend": "local", "params": {"min_instances": 20}}
    ran = train(review_study(tmp_path), asked=asked, backend=InstantBackend())
    assert ran.run.requested_params == {"min_instances": 20}
    assert ran.run.params["min_instances"] == 20
    assert ran.run.trigger == "manual"


def test_a_key_that_the_short_form_lacks_is_refused_before_the_run(tmp_path: Path) -> None:
    config = review_study(tmp_path)
    with pytest.raises(dg.DagsterInvalidConfigError, match='unexpected config entry "trainr"'):
        train(config, asked={"trainr": "sklearn-text"}, backend=InstantBackend())
    assert not (tmp_path / "project.sqlite").exists()


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"trainer": "nope"}, f"There is no trainer 'nope'. There are: {', '.join(NAMES)}."),
        ({"backend": "moon"}, "There is no backend 'moon'; there are local."),
    ],
)
def test_what_is_unknown_is_named(tmp_path: Path, asked: dict[str, str], sentence: str) -> None:
    refused = train(review_study(tmp_path), asked=asked, backend=InstantBackend())
    assert set(refused.failures) == {sentence}
    assert not refused.study.training_dir.exists()
