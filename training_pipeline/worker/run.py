"""One training run: read the spec, fit, save, let a fresh process predict, compare, report."""

from __future__ import annotations

import os
import time
import traceback
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from training_pipeline.bundle.errors import BundleError
from training_pipeline.bundle.manifest import SchemaSpec
from training_pipeline.bundle.reader import Bundle
from training_pipeline.trainers.base import Fitted, Job, Trainer
from training_pipeline.trainers.params import parse_params
from training_pipeline.trainers.registry import missing_libraries, trainer
from training_pipeline.worker.artifacts import (
    CALIBRATION_FILE,
    METRICS_FILE,
    MODEL_CARD_FILE,
    MODEL_DIRECTORY,
    library_versions,
    model_hashes,
    write_json,
)
from training_pipeline.worker.errors import ExitStatus, Failure, WorkerError, failure_of
from training_pipeline.worker.events import EVENTS_FILE, Events
from training_pipeline.worker.limits import apply_limits, peak_rss_mb
from training_pipeline.worker.predictions import (
    PREDICTIONS_FILE,
    count_to_predict,
    prediction_record,
    rows_to_predict,
)
from training_pipeline.worker.reloaded import N_CHECKED, Reloaded, ReloadedModel, check_same, first_records
from training_pipeline.worker.spec import WorkerSpec, read_spec
from training_pipeline.worker.stop import stop_when_told


@dataclass(frozen=True)
class _Task:
    """What a spec asks for, found and checked."""

    spec: WorkerSpec
    trainer: type[Trainer[Any]]
    job: Job[Any]

    @property
    def bundle(self) -> Bundle:
        return self.job.bundle

    @property
    def schema(self) -> SchemaSpec:
        return self.job.schema

    @property
    def artifacts(self) -> Path:
        return self.spec.artifacts_dir


class _Outcome:
    """Turns whatever ends the block into the run's last event and an exit status."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self.status = ExitStatus.DONE

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None:
            return False
        failure = failure_of(error)
        if not failure.expected:
            traceback.print_exception(error)
        self.status = failure.exit_status
        self._events.error(failure.code, failure.message, failure.hint)
        return isinstance(error, Exception)


def run(spec_path: Path) -> int:
    """Do what the spec asks for; return the exit status. Events go to events.jsonl beside the spec."""
    events = Events(spec_path.with_name(EVENTS_FILE))
    with _Outcome(events) as outcome:
        spec = read_spec(spec_path)
        stop_when_told(lambda failure: _stop(failure, events))
        apply_limits(spec.limits)
        task = _prepare(spec, events)
        task.trainer.warm_up()
        with ReloadedModel(spec) as copy:
            _train(task, events, copy)
    return outcome.status


def _stop(failure: Failure, events: Events) -> None:
    """End this process. The fresh process notices by itself: its pipes break."""
    if events.error(failure.code, failure.message, failure.hint):
        os._exit(failure.exit_status)


def _prepare(spec: WorkerSpec, events: Events) -> _Task:
    """Refuse what cannot work before anything is imported or written."""
    found = trainer(spec.trainer)
    params = parse_params(spec.trainer, found.params_class, spec.params)
    missing = missing_libraries(found)
    if missing:
        message = f"{spec.trainer} needs {', '.join(missing)}, which this machine's Python lacks."
        raise WorkerError("missing_dependency", message, f"Install with: {found.install}")
    bundle = Bundle.open(spec.bundle_dir)
    bundle.verify()
    job = Job(
        bundle=bundle,
        schema=_schema(spec, bundle, found),
        params=params,
        seed=spec.seed,
        report=events,
        allowed_modules=spec.allowed_modules,
        num_threads=spec.limits.num_threads,
        device=spec.limits.device,
    )
    return _Task(spec, found, job)


def _schema(spec: WorkerSpec, bundle: Bundle, found: type[Trainer[Any]]) -> SchemaSpec:
    try:
        schema = bundle.manifest.schema(spec.schema)
    except BundleError as error:
        raise WorkerError("unknown_schema", str(error)) from error
    if schema.kind not in found.kinds:
        raise WorkerError(
            "validation_failed",
            f"{spec.trainer} does not learn {schema.kind} schemas such as {schema.name!r}; "
            f"it learns {', '.join(found.kinds)}.",
        )
    return schema


def _train(task: _Task, events: Events, copy: ReloadedModel) -> None:
    started = time.monotonic()
    fitted = task.trainer.fit(task.job)
    train_seconds = time.monotonic() - started
    _save(task, fitted, events)
    reloaded = _predict(task, fitted, events, copy)
    metrics = {
        "n_train": fitted.facts.n_train,
        "train_seconds": round(train_seconds, 3),
        "peak_rss_mb": round(peak_rss_mb(), 1),
        "predict_peak_rss_mb": round(reloaded.peak_rss_mb, 1),
        **fitted.facts.metrics,
    }
    write_json(task.artifacts / METRICS_FILE, metrics)
    for name, value in metrics.items():
        events.metric(name, value)
    events.result(
        model_version=task.spec.model_version,
        metrics=metrics,
        label_order=fitted.facts.label_order,
        predictions_file=PREDICTIONS_FILE,
        n_predictions=reloaded.n_predictions,
    )


def _save(task: _Task, fitted: Fitted, events: Events) -> None:
    events.step("saving")
    model = task.artifacts / MODEL_DIRECTORY
    try:
        model.mkdir(parents=True)
    except FileExistsError:
        raise WorkerError("bad_spec", f"{model} is there already; every run writes into a folder of its own.") from None
    fitted.save(model)
    facts, spec = fitted.facts, task.spec
    write_json(task.artifacts / CALIBRATION_FILE, facts.calibration)
    card = {
        "v": 1,
        "run_id": spec.run_id,
        "model_version": spec.model_version,
        "trainer": spec.trainer,
        "schema": spec.schema,
        "annotation_type": task.schema.annotation_type,
        "kind": task.schema.kind,
        "label_order": facts.label_order,
        "n_train": facts.n_train,
        "bundle_digest": task.bundle.manifest.digest,
        "seed": spec.seed,
        "params": asdict(task.job.params),
        **facts.card,
        "calibration": facts.calibration,
        "libraries": library_versions(task.trainer.libraries),
        "model_files": model_hashes(model),
    }
    write_json(task.artifacts / MODEL_CARD_FILE, card)
    for name in (MODEL_DIRECTORY, CALIBRATION_FILE, MODEL_CARD_FILE):
        events.artifact(name)


def _predict(task: _Task, fitted: Fitted, events: Events, copy: ReloadedModel) -> Reloaded:
    """Let the fresh process predict everything; meanwhile predict the first few here, and compare."""
    events.step("predicting")
    total = count_to_predict(task.bundle)
    copy.start_predicting()
    of_model = [
        prediction_record(prediction, task.schema)
        for prediction in islice(fitted.predict(rows_to_predict(task.bundle)), N_CHECKED)
    ]
    reloaded = copy.wait(lambda current: events.progress("predicting", current, total))
    events.step("checking")
    check_same(of_model, first_records(task.artifacts / PREDICTIONS_FILE))
    events.artifact(PREDICTIONS_FILE)
    return reloaded
