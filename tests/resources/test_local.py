"""The local backend: a worker that is stopped, or whose owner is, leaves nothing behind."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.ledger.making import wait_for
from tests.processes import processes_naming
from training_pipeline.resources.local import LocalBackend
from training_pipeline.worker.spec import Limits

pytestmark = pytest.mark.slow


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    """A run's directory whose spec asks for nothing that could work."""
    (tmp_path / "spec.json").write_text(json.dumps({"v": 1}))
    return tmp_path


def test_it_gives_the_workers_own_exit_status_and_keeps_what_it_wrote(run_dir: Path) -> None:
    worker = LocalBackend().start(run_dir, limits=Limits(), grace_seconds=1)
    assert worker.wait() == 2
    events = [json.loads(line) for line in (run_dir / "events.jsonl").read_text().splitlines()]
    assert (events[-1]["event"], events[-1]["code"]) == ("error", "bad_spec")
    worker.stop()  # ended already: nothing to do
    assert processes_naming(str(run_dir)) == []


def test_stop_ends_the_worker_and_what_it_started(run_dir: Path) -> None:
    worker = LocalBackend().start(run_dir, limits=Limits(), grace_seconds=5)
    wait_for(lambda: processes_naming(str(run_dir)))
    started = time.monotonic()
    worker.stop()
    assert time.monotonic() - started < 5
    assert processes_naming(str(run_dir)) == []
