"""Params of trainers: what they are and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from training_pipeline.trainers.errors import WorkerError
from training_pipeline.trainers.params import check_params, describe_params, param, parse_params
from training_pipeline.trainers.sklearn_text import SklearnTextParams


def parse(**values: Any) -> SklearnTextParams:
    return parse_params("sklearn-text", SklearnTextParams, values)


def test_defaults_stand_where_nothing_is_given() -> None:
    params = parse(min_instances=3)
    assert (params.min_instances, params.calibrate, params.classifier, params.classifier_kwargs) == (3, True, None, {})


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (
            {"epochs": 3},
            "sklearn-text does not take epochs. It takes classifier, classifier_kwargs, vectorizer, "
            "vectorizer_kwargs, calibrate, min_instances.",
        ),
        ({"clasifier": "x"}, "sklearn-text does not take clasifier. Did you mean classifier? It takes "),
        ({"calibrate": 1}, "calibrate: Must be true or false, not 1."),
        ({"calibrate": "no"}, "calibrate: Must be true or false, not 'no'. Take the quotes away."),
        ({"min_instances": True}, "min_instances: Must be a whole number, not True."),
        ({"min_instances": "5"}, "min_instances: Must be a whole number, not '5'. Take the quotes away."),
        ({"min_instances": 2.0}, "min_instances: Must be a whole number, not 2.0."),
        ({"min_instances": 0}, "min_instances: Must be at least 1, not 0."),
        (
            {"min_instances": None},
            "min_instances: Must be a whole number, not None. Give it a value, or delete the line",
        ),
        ({"classifier": 5}, "classifier: Must be text or null, not 5. Put it in quotes."),
        ({"vectorizer": None}, "vectorizer: Must be text, not None."),
        ({"vectorizer_kwargs": [1]}, "vectorizer_kwargs: Must be a map, not [1]."),
        ({"vectorizer_kwargs": {"C": float("nan")}}, "vectorizer_kwargs: Must hold plain values; it holds nan."),
        ({"vectorizer_kwargs": {"w": {1: 2}}}, "vectorizer_kwargs: Must hold plain values; it holds the key 1."),
        ({"vectorizer_kwargs": {"w": [{1}]}}, "vectorizer_kwargs: Must hold plain values; it holds {1}."),
    ],
)
def test_a_wrong_param_is_refused_by_name(values: dict[str, Any], why: str) -> None:
    with pytest.raises(WorkerError) as refused:
        parse(**values)
    assert refused.value.code == "bad_params"
    assert refused.value.message.removeprefix("sklearn-text, ").startswith(why)


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


@dataclass(frozen=True)
class Inner:
    """A map of its own."""

    share: float = param("A share", 0.5, minimum=0, below=1)
    names: tuple[str, ...] | str | None = param("Names", None)


@dataclass(frozen=True)
class Outer:
    """Every sort of param."""

    size: float = param("A size", 1.0, above=0, maximum=10)
    word: str | None = param("A word", None, choices=("one", "two"))
    weights: bool | Mapping[str, float] = param("Weights", default=False)
    places: tuple[int, ...] = param("Places", ())
    inner: bool | Inner = param("A map, or not", default=False)


@pytest.mark.parametrize(
    ("values", "path", "message"),
    [
        ({"size": 0}, ("size",), "Must be above 0, not 0."),
        ({"size": 10.5}, ("size",), "Must be at most 10, not 10.5."),
        ({"size": "2e-5"}, ("size",), "Must be a number, not '2e-5'."),
        ({"word": "three"}, ("word",), "Must be one of one, two, not 'three'."),
        ({"weights": 3}, ("weights",), "Must be true or false or a map, not 3."),
        ({"places": [1, True]}, ("places",), "Must be a list of whole numbers, not [1, True]."),
        ({"inner": "yes"}, ("inner",), "Must be true or false or a map, not 'yes'."),
        ({"inner": {"shape": 1}}, ("inner", "shape"), "t.inner does not take shape."),
        ({"inner": {"share": 1}}, ("inner", "share"), "Must be below 1, not 1."),
        ({"inner": {"names": [1]}}, ("inner", "names"), "Must be a list of texts or text or null, not [1]."),
        ({3: 1}, (3,), "t does not take 3."),
    ],
)
def test_every_sort_of_param_is_checked(values: dict[Any, Any], path: tuple[Any, ...], message: str) -> None:
    (problem,) = check_params("t", Outer, values)
    assert (problem.path, problem.message) == (path, message)


def test_maps_of_their_own_and_lists_are_made_records() -> None:
    parsed = parse_params("t", Outer, {"inner": {"names": ["a"]}, "places": [1, 2], "word": "one"})
    assert parsed == Outer(inner=Inner(names=("a",)), places=(1, 2), word="one")
    assert parse_params("t", Outer, {"inner": True}) == Outer(inner=True)


def test_an_exponent_without_a_point_is_explained() -> None:
    (problem,) = check_params("t", Outer, {"size": "2e-5"})
    assert problem.hint == "YAML takes 2e-5 for a text; write 2.0e-5."
