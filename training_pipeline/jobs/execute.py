"""One run, carried out in this process.

The run is in the ledger already; it takes its turn, the schema's job runs, and the run has ended.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping

from training_pipeline.assets.stage import RUN_ID_TAG
from training_pipeline.definitions import build_definitions
from training_pipeline.failures import explain
from training_pipeline.instance import open_instance
from training_pipeline.jobs.train import job_name
from training_pipeline.ledger import runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import RunRecord, Status
from training_pipeline.reconciling import reconcile
from training_pipeline.run_directory import RunDirectory
from training_pipeline.study.config import Study, load_study
from training_pipeline.turns import check_again, invalid_when_dequeued, wait_for_turn


def main(config: str, run_id: str, **overrides: object) -> int:
    """Carry the run out; returns 0 when Dagster's run succeeded. The ledger's run has ended then, whatever happened.

    `overrides` replace resources by name, as `build_definitions` says.
    """
    # Dagster turns SIGINT into an orderly interruption of the step; a SIGTERM means the same to us.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    study = load_study(config)
    ledger = Ledger(study.database, study.name)
    try:
        # Dagster's run begins with the turn: while this one waits, Dagster has nothing to hold its own queue up for.
        run = wait_for_turn(ledger, run_id, lambda _place: None)
        succeeded = _execute(_as_it_is_now(config, run), ledger, run, overrides)
    except KeyboardInterrupt:
        runs.end_stopped(ledger, run_id)
        return 1
    except Exception as error:
        explained = explain(error)
        text, code = (str(explained), explained.code) if explained else (_unexpected(study, run_id), "unexpected")
        _end(ledger, run_id, Status.ERROR, text, code)
        raise
    _end(ledger, run_id, Status.ERROR, _unexpected(study, run_id), "unexpected")
    return 0 if succeeded else 1


def _as_it_is_now(config: str, run: RunRecord) -> Study:
    """Return the study, read again now that the turn has come, if the run can still be made of it."""
    with invalid_when_dequeued(run):
        study = load_study(config)
    check_again(study, run)
    return study


def _execute(study: Study, ledger: Ledger, run: RunRecord, overrides: Mapping[str, object]) -> bool:
    job = build_definitions(study, **overrides).resolve_job_def(job_name(study.schema(run.schema_names[0])))
    with open_instance(study) as instance:
        reconcile(instance, study, ledger)
        result = job.execute_in_process(
            instance=instance,
            run_config={"trainer": run.trainer, "params": dict(run.requested_params), "backend": run.backend},
            tags={RUN_ID_TAG: run.run_id},
            raise_on_error=False,
        )
    return result.success


def _end(ledger: Ledger, run_id: str, status: Status, error: str, code: str) -> None:
    """End a run that no step of it has ended."""
    if not runs.get(ledger, run_id).status.has_ended:
        runs.finish(ledger, run_id, status, error=error, error_code=code)


def _unexpected(study: Study, run_id: str) -> str:
    log = RunDirectory(study.runs_dir / run_id).log
    return f"The run failed outside its own steps, which is a defect of this program; {log} says where."
