"""`check`: can a run use this backend?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from training_pipeline import machine
from training_pipeline.errors import PipelineError
from training_pipeline.machine import Gpu, Memory
from training_pipeline.study.backends import LOCAL
from training_pipeline.study.config import Study
from training_pipeline.trainers.registry import TrainerDescription, describe_all
from training_pipeline.trainers.wording import near_miss

LITTLE_DISK_MB = 1024
"""Less than this on the disk of the runs is warned about: a model and the predictions of a large study fill it."""

_DEVICES = {"cuda": "NVIDIA GPU (cuda)", "mps": "Apple Metal (mps)"}


@dataclass(frozen=True)
class Readiness:
    """Whether a trainer's packages are here; `available` says that this version has the trainer."""

    trainer: str
    available: bool
    missing: tuple[str, ...]


@dataclass(frozen=True)
class LocalFacts:
    """What a run on this machine has."""

    device: str
    cores: int
    memory: Memory
    gpus: tuple[Gpu, ...]
    runs_dir: Path
    free_disk_mb: int
    trainers: tuple[Readiness, ...]


@dataclass(frozen=True)
class BackendCheck:
    """What was found; usable where there are no problems. `facts` is None of what cannot be tried."""

    backend: str
    type: str
    summary: str
    facts: LocalFacts | None
    problems: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether a run may go there."""
        return not self.problems


def check_backend(study: Study, name: str) -> BackendCheck:
    """Try a backend of the study. PipelineError `unknown_backend` for a name that the study does not have."""
    backends = study.training.backends
    if name != LOCAL and name not in backends:
        known = (LOCAL, *backends)
        hint = near_miss(name, known) or f"There are {', '.join(known)}."
        raise PipelineError("unknown_backend", f"{study.config_path} has no backend {name!r}. {hint}")
    backend_type = LOCAL if name == LOCAL else backends[name].type
    if backend_type == LOCAL:
        return _check_local(study, name)
    problem = f"Backends of type {backend_type} are not available in this version: runs go to {LOCAL}."
    return BackendCheck(name, backend_type, f"{name}: {backend_type}, not tried", None, (problem,))


def _check_local(study: Study, name: str) -> BackendCheck:
    gpus = machine.gpus()
    torch = machine.torch_device()
    facts = LocalFacts(
        device=_device(study.training.device, torch),
        cores=machine.cores(),
        memory=machine.memory(),
        gpus=gpus,
        runs_dir=study.runs_dir,
        free_disk_mb=machine.free_disk_mb(study.runs_dir),
        trainers=tuple(_readiness(one) for one in describe_all()),
    )
    return BackendCheck(
        backend=name,
        type=LOCAL,
        summary=f"{name}: this machine, {_described(facts)}",
        facts=facts,
        problems=tuple(_problems(study, facts, torch)),
        warnings=tuple(_warnings(study, facts, torch)),
    )


def _device(wanted: str, torch: str | None) -> str:
    """Return what a run computes on: what the study says, else what PyTorch finds; without PyTorch that is the CPU."""
    return wanted if wanted != "auto" else torch or "cpu"


def _described(facts: LocalFacts) -> str:
    if facts.device == "cuda" and facts.gpus:
        return f"{max(facts.gpus, key=lambda gpu: gpu.memory_free_mb).name} (cuda)"
    return _DEVICES.get(facts.device, f"CPU, {facts.cores} {'core' if facts.cores == 1 else 'cores'}")


def _readiness(one: TrainerDescription) -> Readiness:
    return Readiness(one.name, one.available, one.missing)


def _problems(study: Study, facts: LocalFacts, torch: str | None) -> list[str]:
    found = []
    wanted = study.training.device
    if wanted in _DEVICES and torch != wanted:
        finds = "is not installed or does not start here" if torch is None else f"finds {torch} only"
        found.append(f"model_training.device is {wanted}, but PyTorch {finds}. Set it to auto or cpu.")
    if not machine.is_writable(facts.runs_dir):
        blocked = machine.existing_parent(facts.runs_dir)
        found.append(f"Runs are kept in {facts.runs_dir}, and {blocked} cannot be written to. Give this user access.")
    if not any(one.available and not one.missing for one in facts.trainers):
        found.append("No trainer has its packages here. Install one of them; `training-pipeline trainers` says how.")
    if facts.free_disk_mb == 0:
        found.append(f"The disk of {facts.runs_dir} is full. Free some space.")
    return found


def _warnings(study: Study, facts: LocalFacts, torch: str | None) -> list[str]:
    found = []
    limit = study.training.max_ram_mb
    if limit is not None and limit > facts.memory.total_mb:
        found.append(
            f"model_training.max_ram_mb is {limit:g}, more than the {facts.memory.total_mb} MiB there are: "
            "the machine runs out of memory before a run meets its limit."
        )
    if 0 < facts.free_disk_mb < LITTLE_DISK_MB:
        found.append(f"Only {facts.free_disk_mb} MiB are free on the disk of {facts.runs_dir}.")
    if facts.gpus and torch != "cuda":
        why = (
            "PyTorch is not installed or does not start"
            if torch is None
            else "the PyTorch here was built without CUDA or does not find it"
        )
        found.append(f"There is a GPU that no run can use: {why}.")
    return found
