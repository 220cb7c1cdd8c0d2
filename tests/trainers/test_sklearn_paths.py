"""Dotted paths: what they may name."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge

from training_pipeline.trainers.errors import WorkerError
from training_pipeline.trainers.sklearn_paths import EstimatorSpec, Role


def make(path: str, role: Role = Role.CLASSIFIER, allowed: tuple[str, ...] = (), **kwargs: Any) -> Any:
    return EstimatorSpec(path, kwargs, role, seed=7, allowed_modules=allowed).make()


def test_classes_of_scikit_learn_are_made_with_their_arguments_and_the_seed() -> None:
    classifier = make("sklearn.linear_model.LogisticRegression", C=3.0)
    assert (type(classifier), classifier.C, classifier.random_state) == (LogisticRegression, 3.0, 7)
    assert isinstance(make("sklearn.linear_model.Ridge", Role.REGRESSOR), Ridge)


def test_a_random_state_of_the_study_is_kept() -> None:
    assert make("sklearn.linear_model.LogisticRegression", random_state=None).random_state is None


def test_a_list_becomes_a_tuple_where_the_class_wants_one() -> None:
    path = "sklearn.feature_extraction.text.TfidfVectorizer"
    vectorizer = make(path, Role.VECTORIZER, ngram_range=[1, 3], stop_words=["the"])
    assert isinstance(vectorizer, TfidfVectorizer)
    assert (vectorizer.ngram_range, vectorizer.stop_words) == ((1, 3), ["the"])


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("os.system", "'os.system' is not allowed: a dotted path may lead into sklearn"),
        ("LogisticRegression", "'LogisticRegression' is not allowed"),
        ("", "'' is not allowed"),
        ("sklearnish.Evil", "'sklearnish.Evil' is not allowed"),
        ("sklearn.linear_model.LogisticRegresion", "There is no sklearn.linear_model.LogisticRegresion"),
        ("sklearn.linear_models.LogisticRegression", "There is no sklearn.linear_models.LogisticRegression"),
        ("sklearn.linear_model.", r"There is no sklearn\.linear_model\."),
        ("sklearn.utils.os.system", "There is no sklearn.utils.os.system"),
        ("sklearn.datasets._base.os", "is no class of sklearn"),
        ("sklearn.datasets._base.Path", "is no class of sklearn"),
        ("sklearn.base.clone", "is no class of sklearn"),
        ("sklearn.linear_model.LinearRegression", "sklearn.linear_model.LinearRegression is no classifier"),
        ("sklearn.feature_extraction.text.TfidfVectorizer", "TfidfVectorizer is no classifier"),
        ("sklearn.multiclass.OneVsRestClassifier", "OneVsRestClassifier cannot be made with"),
    ],
)
def test_what_is_no_classifier_of_an_allowed_package_is_refused_by_name(path: str, why: str) -> None:
    with pytest.raises(WorkerError, match=why) as refused:
        make(path)
    assert refused.value.code == "bad_params"


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("sklearn.linear_model.LogisticRegression", Role.REGRESSOR),
        ("sklearn.linear_model.LogisticRegression", Role.VECTORIZER),
    ],
)
def test_an_estimator_has_the_role_it_is_named_for(path: str, role: Role) -> None:
    with pytest.raises(WorkerError, match=f"is no {role}"):
        make(path, role)


def test_unknown_arguments_are_named_with_those_it_takes() -> None:
    with pytest.raises(WorkerError, match=r"LinearSVC does not take foo, bar; it takes .*\bC\b"):
        make("sklearn.svm.LinearSVC", C=1, foo=2, bar=3)


def test_a_package_is_allowed_by_name_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "house_models.py").write_text(
        "from sklearn.dummy import DummyClassifier\n"
        "from collections import OrderedDict\n"
        "class Always(DummyClassifier):\n"
        "    def __init__(self, *, constant=None, **others):\n"
        "        super().__init__(strategy='constant', constant=constant)\n"
        "        self.others = others\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(WorkerError, match=r"'house_models\.Always' is not allowed"):
        make("house_models.Always")
    made = make("house_models.Always", allowed=("house_models",), constant=1, anything=2)
    assert (made.constant, made.others) == (1, {"anything": 2})
    with pytest.raises(WorkerError, match=r"house_models\.OrderedDict is no class of house_models"):
        make("house_models.OrderedDict", allowed=("house_models",))
    del sys.modules["house_models"]


def test_an_allowed_package_that_is_not_installed_is_missing() -> None:
    with pytest.raises(WorkerError, match="needs the package nobody_has_it, which is not installed") as refused:
        make("nobody_has_it.models.Best", allowed=("nobody_has_it",))
    assert refused.value.code == "missing_dependency"
