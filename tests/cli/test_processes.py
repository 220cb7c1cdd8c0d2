"""Runs that wait, are cancelled, or whose processes are killed: none goes on for ever, and nothing is left of it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.running import SLOW, Going, call
from tests.ledger.making import locked_by_another_process, wait_for
from tests.running import SHOWN, review_study
from training_pipeline.instance import open_instance
from training_pipeline.ledger import predictions, runs
from training_pipeline.ledger.records import Status

pytestmark = pytest.mark.slow
Start = Callable[..., Going]
SLOWLY = ("--param", "vectorizer=tests.cli.slow.SlowVectorizer")
FOR_MINUTES = (*SLOWLY, "--param", "vectorizer_kwargs={seconds: 300}")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return review_study(tmp_path, training={**SLOW, "writeback": SHOWN})


def dagster_status(going: Going) -> str:
    with open_instance(going.study) as instance:
        run = instance.get_run_by_id(going.run.dagster_run_id)
    assert run is not None
    return str(run.status.value)


def test_one_run_at_a_time_the_next_waits_and_ctrl_c_lets_it_go(going: Start, config: Path) -> None:
    first = going(config, *FOR_MINUTES)
    first.wait_until_it_fits()
    assert len(first.processes()) >= 3  # the run's own, the leash, the worker
    wait_for(lambda: f"run {first.run_id}: running: fitting" in first.err)

    busy = call("run", str(config), "--schema", "sentiment", "--no-queue", "--json")
    assert (busy.status, busy.document["code"]) == (1, "busy")
    assert busy.document["error"] == (
        f"Run {first.run_id} is running, and one run goes at a time. Wait for its end, or let this queue."
    )

    second = going(config)
    wait_for(lambda: f"run {second.run_id}: waiting #1" in second.err, 60.0)
    abandoned = going(config)
    wait_for(lambda: f"run {abandoned.run_id}: waiting #2" in abandoned.err, 60.0)
    status = call("status", str(config), "--json").document
    assert status["run"]["run_id"] == first.run_id
    assert status["queue"] == [
        {"run_id": second.run_id, "position": 1, "waits_in": "process", "moves": True},
        {"run_id": abandoned.run_id, "position": 2, "waits_in": "process", "moves": True},
    ]
    assert f"{second.run_id}   waiting #1" in call("runs", str(config)).out
    abandoned.process.kill()

    first.process.send_signal(signal.SIGINT)
    ended = first.end()
    assert (ended.status, ended.document["status"], ended.document["error_code"]) == (130, "cancelled", "cancelled")
    assert ended.err.splitlines()[-1] == "Error: Cancelled."
    assert first.processes() == []
    assert dagster_status(first) in ("CANCELED", "FAILURE")

    done = second.end()
    assert (done.status, done.document["status"]) == (0, "success"), done.err
    wait_for(lambda: abandoned.run.status.has_ended, 30.0)
    assert abandoned.run.status is Status.INTERRUPTED
    wait_for(lambda: abandoned.processes() == [], 30.0)


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stop_while_the_run_is_still_starting_cancels_it(going: Start, config: Path, told: signal.Signals) -> None:
    one = going(config)
    wait_for(lambda: ": starting" in one.err)
    one.process.send_signal(told)
    ended = one.end()
    assert (ended.status, ended.document["status"]) == (130, "cancelled")
    wait_for(lambda: one.processes() == [])


def test_a_worker_that_is_killed_is_said_to_be(going: Start, config: Path) -> None:
    one = going(config, *FOR_MINUTES)
    one.wait_until_it_fits()
    os.kill(one.worker, signal.SIGKILL)
    ended = one.end()
    assert (ended.status, ended.document["status"], ended.document["error_code"]) == (1, "error", "killed")
    assert ended.document["error"].startswith("The training process was killed (SIGKILL)")
    assert one.processes() == []
    assert dagster_status(one) == "FAILURE"


def test_a_run_whose_processes_were_killed_is_interrupted_and_the_next_one_works(going: Start, config: Path) -> None:
    one = going(config, *FOR_MINUTES)
    one.wait_until_it_fits()
    one.process.kill()
    os.kill(one.carrier, signal.SIGKILL)
    wait_for(lambda: one.processes() == [], 30.0)  # the worker is gone without anybody's help
    assert one.run.status is Status.RUNNING
    assert dagster_status(one) == "STARTED"

    with locked_by_another_process(one.study.database, 3.0):
        done = going(config).end()
    assert (done.status, done.document["status"]) == (0, "success"), done.err
    assert (one.run.status, one.run.error_code) == (Status.INTERRUPTED, "interrupted")
    assert "Start the run again." in one.run.error
    assert dagster_status(one) == "FAILURE"
    assert len(list(predictions.shown(one.ledger))) == 55


def test_a_killed_carrier_is_told_by_the_command_that_waits_for_it(going: Start, config: Path) -> None:
    one = going(config, *FOR_MINUTES)
    one.wait_until_it_fits()
    os.kill(one.carrier, signal.SIGKILL)
    ended = one.end()
    assert (ended.status, ended.document["status"], ended.document["error_code"]) == (1, "interrupted", "interrupted")
    wait_for(lambda: one.processes() == [], 30.0)


def test_a_run_goes_on_when_the_command_that_started_it_is_killed(going: Start, config: Path) -> None:
    one = going(
        config, "--param", "vectorizer=tests.cli.slow.SlowVectorizer", "--param", "vectorizer_kwargs={seconds: 0.3}"
    )
    one.wait_until_it_fits()
    one.process.kill()
    wait_for(lambda: one.run.status.has_ended, 60.0)
    assert (one.run.status, one.run.error) == (Status.SUCCESS, "")
    assert [run.status for run in runs.list_runs(one.ledger)] == [Status.SUCCESS]
    wait_for(lambda: one.processes() == [], 30.0)
