"""Two studies side by side for a while in which everything dies that can: at the end nothing is wrong or left.

Annotations arrive, runs are started, cancelled and fail, and workers, runs' processes, Dagster's parts and supervisors
are killed with -9, all at moments that the seed decides.
"""

from __future__ import annotations

import fcntl
import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from tests.processes import processes_naming
from tests.running import SHOWN, review_study, reviews, sentiment_of
from tests.studies import write_answers
from tests.supervisor.up import Up, descendants, wait_until
from training_pipeline.instance import dagster_home, open_instance
from training_pipeline.ledger import runs, stops
from training_pipeline.ledger.records import Status

pytestmark = pytest.mark.soak

SEED = 20_250_131
N_ITEMS = 400
FIRST_LABELLED = 60
N_STEPS = 30
SECONDS_OF_MAYHEM = 90.0
SECONDS_TO_SETTLE = 120.0
AUTO_RETRAIN: Mapping[str, Any] = {}
"""The studies' `auto_retrain` block. Empty: runs are started by hand alone."""


class Soaked:
    """One study, its annotators, and what befalls it."""

    def __init__(self, directory: Path, chance: random.Random) -> None:
        training = {"writeback": SHOWN, "grace_seconds": 1, "queue_max": 3, "auto_retrain": dict(AUTO_RETRAIN)}
        config = review_study(directory, items=reviews(N_ITEMS), answers={}, training=training)
        self.up = Up(config)
        self.chance = chance
        self.n_labelled = 0
        self.did: list[str] = []
        self.annotate(FIRST_LABELLED)

    def annotate(self, n: int) -> None:
        """Two annotators answer `n` more items; their files are replaced as the server replaces them."""
        self.n_labelled = min(N_ITEMS, self.n_labelled + n)
        answered = {f"r{k:03}": {"sentiment": sentiment_of(k)} for k in range(self.n_labelled)}
        for annotator in ("ann", "ben"):
            written = write_answers(self.up.study.output_dir / ".new", annotator, answered)
            target = self.up.study.output_dir / annotator / "user_state.json"
            target.parent.mkdir(exist_ok=True)
            written.replace(target)

    def befall(self) -> None:
        """Let the next thing happen."""
        if self.up.process_ended:
            self.did.append("start")
            self.up.start()
            return
        names, weights = zip(*_WEIGHTS.items(), strict=True)
        (name,) = self.chance.choices(names, weights)
        self.did.append(name)
        # What is asked of a web app that has just been killed is not answered.
        with suppress(OSError):
            getattr(self, f"_{name}")()

    def _annotate(self) -> None:
        self.annotate(self.chance.randint(1, 25))

    def _launch(self) -> None:
        self.up.launch()

    def _launch_what_fails(self) -> None:
        self.up.launch({"min_instances": 100_000})

    def _type_a_run(self) -> None:
        self.up.command("run", "--schema", "sentiment")

    def _cancel(self) -> None:
        unfinished = [run.run_id for run in runs.list_runs(self.up.ledger) if not run.status.has_ended]
        if unfinished:
            self.up.command("cancel", self.chance.choice(unfinished))

    def _kill_worker(self) -> None:
        self._kill(processes_naming(f"{self.up.study.runs_dir}"))

    def _kill_run(self) -> None:
        owners = [run.owner for run in runs.list_runs(self.up.ledger) if run.status.is_active]
        self._kill([owner.pid for owner in owners if owner])

    def _kill_part(self) -> None:
        assert self.up.process is not None
        self._kill(descendants(self.up.process.pid)[1:])

    def _kill_supervisor(self) -> None:
        assert self.up.process is not None
        self._kill([self.up.process.pid])

    def _kill(self, found: list[int]) -> None:
        if found:
            with suppress(ProcessLookupError):
                os.kill(self.chance.choice(found), signal.SIGKILL)


_WEIGHTS = {
    "annotate": 6,
    "launch": 6,
    "type_a_run": 2,
    "launch_what_fails": 1,
    "cancel": 3,
    "kill_worker": 3,
    "kill_run": 2,
    "kill_part": 1,
    "kill_supervisor": 1,
}


@pytest.fixture
def soaked(tmp_path: Path) -> Iterator[list[Soaked]]:
    studies = [Soaked(tmp_path / name, random.Random(SEED + k)) for k, name in enumerate(("one", "two"))]
    try:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(_go_through_it, studies))
        yield studies
    finally:
        for study in studies:
            study.up.close()


def _go_through_it(study: Soaked) -> None:
    until = time.monotonic() + SECONDS_OF_MAYHEM
    study.up.start()
    study.up.launch()
    while len(study.did) < N_STEPS and time.monotonic() < until:
        study.befall()
        time.sleep(study.chance.uniform(0.2, 2.0))
    if study.up.process_ended:
        study.up.start()
    wait_until(lambda: all(run.status.has_ended for run in runs.list_runs(study.up.ledger)), SECONDS_TO_SETTLE)


def test_nothing_is_wrong_or_left_after_everything_died(soaked: list[Soaked]) -> None:
    for study in soaked:
        up = study.up
        last = up.launch()
        run = up.wait_for(last, Status.SUCCESS, Status.ERROR, seconds=SECONDS_TO_SETTLE)
        assert run.status is Status.SUCCESS, run.error
        # Each item that was labelled counts once, and none was lost.
        assert run.n_train + run.n_val + run.n_test == study.n_labelled
        assert up.stop() == 0
        _assert_clean(up)


def _assert_clean(up: Up) -> None:
    wait_until(lambda: processes_naming(str(up.study.task_dir)) == [], 15)
    assert all(run.status.has_ended for run in runs.list_runs(up.ledger))
    assert stops.all_stops(up.ledger) == {}
    assert list(up.study.runs_dir.glob("*/bundle.partial-*")) == []
    with closing(sqlite3.connect(up.ledger.path, timeout=0)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT * FROM pipeline_generations").fetchall() == []
        assert connection.execute("SELECT * FROM pipeline_supervisors").fetchall() == []
    with (dagster_home(up.study) / "up.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    _assert_agreed(up)
    audit = up.command("audit")
    said = audit.communicate(timeout=60)
    assert audit.returncode == 0, said


def _assert_agreed(up: Up) -> None:
    allowed: Mapping[Status, Callable[[dg.DagsterRunStatus], bool]] = {
        # A part of it may have been killed in the second after its publication.
        Status.SUCCESS: lambda status: status in (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE),
        Status.ERROR: lambda status: status is dg.DagsterRunStatus.FAILURE,
        Status.INTERRUPTED: lambda status: status is dg.DagsterRunStatus.FAILURE,
        Status.CANCELLED: lambda status: status in (dg.DagsterRunStatus.CANCELED, dg.DagsterRunStatus.FAILURE),
    }
    of_ledger = {run.dagster_run_id: run.status for run in runs.list_runs(up.ledger)}
    with open_instance(up.study) as instance:
        for run in instance.get_runs():
            assert run.is_finished, run
            status = of_ledger.get(run.run_id)
            assert status is None or allowed[status](run.status), (status, run.status)
