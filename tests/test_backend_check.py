"""`check`: what makes a backend usable, and what is said where it is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.studies import make_study
from training_pipeline import machine
from training_pipeline.backend_check import BackendCheck, check_backend
from training_pipeline.errors import PipelineError
from training_pipeline.machine import Gpu, Memory
from training_pipeline.study.config import load_study
from training_pipeline.trainers.sklearn_text import SklearnText

T4 = Gpu(0, "NVIDIA T4", 15360, 2000)
H200 = Gpu(1, "NVIDIA H200", 143771, 143000)


@pytest.fixture(autouse=True)
def _a_plain_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    set_machine(monkeypatch)


def set_machine(monkeypatch: pytest.MonkeyPatch, **facts: Any) -> None:
    plain = {"gpus": (), "torch_device": None, "cores": 2, "memory": Memory(8000, 6000), "free_disk_mb": 50_000}
    for name, value in {**plain, **facts}.items():
        monkeypatch.setattr(machine, name, lambda *_, value=value: value)


def check(directory: Path, name: str = "local", **training: Any) -> BackendCheck:
    return check_backend(load_study(make_study(directory, training=training)), name)


def test_a_machine_without_gpu(tmp_path: Path) -> None:
    checked = check(tmp_path)
    assert checked.summary == "local: this machine, CPU, 2 cores"
    assert (checked.usable, checked.problems, checked.warnings) == (True, (), ())
    assert checked.facts is not None
    assert checked.facts.runs_dir == tmp_path / "annotation_output" / "training" / "runs"
    missing = {one.trainer: one.missing for one in checked.facts.trainers}
    assert missing["sklearn-text"] == ()
    assert "ultralytics" in missing["ultralytics-detect"]


@pytest.mark.parametrize(
    ("facts", "device", "summary"),
    [
        ({"torch_device": "mps"}, "auto", "local: this machine, Apple Metal (mps)"),
        ({"torch_device": "cuda", "gpus": (T4, H200)}, "auto", "local: this machine, NVIDIA H200 (cuda)"),
        ({"torch_device": "cuda", "gpus": (T4, H200)}, "cpu", "local: this machine, CPU, 2 cores"),
        ({"cores": 1}, "auto", "local: this machine, CPU, 1 core"),
    ],
)
def test_the_device_that_a_run_would_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, facts: dict[str, Any], device: str, summary: str
) -> None:
    set_machine(monkeypatch, **facts)
    checked = check(tmp_path, device=device)
    assert (checked.summary, checked.usable) == (summary, True)


@pytest.mark.parametrize(
    ("torch", "why"), [(None, "PyTorch is not installed or does not start here"), ("cpu", "PyTorch finds cpu only")]
)
def test_a_device_that_is_not_there_makes_it_unusable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch: str | None, why: str
) -> None:
    set_machine(monkeypatch, torch_device=torch)
    checked = check(tmp_path, device="cuda")
    assert checked.problems == (f"model_training.device is cuda, but {why}. Set it to auto or cpu.",)
    assert not checked.usable


def test_a_gpu_that_no_run_can_use_is_warned_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_machine(monkeypatch, gpus=(T4,))
    checked = check(tmp_path)
    assert checked.summary == "local: this machine, CPU, 2 cores"
    assert checked.warnings == ("There is a GPU that no run can use: PyTorch is not installed or does not start.",)


def test_disk_and_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_machine(monkeypatch, free_disk_mb=100)
    checked = check(tmp_path, max_ram_mb=9000)
    assert [warning.split(" ", 1)[0] for warning in checked.warnings] == ["model_training.max_ram_mb", "Only"]
    assert checked.usable
    set_machine(monkeypatch, free_disk_mb=0)
    assert not check(tmp_path).usable


def test_no_packages_no_access(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SklearnText, "libraries", ("a_library_nobody_has",))
    monkeypatch.setattr(machine, "is_writable", lambda _: False)
    problems = check(tmp_path).problems
    assert [problem.split(" ", 2)[0] for problem in problems] == ["Runs", "No"]


def test_other_types_are_not_tried(tmp_path: Path) -> None:
    backends = {"gpu": {"type": "ssh", "host": "gpu"}, "mine": {"type": "local"}}
    checked = check(tmp_path, "gpu", backends=backends)
    assert (checked.summary, checked.usable, checked.facts) == ("gpu: ssh, not tried", False, None)
    assert checked.problems == ("Backends of type ssh are not available in this version: runs go to local.",)
    assert check(tmp_path, "mine", backends=backends).summary == "mine: this machine, CPU, 2 cores"


def test_an_unknown_backend_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match=r"has no backend 'gpu'\. There are local\.") as refused:
        check(tmp_path, "gpu")
    assert refused.value.code == "unknown_backend"
