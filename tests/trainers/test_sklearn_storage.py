"""Models on disk."""

from __future__ import annotations

import json
import re
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from tests.trainers.making import MOOD, answered, fit, moods
from tests.trainers.test_sklearn_text import HEAT, TOPICS, topics
from training_pipeline.bundle.manifest import SchemaSpec
from training_pipeline.bundle.row import Row
from training_pipeline.trainers.base import Fitted, Prediction, Predictor
from training_pipeline.trainers.errors import WorkerError
from training_pipeline.trainers.sklearn_paths import names_a_class
from training_pipeline.trainers.sklearn_storage import MODEL_FILE, VOCABULARY_FILE
from training_pipeline.trainers.sklearn_text import SklearnText

TEXTS = ["great lovely", "stale awful", "", "costs flavour", "never seen words", "cut \ud83d"]


class Own(BaseEstimator):  # type: ignore[misc]
    """An estimator of a package that is not scikit-learn."""


def reload(fitted: Fitted, directory: Path, schema: SchemaSpec = MOOD, allowed: tuple[str, ...] = ()) -> Predictor:
    directory.mkdir()
    fitted.save(directory)
    return SklearnText.load(directory, schema, allowed)


def predictions(predictor: Predictor) -> list[Prediction]:
    return list(predictor.predict(Row(str(k), text) for k, text in enumerate(TEXTS)))


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"vectorizer": "sklearn.feature_extraction.text.HashingVectorizer"},
        {"vectorizer": "sklearn.feature_extraction.text.CountVectorizer", "vectorizer_kwargs": {"analyzer": "char"}},
        {"classifier": "sklearn.svm.LinearSVC"},
        {"classifier": "sklearn.naive_bayes.ComplementNB"},
        {"classifier": "sklearn.ensemble.RandomForestClassifier", "classifier_kwargs": {"n_estimators": 5}},
        {"classifier": "sklearn.ensemble.GradientBoostingClassifier", "classifier_kwargs": {"n_estimators": 3}},
        {"classifier": "sklearn.neural_network.MLPClassifier", "classifier_kwargs": {"max_iter": 3}},
        {"classifier": "sklearn.neighbors.KNeighborsClassifier"},
        {"classifier": "sklearn.linear_model.SGDClassifier", "classifier_kwargs": {"loss": "log_loss"}},
    ],
)
def test_a_reloaded_model_answers_the_same(tmp_path: Path, params: dict[str, Any]) -> None:
    fitted = fit(tmp_path, moods(80, labels=("good", "fine", "bad")), **params)
    assert predictions(reload(fitted, tmp_path / "model")) == predictions(fitted)


def test_reloaded_ticks_answer_the_same_constants_included(tmp_path: Path) -> None:
    fitted = fit(tmp_path, answered(TOPICS, topics(70)), TOPICS)
    assert predictions(reload(fitted, tmp_path / "model", TOPICS)) == predictions(fitted)


def test_a_reloaded_regressor_answers_the_same(tmp_path: Path) -> None:
    fitted = fit(tmp_path, answered(HEAT, [(f"word{k % 5}", float(k % 5)) for k in range(40)]), HEAT)
    assert predictions(reload(fitted, tmp_path / "model", HEAT)) == predictions(fitted)


def test_the_vocabulary_lies_beside_the_model_in_the_order_of_its_columns(tmp_path: Path) -> None:
    reload(fit(tmp_path, moods(30), vectorizer_kwargs={"ngram_range": [1, 1]}), tmp_path / "model")
    terms = json.loads((tmp_path / "model" / VOCABULARY_FILE).read_text())
    assert terms == sorted(terms)
    assert "great" in terms


def test_types_that_are_not_trusted_are_refused_by_name(tmp_path: Path) -> None:
    reload(fit(tmp_path, moods(30)), tmp_path / "model")
    skops.io.dump({"vectorizer": Path, "estimators": []}, tmp_path / "model" / MODEL_FILE)
    with pytest.raises(WorkerError, match=r"types that are not trusted: pathlib\.Path\.") as refused:
        SklearnText.load(tmp_path / "model", MOOD, ())
    assert refused.value.code == "reload_failed"


@pytest.mark.parametrize(
    ("untrusted", "name"),
    [
        (FunctionTransformer(func=eval), "builtins.eval"),
        (FunctionTransformer(func=open), "io.open"),
        (FunctionTransformer(func=np.load), "numpy.load"),
        (FunctionTransformer(func=accuracy_score), "sklearn.metrics._classification.accuracy_score"),
        (FunctionTransformer(func=fit), "tests.trainers.making.fit"),
        (FunctionTransformer(func=partial(eval)), "builtins.eval"),
        (FunctionTransformer(func=methodcaller("clear")), "operator.methodcaller"),
        (FunctionTransformer(func=LinearSVC().fit), "sklearn.svm._classes.LinearSVC.fit"),
    ],
)
def test_a_function_is_refused_by_name(tmp_path: Path, untrusted: Any, name: str) -> None:
    reload(fit(tmp_path, moods(30)), tmp_path / "model")
    skops.io.dump({"vectorizer": untrusted, "estimators": []}, tmp_path / "model" / MODEL_FILE)
    with pytest.raises(WorkerError, match=f"types that are not trusted: .*{re.escape(name)}") as refused:
        SklearnText.load(tmp_path / "model", MOOD, ("tests.trainers",))
    assert refused.value.code == "reload_failed"


def test_a_class_of_an_allowed_package_is_loaded_and_what_it_imported_is_not(tmp_path: Path) -> None:
    reload(fit(tmp_path, moods(30)), tmp_path / "model")
    skops.io.dump({"vectorizer": Own(), "estimators": []}, tmp_path / "model" / MODEL_FILE)
    with pytest.raises(WorkerError, match="not trusted"):
        SklearnText.load(tmp_path / "model", MOOD, ())
    assert names_a_class(f"{__name__}.Own", (__name__,))
    assert not names_a_class(f"{__name__}.Path", (__name__,))
    assert not names_a_class(f"{__name__}.re.Pattern", (__name__,))


def test_a_model_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    reload(fit(tmp_path, moods(30)), tmp_path / "model")
    card = tmp_path / "model" / "model.json"
    card.write_text(json.dumps(json.loads(card.read_text()) | {"v": 2}))
    with pytest.raises(WorkerError, match="is of format 2; this machine reads up to 1"):
        SklearnText.load(tmp_path / "model", MOOD, ())
