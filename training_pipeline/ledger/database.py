"""The study's SQLite file: how it is opened, read, and changed without being in the way of the annotation server.

Potato writes to the same file and gives up on a lock after five seconds. So every change is one short transaction that
takes the write lock at once, and a set too large for that is written in batches which leave the lock free in between.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

from training_pipeline.ledger import failures, tables

Row = TypeVar("Row")

BATCH_ROWS = 10_000
"""Rows written or read at a time: some 50 ms of write lock."""

_ATTEMPTS = 3
_CACHE_KIB = 65_536  # SQLite's own 2 MiB would spill a large replacement to disk while the lock is held


@dataclass(frozen=True)
class Ledger:
    """The ledger of one study: a file, and the project whose rows are ours to see and to change.

    Every call opens a connection of its own, so one `Ledger` may be used from several threads and processes.
    `busy_timeout` is the seconds to wait for a lock, tried three times.
    """

    path: Path
    project: str
    busy_timeout: float = 10.0

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Give a connection that sees one state of the ledger from its first query on."""
        with self._explained(), self._connection() as connection:
            connection.execute("BEGIN")
            yield connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Give a connection that holds the write lock; commits at the end, rolls back on any exception.

        Raises `PipelineError` with code `ledger_busy`, `ledger_read_only`, `disk_full` or `bad_ledger`.
        """
        with self._explained(), self._connection() as connection, _immediate(connection):
            yield connection

    def write_in_batches(
        self, rows: Iterable[Row], write: Callable[[sqlite3.Connection, list[Row]], None], size: int = BATCH_ROWS
    ) -> int:
        """Write many rows, a transaction for each `size` of them, and return how many there were.

        Not atomic: write to where nobody looks yet, then make it count in one transaction.
        """
        remaining, n_rows = iter(rows), 0
        with self._explained(), self._connection() as connection:
            released = time.monotonic()
            while batch := list(islice(remaining, size)):
                taken = time.monotonic()
                with _immediate(connection):
                    write(connection, batch)
                n_rows += len(batch)
                _leave_to_others(held=time.monotonic() - taken, free=taken - released)
                released = time.monotonic()
        return n_rows

    def repeat(self, step: Callable[[sqlite3.Connection], bool]) -> None:
        """Run `step` again and again, each time in a short transaction of its own, until it returns False."""
        more = True
        with self._explained(), self._connection() as connection:
            while more:
                taken = time.monotonic()
                with _immediate(connection):
                    more = step(connection)
                _leave_to_others(held=time.monotonic() - taken, free=0.0)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        is_new = not self.path.exists() or self.path.stat().st_size == 0
        with closing(sqlite3.connect(self.path, timeout=self.busy_timeout, isolation_level=None)) as connection:
            if is_new:
                connection.execute("PRAGMA journal_mode = WAL")
            # As Potato's server does: after a power cut the last changes may be missing, never half there.
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            if tables.missing(connection):
                with _immediate(connection):
                    tables.create(connection)
            yield connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            explained = failures.explain(self.path, error, self.busy_timeout * _ATTEMPTS)
            if explained is None:
                raise
            raise explained from error


@contextmanager
def _immediate(connection: sqlite3.Connection) -> Iterator[None]:
    _take_write_lock(connection)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # SQLite has rolled back by itself where the disk was full.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _take_write_lock(connection: sqlite3.Connection) -> None:
    # SQLite lets waiters poll, first come is not first served; a busy file can deny one of them a whole timeout long.
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if attempt == _ATTEMPTS or not failures.is_busy(error):
                raise
        else:
            return


def _leave_to_others(*, held: float, free: float) -> None:
    # A waiter polls, at least every 0.1 s: a lock that is free a quarter of the time is met free within a few tries.
    time.sleep(max(0.0, held / 3 - free))
