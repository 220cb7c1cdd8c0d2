"""What this machine has, as it tells it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from training_pipeline import machine
from training_pipeline.machine import Gpu, parse_gpus


@pytest.mark.parametrize(
    ("told", "gpus"),
    [
        ("0, NVIDIA H200, 143771, 143156\n", (Gpu(0, "NVIDIA H200", 143771, 143156),)),
        (
            "0, NVIDIA GeForce RTX 4090, 24564, 23010\n1, Tesla T4, with a comma, 15360, 512\n",
            (Gpu(0, "NVIDIA GeForce RTX 4090", 24564, 23010), Gpu(1, "Tesla T4, with a comma", 15360, 512)),
        ),
        ("0, NVIDIA A100-SXM4-80GB, [N/A], [N/A]\n", ()),
        ("No devices were found\n", ()),
        ("", ()),
    ],
)
def test_gpus_as_nvidia_smi_tells_them(told: str, gpus: tuple[Gpu, ...]) -> None:
    assert parse_gpus(told) == gpus


def test_without_the_drivers_tool_there_are_no_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert machine.gpus() == ()
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 0, NVIDIA T4, 15360, 15000\n")
    tool.chmod(0o755)
    assert machine.gpus() == (Gpu(0, "NVIDIA T4", 15360, 15000),)
    tool.write_text("#!/bin/sh\nexit 9\n")
    assert machine.gpus() == ()


def test_cores_and_memory_are_within_the_machines() -> None:
    assert 1 <= machine.cores() <= (os.cpu_count() or 1)
    memory = machine.memory()
    assert memory.available_mb is None or 0 < memory.available_mb <= memory.total_mb
    assert memory.total_mb <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**20 + 1


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux can keep a process to some cores")
def test_cores_are_those_that_this_process_may_use() -> None:
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        assert machine.cores() == 1
    finally:
        os.sched_setaffinity(0, allowed)


def test_a_container_sets_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "CGROUP", tmp_path)
    before = machine.memory()
    (tmp_path / "memory.max").write_text(f"{512 * 2**20}\n")
    (tmp_path / "memory.current").write_text(f"{100 * 2**20}\n")
    (tmp_path / "cpu.max").write_text("50000 100000\n")
    assert (machine.memory().total_mb, machine.memory().available_mb) == (512, 412)
    assert machine.cores() == 1
    (tmp_path / "memory.max").write_text("max\n")
    assert machine.memory().total_mb == before.total_mb


def test_disk_and_access_of_a_folder_that_is_not_made_yet(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "made"
    assert machine.existing_parent(folder) == tmp_path
    assert machine.free_disk_mb(folder) > 0
    assert machine.is_writable(folder)
