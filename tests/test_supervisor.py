"""Everything that a study needs running, started and stopped as one command."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.cli.running import AS_IF_TYPED, call, surroundings
from tests.ledger.making import ask, dead_owner, wait_for
from tests.processes import processes_with
from tests.running import InstantBackend, Ran, review_study, train
from training_pipeline.ledger import runs

pytestmark = pytest.mark.slow
ASSETS = "{ assetNodes { assetKey { path } } }"


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def ran(tmp_path: Path) -> Ran:
    return train(review_study(tmp_path), backend=InstantBackend())


@pytest.fixture
def up(ran: Ran, port: int) -> Iterator[subprocess.Popen[str]]:
    left_over = ask(ran.ledger).run_id
    assert runs.take_turn(ran.ledger, left_over, dead_owner())
    command = [sys.executable, "-c", AS_IF_TYPED, "up", str(ran.study.config_path), "--port", str(port)]
    with subprocess.Popen(command, env=surroundings(), stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()
    wait_for(lambda: parts_of(ran) == [], 60.0)


def parts_of(ran: Ran) -> list[int]:
    """Return what runs for the study: every part, and what it started."""
    return processes_with(f"DAGSTER_HOME={ran.study.task_dir / '.dagster'}")


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_it_serves_the_ui_and_leaves_nothing_when_it_stops(ran: Ran, up: subprocess.Popen[str], port: int) -> None:
    assert up.stdout is not None
    # First it says which runs it found dead, then that all is up.
    assert up.stdout.readline().endswith("Start the run again.\n")
    assert up.stdout.readline() == (
        f"Dagster's UI for 'A small study': http://127.0.0.1:{port}/dagster/ (Ctrl-C stops everything)\n"
    )
    # A run of a process that died is over before anything new can wait for it.
    assert {run.status for run in runs.list_runs(ran.ledger)} == {"success", "interrupted"}
    base = f"http://127.0.0.1:{port}"
    asked = httpx.post(f"{base}/dagster/graphql", json={"query": ASSETS}, timeout=60).json()
    keys = {"/".join(node["assetKey"]["path"]) for node in asked["data"]["assetNodes"]}
    assert "sentiment/published_predictions" in keys
    assert httpx.get(f"{base}/pictures/{ran.run.run_id}/confusion_val.svg", timeout=60).status_code == 200

    review_study(ran.study.task_dir / "another")
    taken = call("up", str(ran.study.task_dir / "another"), "--port", str(port))
    assert taken.status == 1
    assert taken.err.endswith(f"Error: Port {port} is taken by another program. Choose another one with --port.\n")

    up.send_signal(signal.SIGINT)
    assert up.wait(90) == 0
    assert not answers(port)
    assert parts_of(ran) == []


def test_its_parts_end_when_it_is_killed(ran: Ran, up: subprocess.Popen[str], port: int) -> None:
    assert up.stdout is not None
    assert "Start the run again" in up.stdout.readline()
    assert "Dagster's UI" in up.stdout.readline()
    assert len(parts_of(ran)) >= 6  # three parts, each on its leash
    up.kill()
    wait_for(lambda: parts_of(ran) == [], 60.0)
    assert not answers(port)
