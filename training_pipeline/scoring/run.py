"""The scores of one run, from what it left on disk: its training data and its predictions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Protocol

from training_pipeline.bundle.reader import Bundle
from training_pipeline.scoring.held_out import score
from training_pipeline.scoring.records import HeldOut, HeldOutScores
from training_pipeline.study.answers import Value
from training_pipeline.study.kinds import Kind
from training_pipeline.study.schemas import Schema

HELD_OUT = ("val", "test")


class Predicted(Protocol):
    """One prediction as a run stores it: `payload` in the shape of the schema's type."""

    @property
    def instance_id(self) -> str: ...  # noqa: D102
    @property
    def payload(self) -> Any: ...  # noqa: D102


def score_run(
    schema: Schema, bundle: Bundle, predictions: Iterable[Predicted], *, keeps_best_epoch: bool
) -> HeldOutScores:
    """Score a run's predictions against the agreed labels of its own val and test items.

    Predictions of other items are passed over, so the whole file can be given.
    """
    wanted = {row.instance_id for split in HELD_OUT for row in bundle.rows(split)}
    predicted = {p.instance_id: value_of(schema.kind, p.payload) for p in predictions if p.instance_id in wanted}
    return score(
        _with_observed_labels(schema, bundle),
        {split: _held_out(schema, bundle, split, predicted) for split in HELD_OUT},
        keeps_best_epoch=keeps_best_epoch,
        seed=bundle.manifest.split_seed,
        train_range=_train_range(schema, bundle),
    )


def value_of(kind: Kind, payload: Any) -> Value:
    """Return the answer that a stored payload stands for, in the form of an agreed label."""
    if kind is Kind.MULTILABEL:
        return tuple(sorted(entry["label"] for entry in payload))
    if kind in (Kind.NOMINAL, Kind.ORDINAL):
        return str(payload["label"])
    return float(payload) if kind is Kind.CONTINUOUS else str(payload)


def _held_out(schema: Schema, bundle: Bundle, split: str, predicted: dict[str, Value]) -> HeldOut:
    ids: list[str] = []
    truths: list[Value] = []
    groups: list[str] = []
    for row in bundle.rows(split):
        ids.append(row.instance_id)
        truths.append((row.targets or {})[schema.name])
        if row.group is not None:
            groups.append(row.group)
    return HeldOut(ids, truths, [predicted.get(item) for item in ids], groups or None)


def _with_observed_labels(schema: Schema, bundle: Bundle) -> Schema:
    """Return a schema of sets with every label that its training data holds: what a model could have predicted."""
    if schema.kind is not Kind.MULTILABEL:
        return schema
    return replace(schema, options=bundle.manifest.schema(schema.name).labels)


def _train_range(schema: Schema, bundle: Bundle) -> tuple[float, float] | None:
    if schema.kind is not Kind.CONTINUOUS or schema.scale is not None:
        return None
    labels = [float((row.targets or {})[schema.name]) for row in bundle.rows("train")]  # type: ignore[arg-type] # numbers
    return (min(labels), max(labels)) if labels else None
