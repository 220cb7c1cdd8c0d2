"""Reviewers' verdicts on pre-labels, which the annotation server writes."""

from __future__ import annotations

import sqlite3


def rejected_pairs(connection: sqlite3.Connection, project: str) -> set[tuple[str, str]]:
    """Return the (item id, schema) pairs that any reviewer rejected.

    A verdict that was given without a schema names none, so it rejects nothing.
    """
    rows = connection.execute(
        "SELECT DISTINCT instance_id, schema_name FROM model_review_verdicts"
        " WHERE project = ? AND verdict = 'reject' AND schema_name <> ''",
        (project,),
    )
    return set(rows.fetchall())
