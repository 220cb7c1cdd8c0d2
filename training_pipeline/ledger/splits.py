"""Each item's split in each run: what is known of items held out, and the guard that no train item is shown."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from training_pipeline.errors import PipelineError
from training_pipeline.ledger import run_rows, runs
from training_pipeline.ledger.database import BATCH_ROWS, Ledger
from training_pipeline.ledger.records import RunRecord

SPLITS = ("train", "val", "test")


class RunItem(NamedTuple):
    """One item of a run and the split it stands in."""

    instance_id: str
    split: str


def write_run_items(ledger: Ledger, run_id: str, items: Iterable[tuple[str, str]]) -> RunRecord:
    """Write the (item id, split) pairs of an active run, and return the run with their counts.

    Written in batches; `items_written` is set with the last of them, and only then may the run publish. Written again,
    they replace what an earlier try left. An item given twice is refused with `leakage`.
    """
    with ledger.read() as connection:
        run = runs.require(connection, ledger.project, run_id)
    if not run.status.is_active:
        raise PipelineError("bad_transition", f"Run {run_id} is {run.status}: only a run that goes writes its items.")
    _delete(ledger, run_id)
    counts: Counter[str] = Counter()

    def write(connection: sqlite3.Connection, batch: list[tuple[str, str]]) -> None:
        counts.update(split for _, split in batch)
        try:
            connection.executemany(
                "INSERT INTO training_run_items (project, run_id, instance_id, split) VALUES (?, ?, ?, ?)",
                ((ledger.project, run_id, instance_id, split) for instance_id, split in batch),
            )
        except sqlite3.IntegrityError as error:
            raise PipelineError(
                "leakage",
                f"An item stands twice in the splits of run {run_id}, so the run cannot go on: each item belongs to"
                " one split. Check the study's items for ids that occur twice.",
            ) from error

    ledger.write_in_batches(items, write)
    with ledger.transaction() as connection:
        n_of_split = {f"n_{split}": counts[split] for split in SPLITS}
        run_rows.update(connection, ledger.project, run_id, {**n_of_split, "items_written": True})
        return runs.require(connection, ledger.project, run_id)


def train_items(connection: sqlite3.Connection, project: str) -> set[str]:
    """Return the ids in train of any run that the ledger still has, the annotation server's own runs included."""
    found: set[str] = set()
    for run_id in runs_with_items(connection, project):
        found.update(
            instance_id
            for (instance_id,) in connection.execute(
                "SELECT instance_id FROM training_run_items WHERE project = ? AND run_id = ? AND split = 'train'",
                (project, run_id),
            )
        )
    return found


def runs_with_items(connection: sqlite3.Connection, project: str) -> tuple[str, ...]:
    """Return the ids of the runs whose items the ledger has, sorted."""
    # One index look-up a run; DISTINCT would read millions of entries to find five.
    rows = connection.execute(
        "WITH RECURSIVE run(id) AS ("
        " SELECT min(run_id) FROM training_run_items WHERE project = ?1"
        " UNION ALL SELECT (SELECT min(run_id) FROM training_run_items WHERE project = ?1 AND run_id > run.id)"
        " FROM run WHERE run.id IS NOT NULL) SELECT id FROM run WHERE id IS NOT NULL",
        (project,),
    )
    return tuple(run_id for (run_id,) in rows)


def run_items(ledger: Ledger, run_id: str) -> Iterator[RunItem]:
    """Yield a run's items and their splits, sorted by item id."""
    after, full = "", True
    while full:
        with ledger.read() as connection:
            page = connection.execute(
                "SELECT instance_id, split FROM training_run_items"
                " WHERE project = ? AND run_id = ? AND instance_id > ? ORDER BY instance_id LIMIT ?",
                (ledger.project, run_id, after, BATCH_ROWS),
            ).fetchall()
        yield from (RunItem(*row) for row in page)
        full = len(page) == BATCH_ROWS
        after = page[-1][0] if page else after


def splits_of(ledger: Ledger, instance_id: str) -> dict[str, str]:
    """Return {run id: the item's split in it}, oldest run first."""
    with ledger.read() as connection:
        found = {}
        for run_id in runs_with_items(connection, ledger.project):
            row = connection.execute(
                "SELECT split FROM training_run_items WHERE project = ? AND run_id = ? AND instance_id = ?",
                (ledger.project, run_id, instance_id),
            ).fetchone()
            if row:
                found[run_id] = row[0]
        return found


def delete_items_of_no_run(ledger: Ledger) -> None:
    """Delete the items of runs that are gone from the ledger, and those that a run left half written when it ended."""
    with ledger.read() as connection:
        unwanted = [
            run_id
            for run_id in runs_with_items(connection, ledger.project)
            if not _keeps_items(connection, ledger.project, run_id)
        ]
    for run_id in unwanted:
        _delete(ledger, run_id)


def _keeps_items(connection: sqlite3.Connection, project: str, run_id: str) -> bool:
    ours = run_rows.select(connection, project, "run_id = ?", run_id)
    if ours:
        return ours[0].items_written or not ours[0].status.has_ended
    theirs = connection.execute(
        "SELECT 1 FROM training_runs WHERE project = ? AND run_id = ?", (project, run_id)
    ).fetchone()
    return theirs is not None


def _delete(ledger: Ledger, run_id: str) -> None:
    def step(connection: sqlite3.Connection) -> bool:
        deleted = connection.execute(
            "DELETE FROM training_run_items WHERE rowid IN (SELECT rowid FROM training_run_items"
            " WHERE project = ? AND run_id = ? LIMIT ?)",
            (ledger.project, run_id, BATCH_ROWS),
        )
        return deleted.rowcount == BATCH_ROWS

    ledger.repeat(step)
