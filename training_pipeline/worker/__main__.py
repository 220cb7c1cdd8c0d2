"""`python -m training_pipeline.worker SPEC.json`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from training_pipeline.worker.run import run

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m training_pipeline.worker SPEC.json")
    status = run(Path(sys.argv[1]))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # all files are written and flushed; taking a large model apart object by object takes seconds
