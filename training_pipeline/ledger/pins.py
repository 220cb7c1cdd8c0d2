"""Items pinned for training: they go to train in every later run, once somebody has labelled them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import NamedTuple

from training_pipeline.ledger.database import Ledger


class Pin(NamedTuple):
    """One pinned item; `source` says who or what pinned it (a slice's name, say), `pinned_at` when (epoch seconds)."""

    instance_id: str
    source: str
    pinned_at: float


def pin(ledger: Ledger, instance_ids: Iterable[str], source: str = "") -> int:
    """Pin items and return how many were not pinned before; those that were keep their first pin."""
    now = time.time()
    with ledger.transaction() as connection:
        before = connection.total_changes
        connection.executemany(
            "INSERT OR IGNORE INTO pipeline_pins (project, instance_id, source, pinned_at) VALUES (?, ?, ?, ?)",
            ((ledger.project, instance_id, source, now) for instance_id in instance_ids),
        )
        return connection.total_changes - before


def unpin(ledger: Ledger, instance_ids: Iterable[str]) -> int:
    """Take pins away and return how many there were."""
    with ledger.transaction() as connection:
        before = connection.total_changes
        connection.executemany(
            "DELETE FROM pipeline_pins WHERE project = ? AND instance_id = ?",
            ((ledger.project, instance_id) for instance_id in instance_ids),
        )
        return connection.total_changes - before


def pins(ledger: Ledger) -> list[Pin]:
    """Return all pins, by item id."""
    with ledger.read() as connection:
        rows = connection.execute(
            "SELECT instance_id, source, pinned_at FROM pipeline_pins WHERE project = ? ORDER BY instance_id",
            (ledger.project,),
        )
        return [Pin(*row) for row in rows]
