"""Stored predictions: the newest of each item and schema, and why it is shown to annotators or not.

Potato's table holds those that are shown; ours holds all. A publication writes the whole new set beside the old one, as
a generation of its own, in batches; one transaction then makes that generation the live one and replaces what Potato's
table shows. Whoever reads in between sees the old state, and a publication that dies leaves nothing but a generation
that nobody reads, which `sweep` removes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import orjson

from training_pipeline.ledger.database import Ledger


class Exclusion(StrEnum):
    """Why a stored prediction is not shown, in the order in which the reasons are looked for."""

    TRAIN_SPLIT = "train_split"
    SCHEMA_NOT_ENABLED = "schema_not_enabled"
    REJECTED = "rejected"
    LOW_CONFIDENCE = "low_confidence"
    MISSING_ITEM = "missing_item"
    SUPPLIED = "supplied"
    NOT_SHOWABLE = "not_showable"
    EMPTY = "empty"


@dataclass(frozen=True)
class StoredPrediction:
    """The newest prediction of an item and schema; `exclusion` None: it is shown. `created_at` in epoch seconds."""

    instance_id: str
    schema_name: str
    run_id: str
    payload: Any
    confidence: float | None
    created_at: float
    exclusion: Exclusion | None


_LIVE = (
    "FROM pipeline_predictions AS stored WHERE project = :project AND generation ="
    " (SELECT live_generation FROM pipeline_publications WHERE project = :project)"
)
_FIELDS = "instance_id, schema_name, run_id, payload, confidence, created_at, exclusion"


def of_item(ledger: Ledger, instance_id: str) -> list[StoredPrediction]:
    """Return what is stored for an item, by schema."""
    return _select(ledger, "instance_id = :item ORDER BY schema_name", {"item": instance_id})


def of_run(
    ledger: Ledger, run_id: str, *, exclusion: Exclusion | None, limit: int, offset: int = 0
) -> list[StoredPrediction]:
    """Return a page of what is stored of a run, by item: those left out for `exclusion`, or (None) those shown."""
    return _select(
        ledger,
        "run_id = :run AND exclusion = :exclusion ORDER BY instance_id, schema_name LIMIT :limit OFFSET :offset",
        {"run": run_id, "exclusion": exclusion or "", "limit": limit, "offset": offset},
    )


def count(ledger: Ledger, run_id: str | None = None) -> dict[Exclusion | None, int]:
    """Return how many predictions are stored, of one run or of all, by why they are not shown (None: shown)."""
    with ledger.read() as connection:
        rows = connection.execute(
            f"SELECT exclusion, count(*) {_LIVE} AND (:run IS NULL OR run_id = :run) GROUP BY exclusion",
            {"project": ledger.project, "run": run_id},
        )
        return {Exclusion(why) if why else None: n for why, n in rows}


def shown(ledger: Ledger) -> Iterator[tuple[str, str, str]]:
    """Yield (item id, schema, run id) of every pre-label that Potato's table holds, by item."""
    with ledger.read() as connection:
        yield from connection.execute(
            "SELECT instance_id, schema_name, run_id FROM training_predictions WHERE project = ?"
            " ORDER BY instance_id, schema_name",
            (ledger.project,),
        )


def n_shown_of_runs(ledger: Ledger) -> dict[str, int]:
    """Return how many pre-labels are shown now, by run, for the runs that have some; the server's own runs included."""
    with ledger.read() as connection:
        rows = connection.execute(
            "SELECT run_id, count(*) FROM training_predictions WHERE project = ? GROUP BY run_id", (ledger.project,)
        )
        return dict(rows.fetchall())


def runs_with_predictions(connection: sqlite3.Connection, project: str) -> set[str]:
    """Return the ids of the runs of which a prediction is stored or shown."""
    stored = connection.execute(f"SELECT DISTINCT run_id {_LIVE}", {"project": project})
    return {run_id for (run_id,) in stored} | set(runs_shown(connection, project))


def runs_shown(connection: sqlite3.Connection, project: str) -> tuple[str, ...]:
    """Return the ids of the runs of which a pre-label is shown, sorted."""
    # One index look-up a run; DISTINCT would read a million entries to find one.
    rows = connection.execute(
        "WITH RECURSIVE run(id) AS ("
        " SELECT min(run_id) FROM training_predictions WHERE project = ?1"
        " UNION ALL SELECT (SELECT min(run_id) FROM training_predictions WHERE project = ?1 AND run_id > run.id)"
        " FROM run WHERE run.id IS NOT NULL) SELECT id FROM run WHERE id IS NOT NULL",
        (project,),
    )
    return tuple(run_id for (run_id,) in rows)


def _select(ledger: Ledger, where: str, values: dict[str, object]) -> list[StoredPrediction]:
    with ledger.read() as connection:
        rows = connection.execute(
            f"SELECT {_FIELDS} {_LIVE} AND {where}",
            {"project": ledger.project, **values},
        )
        return [
            StoredPrediction(item, schema, run, orjson.loads(payload), confidence, at, Exclusion(why) if why else None)
            for item, schema, run, payload, confidence, at, why in rows
        ]
