"""Disks that are full or read-only, on a small file system of their own where the machine lets us mount one."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import call, command_line
from tests.running import InstantBackend, Ran, review_study, train
from training_pipeline.ledger import predictions

pytestmark = pytest.mark.slow


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Give a file system of two MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if not mounted or mounted.returncode:
        pytest.skip("mounting a file system takes root")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


@pytest.fixture
def ran(small_disk: Path) -> Ran:
    """A study on the small disk that has been trained once; Dagster's own files are elsewhere."""
    return train(review_study(small_disk / "study"), backend=InstantBackend())


def fill(disk: Path, leave: int = 0) -> None:
    """Write a file that leaves `leave` bytes free."""
    free = shutil.disk_usage(disk).free - leave
    with (disk / "filler").open("wb") as file:
        file.write(b"x" * free)


def test_a_full_disk_refuses_the_run_and_loses_nothing(ran: Ran, small_disk: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in ran.study.runs_dir.rglob("*") if path.is_file()}
    fill(small_disk)
    config = str(ran.study.config_path)
    said = command_line("run", config, "--schema", "sentiment", "--json", DAGSTER_HOME=str(tmp_path / "dagster"))
    assert said.status == 1
    assert said.document["code"] == "disk_full", said.err
    assert "Traceback" not in said.err
    (small_disk / "filler").unlink()
    assert {path: path.read_bytes() for path in ran.study.runs_dir.rglob("*") if path.is_file()} == before
    assert len(list(predictions.shown(ran.ledger))) == 55
    assert call("audit", config).status == 0


def test_a_disk_that_fills_up_on_the_way_ends_the_run(ran: Ran, small_disk: Path, tmp_path: Path) -> None:
    fill(small_disk, leave=60_000)
    config = str(ran.study.config_path)
    said = command_line("run", config, "--schema", "sentiment", "--json", DAGSTER_HOME=str(tmp_path / "dagster"))
    assert said.status == 1
    assert "Traceback" not in said.err
    (small_disk / "filler").unlink()
    listed = call("runs", config, "--json").document["runs"]
    assert [run["status"] for run in listed if run["status"] in ("building", "running", "evaluating")] == []
    assert len(list(predictions.shown(ran.ledger))) == 55
    again = command_line("run", config, "--schema", "sentiment", "--json", DAGSTER_HOME=str(tmp_path / "dagster"))
    assert (again.status, again.document["status"]) == (0, "success"), again.err


def test_a_read_only_study_says_which_file(ran: Ran, small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    said = call("run", str(ran.study.config_path), "--schema", "sentiment", "--json")
    assert (said.status, said.document["code"]) == (1, "ledger_read_only")
    assert str(ran.study.database) in said.document["error"]
    assert said.err.startswith("Error: ")
