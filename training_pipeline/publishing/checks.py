"""The checks that a prediction passes before annotators see it, in their order."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Set
from dataclasses import dataclass

import orjson

from training_pipeline.errors import PipelineError
from training_pipeline.ledger import runs, splits, verdicts
from training_pipeline.ledger.fingerprint import Fingerprint, take
from training_pipeline.ledger.predictions import Exclusion
from training_pipeline.ledger.staging import StagedRow
from training_pipeline.publishing import payloads
from training_pipeline.study.schemas import Schema, no_such_options


@dataclass(frozen=True)
class WritebackSettings:
    """What the study shows: predictions for `schemas` (names) with at least `min_confidence` (0 to 1)."""

    schemas: tuple[str, ...] = ()
    min_confidence: float = 0.0
    allow_slider: bool = False


@dataclass(frozen=True)
class KnownItems:
    """The study's items: their ids, and the (item id, schema) pairs whose pre-label came with the data."""

    ids: Container[str]
    supplied: Container[tuple[str, str]] = frozenset()


@dataclass(frozen=True)
class Guard:
    """What the ledger says against showing a prediction, as of one moment, which `fingerprint` marks."""

    train_items: Set[str]
    rejected: Set[tuple[str, str]]
    our_runs: Set[str]
    fingerprint: Fingerprint


def read_guard(connection: sqlite3.Connection, project: str) -> Guard:
    """Return the guard as the open transaction sees it."""
    return Guard(
        train_items=splits.train_items(connection, project),
        rejected=verdicts.rejected_pairs(connection, project),
        our_runs=runs.our_ids(connection, project),
        fingerprint=take(connection, project),
    )


@dataclass(frozen=True)
class Checks:
    """The checks of one publication: `schemas` are those of the study by name, `hidden` says why the server cannot show
    some of them at all.
    """

    settings: WritebackSettings
    schemas: Mapping[str, Schema]
    hidden: Mapping[str, str]
    items: KnownItems
    guard: Guard

    def decided(self, row: StagedRow) -> StagedRow:
        """Return the row with the first reason that speaks against showing it, or with none."""
        return StagedRow(*row[:6], self._exclusion(row) or "")

    def _exclusion(self, row: StagedRow) -> Exclusion | None:
        pair = (row.instance_id, row.schema_name)
        enabled = row.schema_name in self.settings.schemas
        if row.instance_id in self.guard.train_items:
            return Exclusion.TRAIN_SPLIT
        # What a run of the annotation server shows for a schema that is not ours to show stays its business.
        if not enabled and row.run_id in self.guard.our_runs:
            return Exclusion.SCHEMA_NOT_ENABLED
        if pair in self.guard.rejected:
            return Exclusion.REJECTED
        return self._exclusion_of_enabled(row, pair) if enabled else None

    def _exclusion_of_enabled(self, row: StagedRow, pair: tuple[str, str]) -> Exclusion | None:
        if (row.confidence or 0.0) < self.settings.min_confidence:
            return Exclusion.LOW_CONFIDENCE
        if row.instance_id not in self.items.ids:
            return Exclusion.MISSING_ITEM
        if pair in self.items.supplied:
            return Exclusion.SUPPLIED
        if row.schema_name in self.hidden or self._strange_labels(row):
            return Exclusion.NOT_SHOWABLE
        return Exclusion.EMPTY if payloads.is_empty(row.payload) else None

    def warnings(self, rows: Iterable[StagedRow]) -> list[str]:
        """Return why predictions cannot be shown: schemas as a whole, and those of `rows` for their labels."""
        counts: dict[str, Counter[str]] = {}
        for row in rows:
            if row.exclusion == Exclusion.NOT_SHOWABLE and row.schema_name not in self.hidden:
                counts.setdefault(row.schema_name, Counter()).update(self._strange_labels(row))
        strange = (
            f"{no_such_options(name, counts[name], 'predictions')} They are stored and not shown."
            for name in sorted(counts)
        )
        return [*self.hidden.values(), *strange]

    def _strange_labels(self, row: StagedRow) -> tuple[str, ...]:
        return payloads.strange_labels(self.schemas[row.schema_name], orjson.loads(row.payload))


def hidden_schemas(schemas: Mapping[str, Schema], settings: WritebackSettings) -> dict[str, str]:
    """Return {name: why the server cannot show it} of the schemas that are to be shown and cannot be."""
    unknown = sorted(set(settings.schemas) - schemas.keys())
    if unknown:
        raise PipelineError(
            "unknown_schema",
            f"model_training.writeback.schemas names {', '.join(unknown)}, which the study does not have; its schemas"
            f" are {', '.join(schemas)}.",
        )
    reasons = {
        name: payloads.not_showable_because(schemas[name], allow_slider=settings.allow_slider)
        for name in settings.schemas
    }
    return {name: reason for name, reason in reasons.items() if reason is not None}
