"""The process that carries out one run: `python -m training_pipeline.jobs.carry_out CONFIG RUN_ID`.

Importing Dagster takes a second, and importing a trainer's libraries two. So the worker is started first and stands by:
both are imported at the same time.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import suppress

from training_pipeline.errors import PipelineError
from training_pipeline.ledger import runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.resources.local import LocalBackend
from training_pipeline.run_directory import RunDirectory
from training_pipeline.study.config import load_study
from training_pipeline.worker.spec import write_spec
from training_pipeline.worker_spec import worker_spec


def main(config: str, run_id: str) -> int:
    """Carry the run out; returns 0 when it succeeded."""
    # A script's background job begins with SIGINT ignored, and Dagster has SIGTERM treated as it finds SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with LocalBackend() as backend:
        with suppress(PipelineError, OSError):  # the run itself meets the same error, and ends with it
            _stand_by(backend, config, run_id)
        from training_pipeline.jobs import execute  # noqa: PLC0415  it imports Dagster

        gc.freeze()  # half a million objects that stay: a collection need not walk them again and again
        return execute.main(config, run_id, backend=backend)


def _stand_by(backend: LocalBackend, config: str, run_id: str) -> None:
    study = load_study(config)
    unfinished = [run for run in runs.list_runs(Ledger(study.database, study.name)) if not run.status.has_ended]
    if [run.run_id for run in unfinished] != [run_id]:
        return  # it will wait its turn, and nobody knows how long
    directory = RunDirectory(study.runs_dir / run_id)
    spec = worker_spec(study, unfinished[0])
    write_spec(spec, directory.spec)
    backend.stand_by(directory.path, limits=spec.limits, grace_seconds=study.training.grace_seconds)


if __name__ == "__main__":
    status = main(*sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # everything is written and closed; taking Dagster apart object by object takes half a second
