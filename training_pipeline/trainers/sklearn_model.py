"""Fit a text model with scikit-learn: vectorize, decide, see how far its confidences can be trusted."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from training_pipeline.bundle.manifest import SchemaSpec
from training_pipeline.bundle.row import Row
from training_pipeline.trainers.base import FitFacts, Fitted, Job, Prediction, Predictor
from training_pipeline.trainers.calibration import MIN_ITEMS, Calibration, Logits, calibrate
from training_pipeline.trainers.errors import WorkerError
from training_pipeline.trainers.sklearn_decisions import (
    DECISIONS,
    Choice,
    Decision,
    Number,
    Targets,
    Ticks,
    fit_vectorizer,
)
from training_pipeline.trainers.sklearn_folds import LeftOutPlan, Rows, plan_left_out
from training_pipeline.trainers.sklearn_items import TrainItems, labels_to_tell_apart, read_train, refuse_too_little
from training_pipeline.trainers.sklearn_paths import EstimatorSpec, Role
from training_pipeline.trainers.sklearn_storage import StoredModel, load_model, save_model
from training_pipeline.trainers.sklearn_text import (
    DEFAULT_CLASSIFIER,
    DEFAULT_REGRESSOR,
    DEFAULT_VECTORIZER,
    SklearnTextParams,
)

# Words and pairs of words, in at least one of 50,000 items: rarer ones would make the vocabulary grow with the study.
# Rows have length one, for which SAGA converges in tens of passes where L-BFGS takes ten times as long.
DEFAULT_KWARGS: Mapping[str, Mapping[str, Any]] = {
    DEFAULT_CLASSIFIER: {"C": 10.0, "solver": "saga", "tol": 1e-2, "max_iter": 1000},
    DEFAULT_REGRESSOR: {"alpha": 0.3},
    DEFAULT_VECTORIZER: {"ngram_range": (1, 2), "sublinear_tf": True, "min_df": 2e-5, "dtype": np.float32},
}

_ROWS_AT_ONCE = 10_000


class TextModel(Predictor):
    """A fitted vectorizer and a fitted decision."""

    def __init__(self, vectorizer: Any, decision: Decision) -> None:
        self.vectorizer = vectorizer
        self.decision = decision

    def predict(self, rows: Iterable[Row]) -> Iterator[Prediction]:
        """Yield one prediction a row, reading 10,000 rows at a time."""
        rows = iter(rows)
        while batch := list(islice(rows, _ROWS_AT_ONCE)):
            features = self.vectorizer.transform([row.text for row in batch])
            for row, answer in zip(batch, self.decision.answers(features), strict=True):
                yield Prediction(row.instance_id, *answer)


class FittedTextModel(Fitted):
    """A text model that was just fitted, and what there is to say about it."""

    def __init__(self, model: TextModel, schema: SchemaSpec, facts: FitFacts) -> None:
        self._model = model
        self._schema = schema
        self.facts = facts

    def predict(self, rows: Iterable[Row]) -> Iterator[Prediction]:
        """Yield one prediction a row."""
        return self._model.predict(rows)

    def save(self, directory: Path) -> None:
        """Write model.skops, model.json and, for a vectorizer that has one, vocabulary.json."""
        decision = self._model.decision
        stored = StoredModel(
            kind=self._schema.kind,
            labels=self.facts.label_order,
            scale=self._schema.scale,
            temperature=decision.temperature,
            constants=tuple(decision.constants) if isinstance(decision, Ticks) else (),
            vectorizer=self._model.vectorizer,
            estimators=decision.estimators,
        )
        save_model(stored, directory)


def load_text_model(directory: Path, allowed_modules: tuple[str, ...]) -> TextModel:
    """Load what FittedTextModel.save wrote. Raises WorkerError `reload_failed`."""
    stored = load_model(directory, allowed_modules)
    decision: Decision
    if stored.kind == "continuous":
        decision = Number(stored.scale, stored.estimators)
    elif stored.kind == "multilabel":
        decision = Ticks(stored.labels, stored.estimators, stored.constants, stored.temperature)
    else:
        decision = Choice(stored.labels, stored.estimators, stored.temperature)
    return TextModel(stored.vectorizer, decision)


@dataclass(frozen=True)
class Recipe:
    """How to make a model of this job, as often as folds ask for one."""

    vectorizer: EstimatorSpec
    estimator: EstimatorSpec
    schema: SchemaSpec
    labels: tuple[str, ...]

    def fit(self, texts: Sequence[str], targets: Targets) -> tuple[TextModel, Any]:
        """Return a model fitted on these texts, and their features."""
        vectorizer = self.vectorizer.make()
        features = fit_vectorizer(vectorizer, texts)
        decision = DECISIONS[self.schema.kind].new(self.schema, self.labels, self.estimator.make)
        decision.fit(features, targets)
        return TextModel(vectorizer, decision), features


def fit_text_model(job: Job[SklearnTextParams]) -> FittedTextModel:
    """Fit the job's schema on its train split.

    Raises WorkerError: `validation_failed` for too few items, labels that do not differ or texts without words,
    `bad_params` for estimators that cannot be made, `fit_failed` for what scikit-learn refuses.
    """
    vectorizer, estimator = _estimators(job)
    job.report.step("reading")
    items = read_train(job.bundle, job.schema)
    refuse_too_little(items, job.params.min_instances)
    labels = labels_to_tell_apart(job.schema, items)
    recipe = Recipe(vectorizer, estimator, job.schema, labels)
    targets = DECISIONS[job.schema.kind].encode(items.targets, labels)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        model, facts = _fit(_Work(job, recipe, items, targets, _plan(job, items, targets)))
    for message in dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, UserWarning)):
        job.report.log("warning", message)
    return FittedTextModel(model, job.schema, facts)


@dataclass(frozen=True)
class _Work:
    """What is fitted on what, and which rows are left out when."""

    job: Job[SklearnTextParams]
    recipe: Recipe
    items: TrainItems
    targets: Targets
    plan: LeftOutPlan

    def fit(self, rows: Rows) -> tuple[TextModel, Any]:
        """Return a model fitted on these rows, and their features."""
        return self.recipe.fit(self.texts(rows), self.targets[rows])

    def texts(self, rows: Rows) -> list[str]:
        """Return the texts of these rows."""
        return [self.items.texts[row] for row in rows]

    def without(self, left_out: Rows) -> Rows:
        """Return all rows but these."""
        return np.setdiff1d(np.arange(len(self.items)), left_out, assume_unique=True)


def _fit(work: _Work) -> tuple[TextModel, FitFacts]:
    recipe, plan = work.recipe, work.plan
    rows = np.arange(len(work.items)) if plan.refit else work.without(plan.folds[0])
    work.job.report.step("fitting")
    model, features = work.fit(rows)
    gives_logits = model.decision.logits(features[:1]) is not None
    calibration = _calibration(work, model, gives_logits=gives_logits)
    if gives_logits and (calibration.judged or model.decision.gives_probabilities):
        model.decision.temperature = calibration.temperature
    facts = FitFacts(
        label_order=recipe.labels,
        n_train=len(work.items),
        metrics=model.decision.train_metrics(features, work.targets[rows]),
        calibration=asdict(calibration),
        card={
            "classifier": recipe.estimator.path,
            "classifier_kwargs": _as_json(recipe.estimator.kwargs),
            "vectorizer": recipe.vectorizer.path,
            "vectorizer_kwargs": _as_json(recipe.vectorizer.kwargs),
            "input": "text",
            "n_features": int(features.shape[1]),
            "n_fitted": len(rows),
        },
    )
    return model, facts


def _estimators(job: Job[SklearnTextParams]) -> tuple[EstimatorSpec, EstimatorSpec]:
    """Return the vectorizer and the classifier or regressor that the params name, each tried once."""
    params = job.params
    numeric = job.schema.kind == "continuous"
    chosen = params.classifier or (DEFAULT_REGRESSOR if numeric else DEFAULT_CLASSIFIER)
    role = Role.REGRESSOR if numeric else Role.CLASSIFIER
    vectorizer = _spec(job, params.vectorizer, params.vectorizer_kwargs, Role.VECTORIZER)
    estimator = _spec(job, chosen, params.classifier_kwargs, role)
    vectorizer.make()
    estimator.make()
    return vectorizer, estimator


def _spec(job: Job[SklearnTextParams], path: str, kwargs: Mapping[str, Any], role: Role) -> EstimatorSpec:
    return EstimatorSpec(path, {**DEFAULT_KWARGS.get(path, {}), **kwargs}, role, job.seed, job.allowed_modules)


def _plan(job: Job[SklearnTextParams], items: TrainItems, targets: Targets) -> LeftOutPlan:
    if job.schema.kind == "continuous" or not job.params.calibrate or len(items) < MIN_ITEMS:
        return LeftOutPlan((), refit=True)
    classes: Rows = targets if targets.ndim == 1 else np.zeros(len(targets), dtype=np.intp)
    return plan_left_out(classes, items.groups, job.seed)


def _calibration(work: _Work, model: TextModel, *, gives_logits: bool) -> Calibration:
    """Return what became of the confidences. A fold that cannot be fitted is a reason, not a failure."""
    why_not = _why_not_calibrated(work, gives_logits=gives_logits)
    if why_not is not None:
        return Calibration(applied=False, reason=why_not)
    work.job.report.step("calibrating")
    try:
        parts = [_left_out_logits(work, fold, model) for fold in work.plan.folds]
    except WorkerError as error:
        return Calibration(applied=False, reason=f"it could not be fitted on a part of train: {error.message}")
    return _judge(np.concatenate(parts), work.targets[np.concatenate(work.plan.folds)], work.job.seed)


def _why_not_calibrated(work: _Work, *, gives_logits: bool) -> str | None:
    if work.job.schema.kind == "continuous":
        return "a number has no confidence"
    if not work.job.params.calibrate:
        return "calibrate is false"
    if len(work.items) < MIN_ITEMS:
        return f"fewer than {MIN_ITEMS} items in the train split"
    if not gives_logits:
        return f"{work.recipe.estimator.path} gives neither probabilities nor a margin per label"
    return None if work.plan.folds else "no item can be left out: all share one group"


def _left_out_logits(work: _Work, fold: Rows, model: TextModel) -> Any:
    """Return the logits of the fold's rows from a model that did not see them: `model` itself, or one for the fold."""
    unaware = work.fit(work.without(fold))[0] if work.plan.refit else model
    return unaware.decision.logits(unaware.vectorizer.transform(work.texts(fold)))


def _judge(logits: Logits, targets: Targets, seed: int) -> Calibration:
    """Calibrate on unseen rows' logits (n, K) and codes (n,), or logits and ticks (n, labels)."""
    decided = ~np.isnan(logits)
    n = int(decided.any(axis=1).sum())
    if n < MIN_ITEMS:
        return Calibration(applied=False, reason=f"fewer than {MIN_ITEMS} items whose labels occur more than once")
    first_half = np.random.default_rng(seed).permutation(len(logits)) % 2 == 0
    if targets.ndim == 2:
        first_half = np.broadcast_to(first_half[:, None], decided.shape)[decided]
        of_tick = logits[decided]
        logits, targets = np.stack([np.zeros(len(of_tick)), of_tick], axis=1), targets[decided]
    return calibrate(logits, targets.astype(np.intp), first_half, n)


def _as_json(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: list(value) if isinstance(value, tuple) else getattr(value, "__name__", value)
        for name, value in kwargs.items()
    }
