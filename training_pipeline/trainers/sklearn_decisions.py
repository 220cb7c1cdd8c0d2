"""How fitted estimators decide: one of several labels, each label on its own, or a number."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from training_pipeline.bundle.manifest import SchemaSpec
from training_pipeline.bundle.row import Target
from training_pipeline.trainers.base import Payload
from training_pipeline.trainers.calibration import Logits, softmax
from training_pipeline.trainers.errors import WorkerError

Features = Any
"""A scipy sparse matrix or a numpy array, (n, features)."""

Targets = NDArray[Any]
"""What a decision learns from: label codes (n,), ticks (n, labels) or numbers (n,)."""

_SMALLEST_PROBABILITY = 1e-12

_REFUSALS = (ValueError, TypeError, ArithmeticError, NotImplementedError)
"""The errors by which scikit-learn refuses data and arguments."""


class Answer(NamedTuple):
    """One item's answer: see Prediction."""

    payload: Payload
    confidence: float | None
    label_confidences: dict[str, float] | None


class Decision(ABC):
    """Turns features into answers. `estimators` hold what was learned; `save` and `load` keep them in order.

    `temperature` divides the logits of the confidences; None: the confidences mean nothing and are not given.
    """

    estimators: list[Any]
    temperature: float | None = None

    @classmethod
    @abstractmethod
    def new(cls, schema: SchemaSpec, labels: Sequence[str], make: Callable[[], Any]) -> Self:
        """Return an unfitted decision over these labels, its estimators made by `make`."""

    @staticmethod
    @abstractmethod
    def encode(targets: Sequence[Target], labels: Sequence[str]) -> Targets:
        """Return the targets as numbers; `labels` are the labels to be told apart."""

    @abstractmethod
    def fit(self, features: Features, targets: Targets) -> None:
        """Learn. Raises WorkerError `fit_failed`."""

    @property
    def gives_probabilities(self) -> bool:
        """Whether the estimators say how probable their answers are; margins (`decision_function`) are not that."""
        return all(estimator is None or hasattr(estimator, "predict_proba") for estimator in self.estimators)

    @abstractmethod
    def logits(self, features: Features) -> Logits | None:
        """Return a logit per row and label, or None where the estimators give neither probabilities nor margins."""

    @abstractmethod
    def answers(self, features: Features) -> Iterator[Answer]:
        """Yield the answer to each row."""

    @abstractmethod
    def train_metrics(self, features: Features, targets: Targets) -> dict[str, float]:
        """Return how the answers agree with the targets they were learned from."""


def fit_estimator(estimator: Any, features: Features, targets: Targets) -> None:
    """Fit an estimator. Raises WorkerError `fit_failed` with the library's own words where it refuses the data."""
    try:
        estimator.fit(features, targets)
    except _REFUSALS as error:
        raise WorkerError("fit_failed", f"{type(estimator).__name__} could not be fitted: {error}") from error


def fit_vectorizer(vectorizer: Any, texts: Sequence[str]) -> Features:
    """Fit a vectorizer and return the texts' features. Raises WorkerError `fit_failed` as `fit_estimator` does."""
    try:
        return vectorizer.fit_transform(texts)
    except _REFUSALS as error:
        raise WorkerError("fit_failed", f"{type(vectorizer).__name__} could not read the texts: {error}") from error


class Choice(Decision):
    """One label of several: a classifier over label codes 0 to K-1, all of which occur in train."""

    def __init__(self, labels: Sequence[str], estimators: list[Any], temperature: float | None = None) -> None:
        self.labels = tuple(labels)
        self.estimators = estimators
        self.temperature = temperature

    @classmethod
    def new(cls, schema: SchemaSpec, labels: Sequence[str], make: Callable[[], Any]) -> Self:  # noqa: ARG003
        """Return an unfitted classifier over the labels."""
        return cls(labels, [make()])

    @staticmethod
    def encode(targets: Sequence[Target], labels: Sequence[str]) -> Targets:
        """Return the label codes (n,)."""
        code_of = {label: code for code, label in enumerate(labels)}
        return np.fromiter((code_of[str(target)] for target in targets), dtype=np.intp, count=len(targets))

    def fit(self, features: Features, targets: Targets) -> None:
        """Fit the classifier on the codes (n,)."""
        fit_estimator(self.estimators[0], features, targets)

    def logits(self, features: Features) -> Logits | None:
        """Return the logits (n, K), or None where the classifier gives neither probabilities nor margins."""
        return _class_logits(self.estimators[0], features, len(self.labels))

    def answers(self, features: Features) -> Iterator[Answer]:
        """Yield each row's label and its probability."""
        logits = self.logits(features)
        codes = self._codes(features, logits).tolist()
        if logits is None or self.temperature is None:
            return (Answer(self.labels[code], None, None) for code in codes)
        confidences = softmax(logits, self.temperature)[np.arange(len(codes)), codes].tolist()
        return (Answer(self.labels[code], sure, None) for code, sure in zip(codes, confidences, strict=True))

    def train_metrics(self, features: Features, targets: Targets) -> dict[str, float]:
        """Return the share of labels that come out right."""
        right = [self._codes(part, self.logits(part)) == truth for part, truth in _in_parts(features, targets)]
        return {"train_accuracy": float(np.concatenate(right).mean())}

    def _codes(self, features: Features, logits: Logits | None) -> NDArray[np.intp]:
        codes: NDArray[np.intp]
        codes = self.estimators[0].predict(features).astype(np.intp) if logits is None else logits.argmax(axis=1)
        return codes


class Ticks(Decision):
    """Each label on its own: a classifier per label, or a constant where train always or never ticks it.

    The probability of a constant's tick is (k + 1) / (n + 2) after k ticks in n items: Laplace's rule of succession.
    `estimators[j]` is None where `constants[j]` is that probability, which no temperature changes.
    """

    def __init__(
        self,
        labels: Sequence[str],
        estimators: list[Any],
        constants: Sequence[float | None] = (),
        temperature: float | None = None,
    ) -> None:
        self.labels = tuple(labels)
        self.estimators = estimators
        self.constants: list[float | None] = list(constants) or [None] * len(labels)
        self.temperature = temperature

    @classmethod
    def new(cls, schema: SchemaSpec, labels: Sequence[str], make: Callable[[], Any]) -> Self:  # noqa: ARG003
        """Return an unfitted classifier per label."""
        return cls(labels, [make() for _ in labels])

    @staticmethod
    def encode(targets: Sequence[Target], labels: Sequence[str]) -> Targets:
        """Return the ticks (n, labels), 0 or 1."""
        column_of = {label: column for column, label in enumerate(labels)}
        ticks = np.zeros((len(targets), len(labels)), dtype=np.int8)
        for row, target in enumerate(targets):
            ticks[row, [column_of[label] for label in target if label in column_of]] = 1  # type: ignore[union-attr]
        return ticks

    def fit(self, features: Features, targets: Targets) -> None:
        """Fit a classifier on each column of the ticks (n, labels) that is not constant."""
        n = len(targets)
        for column, n_ticked in enumerate(targets.sum(axis=0, dtype=np.int64)):
            if 0 < n_ticked < n:
                fit_estimator(self.estimators[column], features, targets[:, column])
            else:
                self.estimators[column] = None
                self.constants[column] = (int(n_ticked) + 1) / (n + 2)

    def logits(self, features: Features) -> Logits | None:
        """Return the logit of each tick (n, labels), NaN for constants; None where the classifiers give none."""
        logits = np.full((features.shape[0], len(self.labels)), np.nan)
        for column, estimator in enumerate(self.estimators):
            if estimator is not None:
                of_label = _class_logits(estimator, features, 2)
                if of_label is None:
                    return None
                logits[:, column] = of_label[:, 1] - of_label[:, 0]
        return logits

    def answers(self, features: Features) -> Iterator[Answer]:
        """Yield the labels ticked; the confidence is that of the least sure decision, on a label ticked or not."""
        logits = self.logits(features)
        ticked = self._ticked(features, logits)
        if logits is None or self.temperature is None:
            for row in ticked:
                yield Answer(self._names(row), None, None)
            return
        sure = self._sureness(logits)
        for row, confidence, sureness in zip(ticked, sure.min(axis=1).tolist(), sure, strict=True):
            columns = np.flatnonzero(row)
            names = self._names(row)
            yield Answer(names, confidence, dict(zip(names, sureness[columns].tolist(), strict=True)))

    def train_metrics(self, features: Features, targets: Targets) -> dict[str, float]:
        """Return the share of items whose ticks all come out right."""
        right = [
            (self._ticked(part, self.logits(part)) == truth).all(axis=1) for part, truth in _in_parts(features, targets)
        ]
        return {"train_accuracy": float(np.concatenate(right).mean())}

    def _names(self, row: NDArray[np.bool_]) -> tuple[str, ...]:
        return tuple(self.labels[column] for column in np.flatnonzero(row))

    def _ticked(self, features: Features, logits: Logits | None) -> NDArray[np.bool_]:
        ticked = np.zeros((features.shape[0], len(self.labels)), dtype=bool)
        for column, (estimator, constant) in enumerate(zip(self.estimators, self.constants, strict=True)):
            if estimator is None:
                ticked[:, column] = constant is not None and constant > 0.5
            elif logits is None:
                ticked[:, column] = estimator.predict(features) == 1
            else:
                ticked[:, column] = logits[:, column] > 0
        return ticked

    def _sureness(self, logits: Logits) -> Logits:
        """Return max(p, 1 - p) of each decision (n, labels)."""
        probability = 1 / (1 + np.exp(-np.abs(logits) / (self.temperature or 1.0)))
        for column, constant in enumerate(self.constants):
            if constant is not None:
                probability[:, column] = max(constant, 1 - constant)
        return probability


class Number(Decision):
    """A number: a regressor. Answers stay within the schema's scale where it states one; they have no confidence."""

    def __init__(self, scale: tuple[float, float] | None, estimators: list[Any]) -> None:
        self.scale = scale
        self.estimators = estimators

    @classmethod
    def new(cls, schema: SchemaSpec, labels: Sequence[str], make: Callable[[], Any]) -> Self:  # noqa: ARG003
        """Return an unfitted regressor for the schema's scale."""
        return cls(schema.scale, [make()])

    @staticmethod
    def encode(targets: Sequence[Target], labels: Sequence[str]) -> Targets:  # noqa: ARG004  numbers have no labels
        """Return the numbers (n,)."""
        return np.array(targets, dtype=np.float64)

    def fit(self, features: Features, targets: Targets) -> None:
        """Fit the regressor on the numbers (n,)."""
        fit_estimator(self.estimators[0], features, targets)

    def logits(self, features: Features) -> Logits | None:
        """Return None: a number is not chosen among labels."""

    def answers(self, features: Features) -> Iterator[Answer]:
        """Yield each row's number. Raises WorkerError `fit_failed` where the regressor gives none."""
        return (Answer(value, None, None) for value in self._values(features).tolist())

    def train_metrics(self, features: Features, targets: Targets) -> dict[str, float]:
        """Return the mean absolute error on train."""
        return {"train_mae": float(np.abs(self._values(features) - targets).mean())}

    def _values(self, features: Features) -> NDArray[np.float64]:
        values = np.asarray(self.estimators[0].predict(features), dtype=np.float64).reshape(-1)
        if not np.isfinite(values).all():
            name = type(self.estimators[0]).__name__
            raise WorkerError("fit_failed", f"{name} predicts values that are no numbers; try another regressor.")
        return values if self.scale is None else values.clip(*self.scale)


DECISIONS: Mapping[str, type[Decision]] = {
    "nominal": Choice,
    "ordinal": Choice,
    "multilabel": Ticks,
    "continuous": Number,
}
"""How each kind of schema is decided. An ordinal answer is one of the options' own names."""


def _class_logits(estimator: Any, features: Features, n_classes: int) -> Logits | None:
    """Return logits (n, K): log probabilities, else margins (two classes: zero and the margin), else None.

    Margins between pairs of classes (`ovo`) are none of a class, though three classes have as many.
    """
    if hasattr(estimator, "predict_proba"):
        probabilities = np.asarray(estimator.predict_proba(features), dtype=np.float64)
        return np.log(np.maximum(probabilities, _SMALLEST_PROBABILITY))
    if not hasattr(estimator, "decision_function") or getattr(estimator, "decision_function_shape", "ovr") == "ovo":
        return None
    margins = np.asarray(estimator.decision_function(features), dtype=np.float64)
    if margins.ndim == 1:
        return np.stack([np.zeros(len(margins)), margins], axis=1)
    return margins if margins.shape[1] == n_classes else None


def _in_parts(features: Features, targets: Targets) -> Iterator[tuple[Features, Targets]]:
    """Yield slices of 10,000 rows, so that no array grows with items times labels."""
    for start in range(0, len(targets), 10_000):
        yield features[start : start + 10_000], targets[start : start + 10_000]
