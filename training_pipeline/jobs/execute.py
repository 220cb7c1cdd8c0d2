"""The process that carries out one run: `python -m training_pipeline.jobs.execute CONFIG RUN_ID`.

The run is in the ledger already; this process takes its turn, runs the schema's job in itself, and ends.
"""

from __future__ import annotations

import signal
import sys

import dagster as dg

from training_pipeline.assets.stage import RUN_ID_TAG
from training_pipeline.definitions import build_definitions
from training_pipeline.instance import dagster_home
from training_pipeline.jobs.train import job_name
from training_pipeline.ledger import runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.study.config import load_study


def main(config: str, run_id: str) -> int:
    """Carry the run out; returns 0 when Dagster's run succeeded."""
    # Dagster turns SIGINT into an orderly interruption of the step; a SIGTERM means the same to us.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    study = load_study(config)
    run = runs.get(Ledger(study.database, study.name), run_id)
    job = build_definitions(study).resolve_job_def(job_name(study.schema(run.schema_names[0])))
    with dg.DagsterInstance.from_config(str(dagster_home(study))) as instance:
        result = job.execute_in_process(
            instance=instance,
            run_config={"trainer": run.trainer, "params": dict(run.requested_params), "backend": run.backend},
            tags={RUN_ID_TAG: run_id},
            raise_on_error=False,
        )
    return 0 if result.success else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
