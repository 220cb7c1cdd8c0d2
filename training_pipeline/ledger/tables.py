"""The tables of the ledger: Potato's four as its server makes them, and ours beside them under `pipeline_`."""

from __future__ import annotations

import sqlite3

POTATO_TABLES = """
CREATE TABLE IF NOT EXISTS training_runs (
                project       TEXT NOT NULL,
                run_id        TEXT NOT NULL,
                trainer       TEXT NOT NULL,
                backend       TEXT NOT NULL DEFAULT 'local',
                schema_names  TEXT NOT NULL DEFAULT '[]',
                kinds         TEXT NOT NULL DEFAULT '[]',
                status        TEXT NOT NULL,
                trigger       TEXT NOT NULL DEFAULT 'manual',
                created_at    REAL NOT NULL,
                started_at    REAL,
                finished_at   REAL,
                n_train       INTEGER NOT NULL DEFAULT 0,
                n_val         INTEGER NOT NULL DEFAULT 0,
                n_test        INTEGER NOT NULL DEFAULT 0,
                split_seed    INTEGER NOT NULL DEFAULT 0,
                params        TEXT NOT NULL DEFAULT '{}',
                metrics       TEXT NOT NULL DEFAULT '{}',
                artifact_dir  TEXT NOT NULL DEFAULT '',
                model_version TEXT NOT NULL DEFAULT '',
                bundle_digest TEXT NOT NULL DEFAULT '',
                error         TEXT NOT NULL DEFAULT '',
                error_code    TEXT NOT NULL DEFAULT '',
                pid           INTEGER,
                host          TEXT NOT NULL DEFAULT '',
                PRIMARY KEY (project, run_id)
            );
CREATE INDEX IF NOT EXISTS idx_training_runs_recent
                ON training_runs (project, created_at DESC);
CREATE TABLE IF NOT EXISTS training_run_items (
                project     TEXT NOT NULL,
                run_id      TEXT NOT NULL,
                instance_id TEXT NOT NULL,
                split       TEXT NOT NULL,
                PRIMARY KEY (project, run_id, instance_id)
            );
CREATE INDEX IF NOT EXISTS idx_training_run_items_split
                ON training_run_items (project, run_id, split);
CREATE TABLE IF NOT EXISTS training_predictions (
                project     TEXT NOT NULL,
                instance_id TEXT NOT NULL,
                schema_name TEXT NOT NULL,
                run_id      TEXT NOT NULL,
                payload     TEXT NOT NULL,
                confidence  REAL,
                created_at  REAL NOT NULL,
                PRIMARY KEY (project, instance_id, schema_name)
            );
CREATE INDEX IF NOT EXISTS idx_training_predictions_run
                ON training_predictions (project, run_id);
CREATE TABLE IF NOT EXISTS model_review_verdicts (
                project     TEXT NOT NULL,
                instance_id TEXT NOT NULL,
                schema_name TEXT NOT NULL DEFAULT '',
                reviewer    TEXT NOT NULL,
                verdict     TEXT NOT NULL,
                note        TEXT NOT NULL DEFAULT '',
                updated_at  REAL NOT NULL,
                PRIMARY KEY (project, instance_id, schema_name, reviewer)
            );
CREATE INDEX IF NOT EXISTS idx_review_project
                ON model_review_verdicts (project, updated_at DESC);
"""

OUR_TABLES = """
CREATE TABLE IF NOT EXISTS pipeline_runs (
    project            TEXT NOT NULL,
    run_id             TEXT NOT NULL,
    dagster_run_id     TEXT NOT NULL,
    status             TEXT NOT NULL,
    trainer            TEXT NOT NULL,
    schema_names       TEXT NOT NULL,
    kinds              TEXT NOT NULL,
    backend            TEXT NOT NULL,
    trigger            TEXT NOT NULL,
    created_at         REAL NOT NULL,
    started_at         REAL,
    finished_at        REAL,
    n_train            INTEGER NOT NULL,
    n_val              INTEGER NOT NULL,
    n_test             INTEGER NOT NULL,
    n_unlabeled        INTEGER NOT NULL,
    split_seed         INTEGER NOT NULL,
    requested_params   TEXT NOT NULL,
    params             TEXT NOT NULL,
    param_sources      TEXT NOT NULL DEFAULT '{}',
    metrics            TEXT NOT NULL,
    headline           TEXT,
    not_scored_because TEXT,
    comparable         INTEGER NOT NULL,
    warnings           TEXT NOT NULL,
    error              TEXT NOT NULL,
    error_code         TEXT NOT NULL,
    bundle_digest      TEXT NOT NULL,
    artifact_dir       TEXT NOT NULL,
    model_version      TEXT NOT NULL,
    writeback          TEXT,
    cost               TEXT,
    progress           TEXT,
    owner              TEXT,
    items_written      INTEGER NOT NULL,
    PRIMARY KEY (project, run_id)
);
CREATE INDEX IF NOT EXISTS pipeline_runs_by_status ON pipeline_runs (project, status);
CREATE TABLE IF NOT EXISTS pipeline_stops (
    project  TEXT NOT NULL,
    run_id   TEXT NOT NULL,
    status   TEXT NOT NULL,
    why      TEXT NOT NULL,
    asked_at REAL NOT NULL,
    PRIMARY KEY (project, run_id)
);
CREATE TABLE IF NOT EXISTS pipeline_supervisors (
    project TEXT NOT NULL PRIMARY KEY,
    owner   TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS pipeline_predictions (
    project     TEXT NOT NULL,
    generation  INTEGER NOT NULL,
    instance_id TEXT NOT NULL,
    schema_name TEXT NOT NULL,
    run_id      TEXT NOT NULL,
    payload     TEXT NOT NULL,
    confidence  REAL,
    created_at  REAL NOT NULL,
    exclusion   TEXT NOT NULL,
    PRIMARY KEY (project, generation, instance_id, schema_name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pipeline_generations (
    project    TEXT NOT NULL,
    generation INTEGER NOT NULL,
    owner      TEXT NOT NULL,
    PRIMARY KEY (project, generation)
);
CREATE TABLE IF NOT EXISTS pipeline_publications (
    project         TEXT NOT NULL PRIMARY KEY,
    live_generation INTEGER NOT NULL,
    last_generation INTEGER NOT NULL,
    published_at    REAL,
    report          TEXT
);
CREATE TABLE IF NOT EXISTS pipeline_pins (
    project     TEXT NOT NULL,
    instance_id TEXT NOT NULL,
    source      TEXT NOT NULL,
    pinned_at   REAL NOT NULL,
    PRIMARY KEY (project, instance_id)
);
CREATE TABLE IF NOT EXISTS pipeline_answer_counts (
    project     TEXT NOT NULL,
    schema_name TEXT NOT NULL,
    annotator   BLOB NOT NULL,
    mark        TEXT NOT NULL,
    n_new       INTEGER,
    answered    BLOB NOT NULL,
    trained     BLOB NOT NULL,
    PRIMARY KEY (project, schema_name, annotator)
);
CREATE TABLE IF NOT EXISTS pipeline_answers_of_run (
    project     TEXT NOT NULL,
    schema_name TEXT NOT NULL,
    run_id      TEXT NOT NULL,
    PRIMARY KEY (project, schema_name)
);
CREATE TABLE IF NOT EXISTS pipeline_decisions (
    project     TEXT NOT NULL PRIMARY KEY,
    decided_at  REAL NOT NULL,
    skip_reason TEXT
);
"""

NAMES = frozenset(
    {
        "training_runs",
        "idx_training_runs_recent",
        "training_run_items",
        "idx_training_run_items_split",
        "training_predictions",
        "idx_training_predictions_run",
        "model_review_verdicts",
        "idx_review_project",
        "pipeline_runs",
        "pipeline_runs_by_status",
        "pipeline_stops",
        "pipeline_supervisors",
        "pipeline_predictions",
        "pipeline_generations",
        "pipeline_publications",
        "pipeline_pins",
        "pipeline_answer_counts",
        "pipeline_answers_of_run",
        "pipeline_decisions",
    }
)


_ADDED_COLUMNS = {("pipeline_runs", "param_sources"): "TEXT NOT NULL DEFAULT '{}'"}
"""Columns of our tables that ledgers of an earlier version lack. Their default stands for runs of then."""


def missing(connection: sqlite3.Connection) -> frozenset[str]:
    """Return the names of the tables, indexes and columns (`table.column`) that the database does not have yet."""
    present = {
        name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'index')")
    }
    columns = {f"{table}.{column}" for table, column in _missing_columns(connection)}
    return (NAMES - present) | (columns if "pipeline_runs" in present else frozenset())


def create(connection: sqlite3.Connection) -> None:
    """Make what is missing, inside the transaction that is open; what is there stays as it is."""
    # executescript() would commit the open transaction first, so the statements go one by one.
    for statement in (POTATO_TABLES + OUR_TABLES).split(";"):
        if statement.strip():
            connection.execute(statement)
    for table, column in _missing_columns(connection):
        connection.execute(f"ALTER TABLE {table} ADD COLUMN {column} {_ADDED_COLUMNS[table, column]}")


def _missing_columns(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    return [
        (table, column)
        for table, column in _ADDED_COLUMNS
        if column not in {name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")}
    ]
