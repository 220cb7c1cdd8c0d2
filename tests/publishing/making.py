"""Studies and predictions for tests of write-back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.ledger.making import PROJECT, evaluating, execute
from training_pipeline.ledger import runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import Status
from training_pipeline.publishing.checks import KnownItems, WritebackSettings
from training_pipeline.publishing.predictions_file import Prediction
from training_pipeline.publishing.writeback import WriteBack
from training_pipeline.study.kinds import Kind
from training_pipeline.study.schemas import Schema

SENTIMENT = Schema("sentiment", "radio", Kind.NOMINAL, options=("positive", "negative"))
TOPICS = Schema("topics", "multiselect", Kind.MULTILABEL, options=("price", "quality"))
RATING = Schema("rating", "slider", Kind.CONTINUOUS, scale=(-2.0, 2.0))


def write_back(ledger: Ledger, *, known: Iterable[str] = "abcdefgh", **given: Any) -> WriteBack:
    """Return the write-back of a study with items `known`; `given` are its settings."""
    supplied = given.pop("supplied", frozenset())
    settings = WritebackSettings(**{"schemas": ("sentiment",), **given})
    return WriteBack(ledger, settings, (SENTIMENT, TOPICS, RATING), KnownItems(frozenset(known), supplied))


def says(instance_id: str, confidence: float | None = 0.9, label: str = "positive") -> Prediction:
    return Prediction(instance_id, "sentiment", {"label": label, "confidence": confidence}, confidence)


def next_run(ledger: Ledger, **splits_of: str) -> str:
    """End the run that goes, and bring a new one to where it may publish: `train="ab"` puts items a and b in train."""
    for run in runs.list_runs(ledger):
        if run.status.is_active:
            runs.finish(ledger, run.run_id, Status.SUCCESS if run.writeback else Status.ERROR)
    return evaluating(ledger, {item: split for split, items in splits_of.items() for item in items})


def shown(ledger: Ledger) -> dict[str, str]:
    """Return {item: run} of all that Potato's table shows, whatever the schema."""
    rows = execute(ledger.path, "SELECT instance_id, run_id FROM training_predictions WHERE project = ?", PROJECT)
    return dict(rows)


def reject(ledger: Ledger, instance_id: str, schema: str = "sentiment", reviewer: str = "alice") -> None:
    execute(
        ledger.path,
        "INSERT INTO model_review_verdicts VALUES (?, ?, ?, ?, 'reject', '', 1)",
        PROJECT,
        instance_id,
        schema,
        reviewer,
    )
