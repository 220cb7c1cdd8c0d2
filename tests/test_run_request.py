"""What a run request means, and every reason why it cannot go."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.studies import SENTIMENT, make_study
from training_pipeline.errors import PipelineError
from training_pipeline.run_request import resolve
from training_pipeline.study.config import Study, load_study

SPAN = {"annotation_type": "span", "name": "parts", "description": "?", "labels": ["a"]}


def study(directory: Path, **training: Any) -> Study:
    return load_study(make_study(directory, schemes=[SENTIMENT, SPAN], training=training))


def refusal(study: Study, *asked: Any) -> tuple[str, str]:
    with pytest.raises(PipelineError) as raised:
        resolve(study, *asked)
    return raised.value.code, str(raised.value)


def test_what_is_left_out_is_the_studys_default(tmp_path: Path) -> None:
    request = resolve(study(tmp_path), "sentiment")
    assert (request.trainer, request.backend, request.requested_params) == ("sklearn-text", "local", {})
    assert request.params["min_instances"] == 10


def test_a_runs_params_beat_the_studys_and_those_the_trainers(tmp_path: Path) -> None:
    ours = study(tmp_path, trainer_params={"sklearn-text": {"min_instances": 30, "calibrate": False}})
    params = resolve(ours, "sentiment", None, None, {"min_instances": 5}).params
    assert (params["min_instances"], params["calibrate"]) == (5, False)
    assert params["vectorizer"] == "sklearn.feature_extraction.text.TfidfVectorizer"


def test_a_study_without_training(tmp_path: Path) -> None:
    ours = study(tmp_path, enabled=False)
    assert refusal(ours, "sentiment") == (
        "not_enabled",
        f"{ours.config_path}: set model_training.enabled to true to train.",
    )


def test_an_unknown_schema_names_those_there_are(tmp_path: Path) -> None:
    ours = study(tmp_path)
    assert refusal(ours, "tone") == (
        "unknown_schema",
        f"{ours.config_path} has no schema 'tone'; it has sentiment, parts",
    )


def test_an_unknown_trainer_names_those_there_are(tmp_path: Path) -> None:
    assert refusal(study(tmp_path), "sentiment", "nope") == (
        "unknown_trainer",
        "There is no trainer 'nope'; there are: sklearn-text.",
    )


def test_an_unknown_backend_names_those_there_are(tmp_path: Path) -> None:
    assert refusal(study(tmp_path), "sentiment", None, "moon") == (
        "unknown_backend",
        "A run cannot go to 'moon': runs go to local only. Known: local.",
    )


def test_a_schema_that_the_trainer_cannot_learn(tmp_path: Path) -> None:
    assert refusal(study(tmp_path), "parts", "sklearn-text") == (
        "schema_not_learnable",
        "sklearn-text cannot learn 'parts', whose answers are span; it learns nominal, ordinal, multilabel, "
        "continuous.",
    )
    assert refusal(study(tmp_path), "parts")[0] == "schema_not_learnable"


def test_every_wrong_param_is_listed_at_once(tmp_path: Path) -> None:
    code, message = refusal(study(tmp_path), "sentiment", None, None, {"nonsense": 1, "calibrate": "yes"})
    assert code == "bad_params"
    assert message.splitlines() == [
        "sklearn-text does not take nonsense; it takes classifier, classifier_kwargs, vectorizer, vectorizer_kwargs, "
        "calibrate, min_instances.",
        "sklearn-text: calibrate must be true or false; it is 'yes'.",
    ]


@pytest.mark.parametrize("value", [datetime.date(2026, 1, 1), float("nan"), {1, 2}])
def test_a_param_that_the_ledger_could_not_keep(tmp_path: Path, value: object) -> None:
    code, message = refusal(study(tmp_path), "sentiment", None, None, {"classifier_kwargs": {"C": value}})
    assert code == "bad_params"
    assert message.startswith("Params are texts, numbers, true, false, null, lists and maps of those: ")
