"""A run that is asked for: what it will do, or every reason why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.studies import SENTIMENT, make_study
from training_pipeline.errors import PipelineError
from training_pipeline.run_request import RunRequest, resolve
from training_pipeline.study.config import load_study

SPAN = {"annotation_type": "span", "name": "opinion", "labels": ["praise"]}
BACKENDS = {"gpu": {"type": "ssh", "host": "gpu"}, "mine": {"type": "local"}}


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
        ({"enabled": False}, {}, "not_enabled", "set model_training.enabled to true"),
        ({}, {"schema": "tone"}, "unknown_schema", "has no schema 'tone'"),
        ({}, {"trainer": "sklern-text"}, "unknown_trainer", r"no trainer 'sklern-text'\. Did you mean sklearn-text\?"),
        (
            {},
            {"trainer": "setfit"},
            "not_available",
            "setfit is not available in this version: .*Trainers that run: skl",
        ),
        ({}, {"schema": "opinion", "trainer": "sklearn-text"}, "schema_not_learnable", "cannot learn 'opinion'"),
        ({}, {"params": {"epochs": 3}}, "bad_params", r"sklearn-text does not take epochs\. It takes classifier, "),
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
        ask(tmp_path, {"backends": BACKENDS}, "opinion", trainer="sklearn-text", backend="gpu", params={"a": 1, "b": 2})
    assert refused.value.code == "schema_not_learnable"
    assert len(str(refused.value).splitlines()) == 4


def test_a_backend_of_type_local_is_this_machine(tmp_path: Path) -> None:
    assert ask(tmp_path, {"backends": BACKENDS}, backend="mine").backend == "mine"


def test_write_back_of_later_is_no_matter_to_other_schemas(tmp_path: Path) -> None:
    numbers = {"annotation_type": "slider", "name": "score", "min_value": 0, "max_value": 1}
    training = {"writeback": {"schemas": ["sentiment"], "target_precision": 0.9}}
    study = load_study(make_study(tmp_path, schemes=[SENTIMENT, numbers], training=training))
    assert resolve(study, "score").trainer == "sklearn-text"
