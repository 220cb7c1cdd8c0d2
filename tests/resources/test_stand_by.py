"""A worker that is started ahead of time, and the backend that holds it."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.ledger.making import wait_for
from tests.processes import processes_naming
from training_pipeline.resources.local import LocalBackend
from training_pipeline.worker.spec import Limits

pytestmark = pytest.mark.slow

SPEC: dict[str, Any] = {
    "v": 1,
    "run_id": "20260101T000000-000000",
    "trainer": "sklearn-text",
    "schema": "sentiment",
    "bundle_dir": "bundle",
    "artifacts_dir": "artifacts",
    "limits": {},
    "allowed_modules": [],
}


def write_spec(run_dir: Path, **changes: Any) -> None:
    (run_dir / "spec.json").write_text(json.dumps(SPEC | changes))


def last_error(run_dir: Path) -> str:
    lines = (run_dir / "events.jsonl").read_text().splitlines()
    assert len(lines) == 1
    return str(json.loads(lines[0])["code"])


def pids(run_dir: Path) -> list[int]:
    return sorted(processes_naming(str(run_dir)))


def test_it_begins_when_it_is_told_and_not_before(tmp_path: Path) -> None:
    write_spec(tmp_path)
    with LocalBackend() as backend:
        backend.stand_by(tmp_path, limits=Limits(), grace_seconds=1)
        wait_for(lambda: len(pids(tmp_path)) == 2)
        standing_by = pids(tmp_path)
        assert not (tmp_path / "events.jsonl").exists()
        worker = backend.start(tmp_path, limits=Limits(), grace_seconds=1)
        assert pids(tmp_path) == standing_by
        assert worker.wait() == 2
    assert last_error(tmp_path) == "bad_bundle"


def test_a_spec_that_changed_meanwhile_gets_a_new_worker(tmp_path: Path) -> None:
    write_spec(tmp_path)
    with LocalBackend() as backend:
        backend.stand_by(tmp_path, limits=Limits(), grace_seconds=1)
        write_spec(tmp_path, trainer="no-such")
        assert backend.start(tmp_path, limits=Limits(), grace_seconds=1).wait() == 2
    assert last_error(tmp_path) == "unknown_trainer"


def test_a_worker_that_died_meanwhile_is_replaced(tmp_path: Path) -> None:
    write_spec(tmp_path)
    with LocalBackend() as backend:
        backend.stand_by(tmp_path, limits=Limits(), grace_seconds=1)
        wait_for(lambda: len(pids(tmp_path)) == 2)
        leash = pids(tmp_path)[0]
        os.kill(leash, signal.SIGKILL)
        wait_for(lambda: not pids(tmp_path))
        assert backend.start(tmp_path, limits=Limits(), grace_seconds=1).wait() == 2
    assert last_error(tmp_path) == "bad_bundle"


def test_one_that_stood_by_in_vain_is_ended(tmp_path: Path) -> None:
    write_spec(tmp_path)
    with LocalBackend() as backend:
        backend.stand_by(tmp_path, limits=Limits(), grace_seconds=5)
        wait_for(lambda: pids(tmp_path))
    assert pids(tmp_path) == []
    assert not (tmp_path / "events.jsonl").exists()


def test_one_that_holds_too_much_memory_is_ended(tmp_path: Path) -> None:
    write_spec(tmp_path)
    with LocalBackend() as backend:
        backend.stand_by(tmp_path, limits=Limits(max_ram_mb=30), grace_seconds=20)
        wait_for(lambda: not pids(tmp_path) and (tmp_path / "events.jsonl").exists())
    assert last_error(tmp_path) == "ram_limit"
