"""The process that looks after a study (`training-pipeline up`): while it is there, Dagster's queue moves."""

from __future__ import annotations

import json
import sqlite3

from training_pipeline.ledger import owners, run_rows
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.owners import Owner


def come(ledger: Ledger, owner: Owner) -> None:
    """Write down that `owner` looks after the study from now on."""
    with ledger.transaction() as connection:
        connection.execute(
            "INSERT OR REPLACE INTO pipeline_supervisors (project, owner) VALUES (?, ?)",
            (ledger.project, run_rows.written(owner)),
        )


def leave(ledger: Ledger, owner: Owner) -> None:
    """Write down that `owner` does not look after the study any more; another one's word stays."""
    with ledger.transaction() as connection:
        connection.execute(
            "DELETE FROM pipeline_supervisors WHERE project = ? AND owner = ?",
            (ledger.project, run_rows.written(owner)),
        )


def present(ledger: Ledger) -> Owner | None:
    """Return the process that looks after the study, if one does."""
    with ledger.read() as connection:
        return _present(connection, ledger.project)


def is_there(connection: sqlite3.Connection, project: str) -> bool:
    """Whether some process looks after the study, inside a transaction that is open."""
    return _present(connection, project) is not None


def _present(connection: sqlite3.Connection, project: str) -> Owner | None:
    row = connection.execute("SELECT owner FROM pipeline_supervisors WHERE project = ?", (project,)).fetchone()
    if row is None:
        return None
    owner = Owner(**json.loads(row[0]))
    return None if owners.is_gone(owner) else owner
