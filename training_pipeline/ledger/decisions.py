"""The last decision about an automatic run, for whoever asks why none is going."""

from __future__ import annotations

import time
from dataclasses import dataclass

from training_pipeline.ledger.database import Ledger


@dataclass(frozen=True)
class LastDecision:
    """When it was made (epoch seconds), and why no run was started; None: one was."""

    decided_at: float
    skip_reason: str | None


SECONDS_KEPT = 60.0
"""How old a decision may be before the same one is written again, so that one that stays costs no writing."""


def note(ledger: Ledger, skip_reason: str | None) -> None:
    """Write down the decision that was made now."""
    known = last(ledger)
    if known and known.skip_reason == skip_reason and abs(time.time() - known.decided_at) < SECONDS_KEPT:
        return
    with ledger.transaction() as connection:
        connection.execute(
            "INSERT OR REPLACE INTO pipeline_decisions VALUES (?, ?, ?)", (ledger.project, time.time(), skip_reason)
        )


def last(ledger: Ledger) -> LastDecision | None:
    """Return the last decision; None before the first."""
    with ledger.read() as connection:
        row = connection.execute(
            "SELECT decided_at, skip_reason FROM pipeline_decisions WHERE project = ?", (ledger.project,)
        ).fetchone()
    return LastDecision(*row) if row else None
