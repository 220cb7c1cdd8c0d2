"""How many answers are new since the last run that started, a file of answers at a time.

An answer is an (annotator, item) pair. A schema's pairs are kept as one blob an annotator, eight bytes of hash an item:
those that the annotator's file held when it was last read (`answered`), and those that the last run had (`trained`).
With them stand what the file looked like then (`mark`), so that it is read again only when it changed, and how many
pairs are new (`n_new`), empty when that has to be counted afresh.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping

from training_pipeline.ledger.database import Ledger

_HASH_BYTES = 8


def item_hash(item: str) -> bytes:
    """Return the eight bytes that stand for an item."""
    return hashlib.blake2b(item.encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES).digest()


def blob_of(items: Iterable[str]) -> bytes:
    """Return the hashes of some items as one blob."""
    return b"".join(map(item_hash, items))


def count_new(ledger: Ledger, schema: str, marks: Mapping[str, str], read: Callable[[str], bytes | None]) -> int:
    """Return how many pairs of the files there are (`marks` by annotator) the last run did not have.

    `read` gives the blob of an annotator's file whose mark has changed, None for one that cannot be read, which keeps
    its last count and is tried again the next time. Where nothing has changed nothing is read or written.
    """
    known = _counts(ledger, schema)
    changed = {
        annotator: answered
        for annotator, mark in marks.items()
        if (annotator not in known or known[annotator][0] != mark) and (answered := read(annotator)) is not None
    }
    if changed or any(n_new is None for _, n_new in known.values()):
        with ledger.transaction() as connection:
            connection.executemany(
                "INSERT INTO pipeline_answer_counts VALUES (?, ?, ?, ?, NULL, ?, x'')"
                " ON CONFLICT DO UPDATE SET mark = excluded.mark, n_new = NULL, answered = excluded.answered",
                (
                    (ledger.project, schema, os.fsencode(annotator), marks[annotator], answered)
                    for annotator, answered in changed.items()
                ),
            )
            _count_afresh(connection, ledger.project, schema)
        known = _counts(ledger, schema)
    return sum(known[annotator][1] or 0 for annotator in marks if annotator in known)


def note_trained(
    ledger: Ledger, schema: str, run_id: str, trained: Mapping[str, bytes], unread: Collection[str]
) -> None:
    """Note which pairs a run has. Of annotators whose file it could not read (`unread`): those counted last."""
    with ledger.transaction() as connection:
        connection.executemany(
            "INSERT INTO pipeline_answer_counts VALUES (?, ?, ?, '', NULL, x'', ?)"
            " ON CONFLICT DO UPDATE SET trained = excluded.trained",
            ((ledger.project, schema, os.fsencode(name), blob) for name, blob in trained.items()),
        )
        for annotator in unread:
            _take_counted_as_trained(connection, ledger.project, schema, "AND annotator = ?", os.fsencode(annotator))
        connection.execute(
            "UPDATE pipeline_answer_counts SET n_new = NULL WHERE project = ? AND schema_name = ?",
            (ledger.project, schema),
        )
        _note_run(connection, ledger.project, schema, run_id)


def note_counted_as_trained(ledger: Ledger, schema: str, run_id: str) -> None:
    """Note that a run which ended before it had read an answer was given those that were counted last."""
    with ledger.transaction() as connection:
        _take_counted_as_trained(connection, ledger.project, schema)
        _note_run(connection, ledger.project, schema, run_id)


def run_of_answers(ledger: Ledger, schema: str) -> str | None:
    """Return the run that the answers which count as trained are of."""
    with ledger.read() as connection:
        row = connection.execute(
            "SELECT run_id FROM pipeline_answers_of_run WHERE project = ? AND schema_name = ?", (ledger.project, schema)
        ).fetchone()
    return row[0] if row else None


def _counts(ledger: Ledger, schema: str) -> dict[str, tuple[str, int | None]]:
    with ledger.read() as connection:
        rows = connection.execute(
            "SELECT annotator, mark, n_new FROM pipeline_answer_counts WHERE project = ? AND schema_name = ?",
            (ledger.project, schema),
        ).fetchall()
    return {os.fsdecode(annotator): (mark, n_new) for annotator, mark, n_new in rows}


def _count_afresh(connection: sqlite3.Connection, project: str, schema: str) -> None:
    uncounted = connection.execute(
        "SELECT rowid, answered, trained FROM pipeline_answer_counts"
        " WHERE project = ? AND schema_name = ? AND n_new IS NULL",
        (project, schema),
    ).fetchall()
    connection.executemany(
        "UPDATE pipeline_answer_counts SET n_new = ? WHERE rowid = ?",
        ((len(_hashes(answered) - _hashes(trained)), rowid) for rowid, answered, trained in uncounted),
    )


def _hashes(blob: bytes) -> set[bytes]:
    return {blob[at : at + _HASH_BYTES] for at in range(0, len(blob), _HASH_BYTES)}


def _take_counted_as_trained(
    connection: sqlite3.Connection, project: str, schema: str, of: str = "", *values: bytes
) -> None:
    # A file that was never counted has no mark, and what the last run had of it stays.
    connection.execute(
        "UPDATE pipeline_answer_counts SET trained = answered, n_new = 0"  # noqa: S608 - our own condition
        f" WHERE project = ? AND schema_name = ? AND mark <> '' {of}",
        (project, schema, *values),
    )


def _note_run(connection: sqlite3.Connection, project: str, schema: str, run_id: str) -> None:
    connection.execute("INSERT OR REPLACE INTO pipeline_answers_of_run VALUES (?, ?, ?)", (project, schema, run_id))
