"""Ledgers and runs for tests."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from training_pipeline.ledger import owners, runs, splits
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.owners import Owner
from training_pipeline.ledger.records import RunRecord, Status

PROJECT = "Product reviews"


def make_ledger(directory: Path, project: str = PROJECT) -> Ledger:
    return Ledger(directory / "project.sqlite", project)


def ask(ledger: Ledger, *, owner: Owner | None = None, **given: Any) -> RunRecord:
    """Ask for a run of this process."""
    return runs.request(
        ledger,
        **{
            "trainer": "sklearn-text",
            "schema_names": ["sentiment"],
            "backend": "local",
            "trigger": "manual",
            "owner": owner or owners.this_process(),
            "queue_max": 10,
            **given,
        },
    )


def evaluating(ledger: Ledger, items: Mapping[str, str], **given: Any) -> str:
    """Bring a run to the point where it may publish, with {item id: split}, and return its id."""
    run_id = ask(ledger, **given).run_id
    assert runs.take_turn(ledger, run_id, owners.this_process())
    splits.write_run_items(ledger, run_id, items.items())
    runs.advance(ledger, run_id, Status.RUNNING)
    runs.advance(ledger, run_id, Status.EVALUATING)
    return run_id


def execute(path: Path, statement: str, *values: object) -> list[Any]:
    """Run one statement on a ledger from outside, as the annotation server would."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return connection.execute(statement, values).fetchall()


def dead_owner() -> Owner:
    """Return a process of this machine that has ended."""
    code = (
        "from training_pipeline.ledger.owners import this_process; p = this_process();"
        "print(p.pid, p.started, p.boot_id, p.host)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    return Owner(int(said[0]), *said[1:])


@contextmanager
def locked_by_another_process(path: Path, seconds: float) -> Iterator[None]:
    """Have another process hold the write lock for `seconds` from now on."""
    code = (
        "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.execute('BEGIN IMMEDIATE'); print('locked', flush=True); time.sleep(float(sys.argv[2])); c.execute('COMMIT')"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path), str(seconds)], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"
        yield
        holder.kill()


def wait_for(condition: Any, seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.005)
