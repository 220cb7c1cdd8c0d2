"""What reviewers said about the model's answers."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from training_pipeline.errors import PipelineError

BUSY_SECONDS = 10.0


@dataclass(frozen=True)
class Verdict:
    """One reviewer's verdict (accept, correct or reject) on an item's pre-label; `updated_at` in epoch seconds.

    `schema` is empty where the reviewer named none; such a verdict is about no schema.
    """

    item: str
    schema: str
    reviewer: str
    verdict: str
    updated_at: float


def read_verdicts(database: Path, project: str) -> list[Verdict]:
    """Return a project's verdicts, oldest first; none where nobody has reviewed yet.

    Opens the database for reading alone and waits up to 10 s for a writer: PipelineError `ledger_busy` after that,
    `bad_ledger` where the file is no database.
    """
    if not database.is_file():
        return []
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)) as connection:
            return _select(connection, project)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            message = f"{database} has been locked by another program for {BUSY_SECONDS:g} seconds; try again"
            raise PipelineError("ledger_busy", message) from error
        raise PipelineError("bad_ledger", f"{database} cannot be read: {error}") from error
    except sqlite3.DatabaseError as error:
        raise PipelineError("bad_ledger", f"{database} cannot be read: {error}") from error


def corrected_items(database: Path, project: str, schema: str) -> dict[str, frozenset[str]]:
    """Return {item: reviewers} of the verdicts `correct` on one schema's pre-labels; raises as `read_verdicts`."""
    reviewers: dict[str, set[str]] = {}
    for verdict in read_verdicts(database, project):
        if verdict.verdict == "correct" and verdict.schema == schema:
            reviewers.setdefault(verdict.item, set()).add(verdict.reviewer)
    return {item: frozenset(names) for item, names in reviewers.items()}


def _select(connection: sqlite3.Connection, project: str) -> list[Verdict]:
    tables = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'model_review_verdicts'")
    if tables.fetchone() is None:
        return []
    rows = connection.execute(
        "SELECT instance_id, schema_name, reviewer, verdict, updated_at FROM model_review_verdicts"
        " WHERE project = ? ORDER BY updated_at, instance_id, schema_name, reviewer",
        (project,),
    )
    return [Verdict(*row) for row in rows]
