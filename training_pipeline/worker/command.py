"""The command that starts a worker on this machine."""

from __future__ import annotations

import sys
from pathlib import Path

from training_pipeline.worker.events import EVENTS_FILE
from training_pipeline.worker.leash import command_on_leash
from training_pipeline.worker.spec import Limits

STAND_BY = "--stand-by"


def worker_command(spec_path: Path, *, stand_by: bool = False) -> list[str]:
    """Return the command that does what a spec asks for: at once, or (`stand_by`) when a line comes on its stdin."""
    command = [sys.executable, "-m", "training_pipeline.worker", str(spec_path)]
    return [*command, STAND_BY] if stand_by else command


def worker_command_on_leash(
    spec_path: Path, limits: Limits, grace_seconds: float, *, stand_by: bool = False
) -> list[str]:
    """Return the same command on a leash that this process holds, which ends it where it goes beyond the limits."""
    return command_on_leash(
        worker_command(spec_path, stand_by=stand_by),
        grace_seconds,
        max_wall_seconds=limits.max_wall_seconds,
        max_ram_mb=limits.max_ram_mb,
        events=spec_path.with_name(EVENTS_FILE),
    )
