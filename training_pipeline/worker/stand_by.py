"""A worker that is started before its training data is there, because importing a trainer's libraries takes seconds."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from training_pipeline.trainers.registry import missing_libraries, trainer
from training_pipeline.worker.errors import WorkerError
from training_pipeline.worker.limits import apply_limits
from training_pipeline.worker.spec import read_spec


def stand_by(spec_path: Path) -> bool:
    """Import what the spec's trainer needs, then wait for a line on stdin; False where stdin ends without one."""
    with suppress(WorkerError):  # the run meets the same error, and reports it
        spec = read_spec(spec_path)
        apply_limits(spec.limits)
        found = trainer(spec.trainer)
        if not missing_libraries(found):
            found.warm_up()
    return bool(sys.stdin.readline())
