"""What a decision about pre-labels was based on, so that a change made meanwhile is noticed before it counts."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from training_pipeline.ledger import predictions, splits


@dataclass(frozen=True)
class Fingerprint:
    """Cheap marks of everything that a publication reads: equal marks, equal state."""

    live_generation: int
    runs_with_items: tuple[str, ...]
    newest_item: int | None
    verdicts: tuple[int, float | None]
    runs_shown: tuple[str, ...]
    newest_shown: int | None


def take(connection: sqlite3.Connection, project: str) -> Fingerprint:
    """Return the marks of the state that the open transaction sees; a few index look-ups, whatever the size."""
    (newest_item,) = connection.execute("SELECT max(rowid) FROM training_run_items").fetchone()
    (newest_shown,) = connection.execute("SELECT max(rowid) FROM training_predictions").fetchone()
    verdicts = connection.execute(
        "SELECT count(*), max(updated_at) FROM model_review_verdicts WHERE project = ?", (project,)
    ).fetchone()
    return Fingerprint(
        live_generation=live_generation(connection, project),
        runs_with_items=splits.runs_with_items(connection, project),
        newest_item=newest_item,
        verdicts=verdicts,
        runs_shown=predictions.runs_shown(connection, project),
        newest_shown=newest_shown,
    )


def live_generation(connection: sqlite3.Connection, project: str) -> int:
    """Return the number of the generation of stored predictions that counts; 0 before the first publication."""
    row = connection.execute(
        "SELECT live_generation FROM pipeline_publications WHERE project = ?", (project,)
    ).fetchone()
    return row[0] if row else 0
