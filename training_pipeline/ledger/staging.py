"""A generation of predictions in the making, and the one transaction that makes it the live one."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from training_pipeline.errors import PipelineError
from training_pipeline.ledger import owners, run_rows, runs
from training_pipeline.ledger.database import BATCH_ROWS, Ledger
from training_pipeline.ledger.fingerprint import Fingerprint, live_generation, take
from training_pipeline.ledger.owners import Owner
from training_pipeline.ledger.records import WritebackReport


class StagedRow(NamedTuple):
    """A prediction on its way into a generation: `payload` as JSON text, `exclusion` empty where it will be shown."""

    instance_id: str
    schema_name: str
    run_id: str
    payload: str
    confidence: float | None
    created_at: float
    exclusion: str


_FIELDS = ", ".join(StagedRow._fields)
_FIELDS_OF_SHOWN = ", ".join((*StagedRow._fields[:-1], "''"))
_AFTER = "(instance_id, schema_name) > (:item, :schema) ORDER BY instance_id, schema_name LIMIT :rows"

_INSERT = f"INSERT INTO pipeline_predictions (project, generation, {_FIELDS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
_KEEP_NEWER = (
    " ON CONFLICT DO UPDATE SET run_id = excluded.run_id, payload = excluded.payload, confidence = excluded.confidence,"
    " created_at = excluded.created_at, exclusion = excluded.exclusion WHERE excluded.run_id > run_id"
)

_NO_NEWER_IN_NEW = (
    " AND NOT EXISTS (SELECT 1 FROM pipeline_predictions AS new WHERE new.project = old.project"
    " AND new.generation = :new AND new.instance_id = old.instance_id AND new.schema_name = old.schema_name"
    " AND new.run_id >= old.run_id)"
)
_STORED_BEFORE = (
    f"SELECT {_FIELDS} FROM pipeline_predictions AS old WHERE project = :project AND generation = :live"  # noqa: S608
    f" AND run_id IS NOT :without{_NO_NEWER_IN_NEW} AND {_AFTER}"
)
_SHOWN_BY_THE_SERVER = (
    f"SELECT {_FIELDS_OF_SHOWN} FROM training_predictions AS old"  # noqa: S608
    " WHERE project = :project AND run_id IS NOT :without"
    " AND NOT EXISTS (SELECT 1 FROM pipeline_predictions AS known WHERE known.project = old.project"
    " AND known.generation = :live AND known.instance_id = old.instance_id AND known.schema_name = old.schema_name"
    f" AND known.run_id = old.run_id){_NO_NEWER_IN_NEW} AND {_AFTER}"
)
_STAGED = f"SELECT {_FIELDS} FROM pipeline_predictions WHERE project = :project AND generation = :new AND {_AFTER}"  # noqa: S608
_LEFT_OUT = (
    f"SELECT {_FIELDS} FROM pipeline_predictions WHERE project = :project AND generation = :new"  # noqa: S608
    f" AND exclusion = :exclusion AND (:run IS NULL OR run_id = :run) AND {_AFTER}"
)
_COMES_DOWN = (
    "SELECT count(*) FROM training_predictions AS old WHERE project = :project AND NOT EXISTS ("
    "SELECT 1 FROM pipeline_predictions AS new WHERE new.project = old.project AND new.generation = :new"
    " AND new.instance_id = old.instance_id AND new.schema_name = old.schema_name AND new.exclusion = '')"
)
_WANTED = "SELECT count(*) FROM pipeline_predictions WHERE project = :project AND generation = :new AND exclusion = ''"
_SHOWN_ALIKE = (
    "SELECT count(*) FROM training_predictions AS old JOIN pipeline_predictions AS new ON new.project = old.project"
    " AND new.instance_id = old.instance_id AND new.schema_name = old.schema_name AND new.run_id = old.run_id"
    " WHERE old.project = :project AND new.generation = :new AND new.exclusion = ''"
)
_SHOW = (
    "INSERT INTO training_predictions (project, instance_id, schema_name, run_id, payload, confidence, created_at)"
    " SELECT project, instance_id, schema_name, run_id, payload, confidence, created_at FROM pipeline_predictions"
    " WHERE project = ? AND generation = ? AND exclusion = '' ORDER BY instance_id, schema_name"
)


@dataclass(frozen=True)
class Generation:
    """The stored predictions as one publication wrote them; nobody else reads them before `go_live`."""

    ledger: Ledger
    number: int

    def add_new(self, rows: Iterable[StagedRow]) -> int:
        """Add a run's predictions and return how many; two of one item and schema are refused: `bad_prediction`."""

        def write(connection: sqlite3.Connection, batch: list[StagedRow]) -> None:
            try:
                connection.executemany(_INSERT, self._placed(batch))
            except sqlite3.IntegrityError as error:
                raise PipelineError(
                    "bad_prediction",
                    "The run predicted one item twice for the same schema, so nothing of it was published. This is a"
                    " defect of its trainer: its predictions.jsonl must hold each item once.",
                ) from error

        return self.ledger.write_in_batches(rows, write)

    def add_older(self, rows: Iterable[StagedRow]) -> None:
        """Add predictions made before, each only if the generation has none of a newer run for its item and schema."""

        def write(connection: sqlite3.Connection, batch: list[StagedRow]) -> None:
            connection.executemany(_INSERT + _KEEP_NEWER, self._placed(batch))

        self.ledger.write_in_batches(rows, write)

    def stored_before(self, *, live: int, without_run: str | None) -> Iterator[StagedRow]:
        """Yield the rows of the live generation that are still the newest of their pair, leaving out one run's."""
        return self._pages(_STORED_BEFORE, {"live": live, "without": without_run})

    def shown_by_the_server(self, *, live: int, without_run: str | None) -> Iterator[StagedRow]:
        """Yield what Potato's table shows and ours does not know: predictions of the annotation server's own runs."""
        return self._pages(_SHOWN_BY_THE_SERVER, {"live": live, "without": without_run})

    def rows(self) -> Iterator[StagedRow]:
        """Yield all that the generation holds, by item and schema."""
        return self._pages(_STAGED, {})

    def rows_of(self, run_id: str | None, *, exclusion: str) -> Iterator[StagedRow]:
        """Yield what the generation leaves out for `exclusion`, of one run or (None) of all, by item and schema."""
        return self._pages(_LEFT_OUT, {"run": run_id, "exclusion": exclusion})

    def count(self, run_id: str | None, *, enabled: tuple[str, ...]) -> dict[str, int]:
        """Return {exclusion: how many} of one run's predictions, or (None) of all.

        All but those of the annotation server's own runs which it shows for schemas outside `enabled`: they are its
        business.
        """
        with self.ledger.read() as connection:
            rows = connection.execute(
                "SELECT exclusion, count(*) FROM pipeline_predictions WHERE project = :project AND generation = :new"
                " AND (:run IS NULL OR run_id = :run)"
                " AND NOT (exclusion = '' AND schema_name NOT IN (SELECT value FROM json_each(:enabled)))"
                " GROUP BY exclusion",
                {**self._values(), "run": run_id, "enabled": json.dumps(enabled)},
            )
            return dict(rows.fetchall())

    def count_coming_down(self) -> int:
        """Return how many pre-labels are shown now that this generation would not show, nor replace."""
        with self.ledger.read() as connection:
            (n,) = connection.execute(_COMES_DOWN, self._values()).fetchone()
        return int(n)

    def is_what_is_shown(self) -> bool:
        """Whether Potato's table shows exactly what this generation would."""
        with self.ledger.read() as connection:
            (n_shown,) = connection.execute(
                "SELECT count(*) FROM training_predictions WHERE project = :project", self._values()
            ).fetchone()
            (n_equal,) = connection.execute(_SHOWN_ALIKE, self._values()).fetchone()
            (n_wanted,) = connection.execute(_WANTED, self._values()).fetchone()
        return bool(n_shown == n_equal == n_wanted)

    def go_live(self, expected: Fingerprint, report: WritebackReport | None, run_id: str | None) -> bool:
        """Make this generation the stored one and its shown rows Potato's, with the report, all in one transaction.

        False, and nothing changes, where the ledger is not as `expected` any more. `report` None keeps the last one.
        Refused where `run_id`, whose predictions they are, has been cancelled meanwhile.
        """
        project = self.ledger.project
        with self.ledger.transaction() as connection:
            if run_id is not None:
                runs.require_publishable(connection, project, run_id)
            if take(connection, project) != expected:
                return False
            _clear_shown(connection, project)
            connection.execute(_SHOW, (project, self.number))
            connection.execute(
                "UPDATE pipeline_publications SET live_generation = ?, published_at = ? WHERE project = ?",
                (self.number, time.time(), project),
            )
            if report is not None:
                save_report(connection, project, report, run_id)
        return True

    def _placed(self, rows: Iterable[StagedRow]) -> Iterator[tuple[object, ...]]:
        return ((self.ledger.project, self.number, *row) for row in rows)

    def _values(self) -> dict[str, object]:
        return {"project": self.ledger.project, "new": self.number}

    def _pages(self, query: str, values: dict[str, object]) -> Iterator[StagedRow]:
        # Page by page: a read left open while batches are written would keep SQLite from folding its log back.
        item = schema = ""
        full = True
        while full:
            with self.ledger.read() as connection:
                page = connection.execute(
                    query, {**self._values(), **values, "item": item, "schema": schema, "rows": BATCH_ROWS}
                ).fetchall()
            full = len(page) == BATCH_ROWS
            if page:
                item, schema = page[-1][:2]
            yield from (StagedRow(*row) for row in page)


@contextmanager
def new_generation(ledger: Ledger) -> Iterator[Generation]:
    """Begin a generation; at the end the generations that nobody needs are swept, this one too unless it is live."""
    with ledger.transaction() as connection:
        connection.execute(
            "INSERT OR IGNORE INTO pipeline_publications (project, live_generation, last_generation) VALUES (?, 0, 0)",
            (ledger.project,),
        )
        (number,) = connection.execute(
            "UPDATE pipeline_publications SET last_generation = last_generation + 1 WHERE project = ?"
            " RETURNING last_generation",
            (ledger.project,),
        ).fetchone()
        connection.execute(
            "INSERT INTO pipeline_generations (project, generation, owner) VALUES (?, ?, ?)",
            (ledger.project, number, run_rows.written(owners.this_process())),
        )
    try:
        yield Generation(ledger, number)
    finally:
        with ledger.transaction() as connection:
            connection.execute(
                "DELETE FROM pipeline_generations WHERE project = ? AND generation = ?", (ledger.project, number)
            )
        sweep(ledger)


def sweep(ledger: Ledger) -> None:
    """Delete the generations that are neither live nor being written by a process that lives."""
    project = ledger.project
    with ledger.read() as connection:
        kept = {live_generation(connection, project)}
        abandoned = []
        for generation, owner in connection.execute(
            "SELECT generation, owner FROM pipeline_generations WHERE project = ?", (project,)
        ):
            if owners.is_gone(Owner(**json.loads(owner))):
                abandoned.append((project, generation))
            else:
                kept.add(generation)
        unwanted = [generation for generation in _generations(connection, project) if generation not in kept]
    for generation in unwanted:
        _delete_generation(ledger, generation)
    if abandoned:
        with ledger.transaction() as connection:
            connection.executemany("DELETE FROM pipeline_generations WHERE project = ? AND generation = ?", abandoned)


def save_report(connection: sqlite3.Connection, project: str, report: WritebackReport, run_id: str | None) -> None:
    """Write a publication's report: as the project's latest and, where it was a run's, to the run."""
    connection.execute(
        "INSERT INTO pipeline_publications (project, live_generation, last_generation, report) VALUES (?, 0, 0, ?)"
        " ON CONFLICT DO UPDATE SET report = excluded.report",
        (project, run_rows.written(report)),
    )
    if run_id is not None:
        run_rows.update(connection, project, run_id, {"writeback": report})


def last_report(ledger: Ledger) -> WritebackReport | None:
    """Return the report of the latest publication, a run's or one at a start."""
    with ledger.read() as connection:
        row = connection.execute(
            "SELECT report FROM pipeline_publications WHERE project = ?", (ledger.project,)
        ).fetchone()
    return run_rows.report(row[0]) if row and row[0] else None


def _clear_shown(connection: sqlite3.Connection, project: str) -> None:
    projects = connection.execute(
        "SELECT (SELECT min(project) FROM training_predictions), (SELECT max(project) FROM training_predictions)"
    ).fetchone()
    if projects == (project, project):
        # Without a condition SQLite drops the table's pages whole: a million rows in 0.2 s in place of 1.3 s.
        connection.execute("DELETE FROM training_predictions")
    else:
        connection.execute("DELETE FROM training_predictions WHERE project = ?", (project,))


def _generations(connection: sqlite3.Connection, project: str) -> list[int]:
    rows = connection.execute(
        "WITH RECURSIVE found(g) AS ("
        " SELECT min(generation) FROM pipeline_predictions WHERE project = ?1"
        " UNION ALL SELECT (SELECT min(generation) FROM pipeline_predictions WHERE project = ?1 AND generation > g)"
        " FROM found WHERE g IS NOT NULL) SELECT g FROM found WHERE g IS NOT NULL",
        (project,),
    )
    return [generation for (generation,) in rows]


def _delete_generation(ledger: Ledger, generation: int) -> None:
    of_generation = "FROM pipeline_predictions WHERE project = ? AND generation = ?"
    place = (ledger.project, generation)

    def step(connection: sqlite3.Connection) -> bool:
        # The table has no rowid to count by, so a page ends at an item.
        end = connection.execute(
            f"SELECT instance_id {of_generation} ORDER BY instance_id, schema_name LIMIT 1 OFFSET ?",
            (*place, BATCH_ROWS),
        ).fetchone()
        if end is None:
            connection.execute(f"DELETE {of_generation}", place)
        else:
            connection.execute(f"DELETE {of_generation} AND instance_id <= ?", (*place, *end))
        return end is not None

    ledger.repeat(step)
