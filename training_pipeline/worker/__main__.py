"""`python -m training_pipeline.worker SPEC.json [--stand-by]`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from training_pipeline.worker.command import STAND_BY
from training_pipeline.worker.errors import ExitStatus
from training_pipeline.worker.run import run
from training_pipeline.worker.stand_by import stand_by

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], [STAND_BY]):
        sys.exit(f"usage: python -m training_pipeline.worker SPEC.json [{STAND_BY}]")
    spec_path = Path(sys.argv[1])
    wanted = sys.argv[2:] != [STAND_BY] or stand_by(spec_path)
    status = run(spec_path) if wanted else ExitStatus.DONE
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # all files are written and flushed; taking a large model apart object by object takes seconds
