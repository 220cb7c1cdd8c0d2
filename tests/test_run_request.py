"""What a run request means, and every reason why it cannot go."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.studies import SENTIMENT, make_study
from training_pipeline.errors import PipelineError
from training_pipeline.run_request import RunRequest, resolve
from training_pipeline.study.config import Study, load_study
from training_pipeline.trainers.registry import NAMES

SPAN = {"annotation_type": "span", "name": "parts", "description": "?", "labels": ["a"]}
BACKENDS = {"gpu": {"type": "ssh", "host": "gpu"}, "mine": {"type": "local"}}


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
        f"There is no trainer 'nope'. There are: {', '.join(NAMES)}.",
    )


def test_an_unknown_backend_names_those_there_are(tmp_path: Path) -> None:
    assert refusal(study(tmp_path), "sentiment", None, "moon") == (
        "unknown_backend",
        "There is no backend 'moon'; there are local.",
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
        "sklearn-text does not take nonsense. It takes classifier, classifier_kwargs, "
        "vectorizer, vectorizer_kwargs, calibrate, min_instances.",
        "sklearn-text, calibrate: Must be true or false, not 'yes'. Take the quotes away.",
    ]


@pytest.mark.parametrize("value", [datetime.date(2026, 1, 1), float("nan"), {1, 2}])
def test_a_param_that_the_ledger_could_not_keep(tmp_path: Path, value: object) -> None:
    code, message = refusal(study(tmp_path), "sentiment", None, None, {"classifier_kwargs": {"C": value}})
    assert code == "bad_params"
    assert message.startswith("Params are texts, numbers, true, false, null, lists and maps of those: ")


def ask(directory: Path, training: dict[str, Any] | None = None, schema: str = "sentiment", **asked: Any) -> RunRequest:
    study = load_study(make_study(directory, schemes=[SENTIMENT, SPAN], training=training))
    return resolve(study, schema, **asked)


def test_each_param_says_where_it_comes_from(tmp_path: Path) -> None:
    training = {"trainer_params": {"sklearn-text": {"min_instances": 50, "calibrate": False}}}
    request = ask(tmp_path, training, params={"min_instances": 5, "classifier_kwargs": {"C": 1}})
    assert (request.params["min_instances"], request.params["calibrate"]) == (5, False)
    assert request.param_sources == {
        "classifier": "default",
        "classifier_kwargs": "run",
        "vectorizer": "default",
        "vectorizer_kwargs": "default",
        "calibrate": "trainer_params",
        "min_instances": "run",
    }


@pytest.mark.parametrize(
    ("training", "asked", "code", "why"),
    [
        ({}, {"trainer": "sklern-text"}, "unknown_trainer", r"no trainer 'sklern-text'\. Did you mean sklearn-text\?"),
        (
            {},
            {"trainer": "setfit"},
            "not_available",
            "setfit is not available in this version: .*Trainers that run: skl",
        ),
        ({}, {"backend": "cluster"}, "unknown_backend", "no backend 'cluster'; there are local, gpu, mine"),
        ({}, {"backend": "gpu"}, "not_available", "gpu is a backend of type ssh, which is not available in this ver"),
        ({"backend": "gpu"}, {}, "not_available", "gpu is a backend of type ssh"),
        (
            {"writeback": {"schemas": ["sentiment"], "min_confidence": 0.5, "gate": "not_worse"}},
            {},
            "not_available",
            r"model_training\.writeback\.gate is not available in this version",
        ),
        (
            {"writeback": {"schemas": ["sentiment"], "target_precision": 0.9}},
            {},
            "not_available",
            r"model_training\.writeback\.target_precision is not available",
        ),
        (
            {},
            {"trainer": "bridge-command", "params": {"command": ["rm"]}},
            "not_available",
            "bridge-command: command comes from the study's config only",
        ),
    ],
)
def test_what_cannot_be_is_refused(
    tmp_path: Path, training: dict[str, Any], asked: dict[str, Any], code: str, why: str
) -> None:
    with pytest.raises(PipelineError, match=why) as refused:
        ask(tmp_path, {"backends": BACKENDS, **training}, **asked)
    assert refused.value.code == code


def test_every_reason_is_told(tmp_path: Path) -> None:
    with pytest.raises(PipelineError) as refused:
        ask(tmp_path, {"backends": BACKENDS}, "parts", trainer="sklearn-text", backend="gpu", params={"a": 1, "b": 2})
    assert refused.value.code == "schema_not_learnable"
    assert len(str(refused.value).splitlines()) == 4


def test_a_backend_of_type_local_is_this_machine(tmp_path: Path) -> None:
    assert ask(tmp_path, {"backends": BACKENDS}, backend="mine").backend == "mine"


def test_write_back_of_later_is_no_matter_to_other_schemas(tmp_path: Path) -> None:
    numbers = {"annotation_type": "slider", "name": "score", "min_value": 0, "max_value": 1}
    training = {"writeback": {"schemas": ["sentiment"], "target_precision": 0.9}}
    study = load_study(make_study(tmp_path, schemes=[SENTIMENT, numbers], training=training))
    assert resolve(study, "score").trainer == "sklearn-text"
