"""The command that starts a worker on this machine."""

from __future__ import annotations

import sys
from pathlib import Path

from training_pipeline.worker.leash import command_on_leash


def worker_command(spec_path: Path) -> list[str]:
    """Return the command that does what a spec asks for."""
    return [sys.executable, "-m", "training_pipeline.worker", str(spec_path)]


def worker_command_on_leash(spec_path: Path, grace_seconds: float) -> list[str]:
    """Return the same command on a leash that this process holds."""
    return command_on_leash(worker_command(spec_path), grace_seconds)
