"""Runs are cancelled: those that wait at once, those that go when their process has heard it, or is dead."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.ledger.making import ask, make_ledger
from training_pipeline.errors import PipelineError
from training_pipeline.ledger import runs, stops
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.owners import Owner, this_process
from training_pipeline.ledger.records import Status
from training_pipeline.stopping import cancel, kill_deaf

_OWNER = """
import signal, sys, time
from pathlib import Path
from training_pipeline.ledger import runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.owners import this_process
from training_pipeline.ledger.records import Status
ledger = Ledger(Path(sys.argv[1]), sys.argv[2])
run_id, how = sys.argv[3:]
signal.signal(signal.SIGINT, signal.SIG_IGN if how == "deaf" else signal.default_int_handler)
assert runs.take_turn(ledger, run_id, this_process())
print("going", flush=True)
try:
    time.sleep(60)
except KeyboardInterrupt:
    if how == "stops":
        runs.end_stopped(ledger, run_id)
"""


@contextmanager
def going(ledger: Ledger, how: str) -> Iterator[str]:
    """Have another process work on a run: one that `stops` when it is told, is `deaf`, or `dies` without a word."""
    run_id = ask(ledger).run_id
    command = [sys.executable, "-c", _OWNER, str(ledger.path), ledger.project, run_id, how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "going\n"
        yield run_id
        process.kill()


def test_a_run_that_waits_ends_at_once(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    run = cancel(ledger, ask(ledger).run_id, grace_seconds=5)
    assert (run.status, run.error, run.error_code) == (Status.CANCELLED, "Cancelled.", "cancelled")


@pytest.mark.parametrize("how", ["stops", "dies"])
def test_a_run_that_goes_ends_when_its_process_has_heard_it(tmp_path: Path, how: str) -> None:
    ledger = make_ledger(tmp_path)
    with going(ledger, how) as run_id:
        started = time.monotonic()
        assert cancel(ledger, run_id, grace_seconds=20).status is Status.CANCELLED
        assert time.monotonic() - started < 3


def test_a_deaf_process_is_killed_within_the_grace_and_two_seconds(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    with going(ledger, "deaf") as run_id:
        started = time.monotonic()
        assert cancel(ledger, run_id, grace_seconds=0.5).status is Status.CANCELLED
        assert 1.5 <= time.monotonic() - started < 2.5


def test_nothing_is_cancelled_twice(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    with going(ledger, "deaf") as run_id:
        stops.ask(ledger, run_id, stops.CANCELLED)
        with pytest.raises(PipelineError, match=f"Run {run_id} is being cancelled already") as refused:
            cancel(ledger, run_id, grace_seconds=5)
        assert refused.value.code == "being_cancelled"
        assert cancel(ledger, run_id, grace_seconds=-1.0).status is Status.CANCELLED
        with pytest.raises(PipelineError, match=f"Run {run_id} has ended already: it is cancelled") as refused:
            cancel(ledger, run_id, grace_seconds=5)
        assert refused.value.code == "already_ended"


def test_a_run_that_publishes_meanwhile_has_ended_as_a_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = make_ledger(tmp_path)
    run_id = ask(ledger).run_id
    assert runs.take_turn(ledger, run_id, this_process())

    def publishes(_number: int, _frame: object) -> None:
        with ledger.transaction() as connection:
            connection.execute("UPDATE pipeline_runs SET status = 'success'")

    before = signal.signal(signal.SIGINT, publishes)
    try:
        with pytest.raises(PipelineError, match="was publishing when it was to be cancelled, and finished") as refused:
            cancel(ledger, run_id, grace_seconds=5)
    finally:
        signal.signal(signal.SIGINT, before)
    assert refused.value.code == "already_ended"


def test_a_run_of_another_machine_is_not_for_us_to_stop(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    there: Owner = replace(this_process(), host="elsewhere")
    run_id = ask(ledger, owner=there).run_id
    assert runs.take_turn(ledger, run_id, there)
    with pytest.raises(PipelineError, match="a process on elsewhere, which only that machine can stop") as refused:
        cancel(ledger, run_id, grace_seconds=5)
    assert refused.value.code == "other_host"
    assert stops.all_stops(ledger) == {}


def test_an_unknown_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="No such run: x"):
        cancel(make_ledger(tmp_path), "x", grace_seconds=5)


def test_who_does_not_heed_a_stop_is_killed_later(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    with going(ledger, "deaf") as run_id:
        stops.ask(ledger, run_id, stops.CANCELLED)
        assert kill_deaf(ledger, grace_seconds=5) == []
        assert kill_deaf(ledger, grace_seconds=-1.0) == [run_id]
        assert [run.status for run in runs.interrupt_abandoned(ledger)] == [Status.CANCELLED]
