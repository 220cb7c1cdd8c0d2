"""Params of trainers: what they are and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from training_pipeline.trainers.errors import WorkerError
from training_pipeline.trainers.params import describe_params, parse_params
from training_pipeline.trainers.sklearn_text import SklearnTextParams


def parse(**values: Any) -> SklearnTextParams:
    return parse_params("sklearn-text", SklearnTextParams, values)


def test_defaults_stand_where_nothing_is_given() -> None:
    params = parse(min_instances=3)
    assert (params.min_instances, params.calibrate, params.classifier, params.classifier_kwargs) == (3, True, None, {})


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"epochs": 3}, "sklearn-text does not take epochs; it takes classifier, classifier_kwargs, vectorizer, "),
        ({"calibrate": 1}, "sklearn-text: calibrate must be true or false; it is 1"),
        ({"calibrate": "no"}, "sklearn-text: calibrate must be true or false; it is 'no'"),
        ({"min_instances": True}, "min_instances must be a whole number; it is True"),
        ({"min_instances": "5"}, "min_instances must be a whole number; it is '5'"),
        ({"min_instances": 2.0}, "min_instances must be a whole number; it is 2.0"),
        ({"min_instances": 0}, "min_instances must be at least 1; it is 0"),
        ({"classifier": 5}, "classifier must be text or null; it is 5"),
        ({"vectorizer": None}, "vectorizer must be text; it is None"),
        ({"vectorizer_kwargs": [1]}, r"vectorizer_kwargs must be a map; it is \[1\]"),
    ],
)
def test_a_wrong_param_is_refused_by_name(values: dict[str, Any], why: str) -> None:
    with pytest.raises(WorkerError, match=why) as refused:
        parse(**values)
    assert refused.value.code == "bad_params"


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(WorkerError) as refused:
        parse(epochs=3, calibrate=1)
    assert len(refused.value.message.splitlines()) == 2


def test_params_are_described_in_the_order_they_are_written() -> None:
    described = describe_params(SklearnTextParams)
    assert [(entry.name, entry.type, entry.default) for entry in described] == [
        ("classifier", "text or null", None),
        ("classifier_kwargs", "a map", {}),
        ("vectorizer", "text", "sklearn.feature_extraction.text.TfidfVectorizer"),
        ("vectorizer_kwargs", "a map", {}),
        ("calibrate", "true or false", True),
        ("min_instances", "a whole number", 10),
    ]
    assert all(entry.description for entry in described)
