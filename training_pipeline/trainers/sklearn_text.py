"""sklearn-text: any scikit-learn classifier or regressor over any text vectorizer."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from training_pipeline.bundle.manifest import SchemaSpec
from training_pipeline.trainers.base import Fitted, Job, Predictor, Trainer
from training_pipeline.trainers.params import param

DEFAULT_CLASSIFIER = "sklearn.linear_model.LogisticRegression"
DEFAULT_REGRESSOR = "sklearn.linear_model.Ridge"
DEFAULT_VECTORIZER = "sklearn.feature_extraction.text.TfidfVectorizer"

_MODEL = "training_pipeline.trainers.sklearn_model"


@dataclass(frozen=True)
class SklearnTextParams:
    """The params of sklearn-text."""

    classifier: str | None = param(
        "Dotted path of a classifier, or of a regressor for a continuous schema; a class of sklearn or of a package in "
        f"allowed_modules. null: {DEFAULT_CLASSIFIER}, for continuous {DEFAULT_REGRESSOR}",
        None,
    )
    classifier_kwargs: Mapping[str, Any] = param(
        "Arguments of the classifier. LogisticRegression starts from C 10, solver saga, tol 0.01, max_iter 1000; Ridge "
        "from alpha 0.3",
        {},
    )
    vectorizer: str = param(
        "Dotted path of a text vectorizer; a class of sklearn or of a package in allowed_modules",
        DEFAULT_VECTORIZER,
    )
    vectorizer_kwargs: Mapping[str, Any] = param(
        "Arguments of the vectorizer. TfidfVectorizer starts from ngram_range [1, 2], sublinear_tf, min_df 0.00002",
        {},
    )
    calibrate: bool = param("Fit a temperature to the confidences where that helps on unseen train items", True)
    min_instances: int = param("The fewest items in the train split that a run goes ahead with", 10, minimum=1)


class SklearnText(Trainer[SklearnTextParams]):
    """Texts to features, features to labels or numbers, with scikit-learn."""

    name: ClassVar[str] = "sklearn-text"
    summary: ClassVar[str] = "A linear or any other scikit-learn model over words and pairs of words"
    kinds: ClassVar[tuple[str, ...]] = ("nominal", "ordinal", "multilabel", "continuous")
    libraries: ClassVar[tuple[str, ...]] = ("numpy", "scipy", "sklearn", "skops")
    licence: ClassVar[str] = "BSD-3-Clause"
    install: ClassVar[str] = "pip install training-pipeline"
    keeps_best_epoch: ClassVar[bool] = False
    params_class = SklearnTextParams

    @classmethod
    def warm_up(cls) -> None:
        """Import scikit-learn's text and linear modules and skops.

        scikit-learn imports pandas wherever it is installed, to know its missing values; texts have none, and a third
        of a second is a tenth of a short run. None in its place is Python's way to say that it is not there; who asks
        for it later gets it.
        """
        if "pandas" in sys.modules:
            _import_all()
            return
        sys.modules["pandas"] = None  # type: ignore[assignment]
        try:
            _import_all()
        finally:
            del sys.modules["pandas"]

    @classmethod
    def fit(cls, job: Job[SklearnTextParams]) -> Fitted:
        """Fit: see `fit_text_model`."""
        cls.warm_up()
        fitted: Fitted = import_module(_MODEL).fit_text_model(job)
        return fitted

    @classmethod
    def load(cls, directory: Path, schema: SchemaSpec, allowed_modules: tuple[str, ...]) -> Predictor:  # noqa: ARG003
        """Load: see `load_text_model`. The model's own card says what schema it is for."""
        cls.warm_up()
        predictor: Predictor = import_module(_MODEL).load_text_model(directory, allowed_modules)
        return predictor


def _import_all() -> None:
    for module in ("sklearn.feature_extraction.text", "sklearn.linear_model", "skops.io", _MODEL):
        import_module(module)
