"""`auto_retrain`: the sensor that starts a run when enough annotations are new."""

from __future__ import annotations

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition
from dagster._core.storage.dagster_run import RunsFilter

from training_pipeline.assets.stage import TRIGGER_TAG
from training_pipeline.errors import PipelineError
from training_pipeline.jobs.train import STUDY_TAG
from training_pipeline.ledger.database import Ledger
from training_pipeline.plain_error import plain_error
from training_pipeline.retraining import Attempt, decide
from training_pipeline.run_request import RunRequest
from training_pipeline.study.config import Study

NAME = "auto_retrain"
AUTO = "auto"
_MIN_INTERVAL_S = 1  # the daemon comes by every five seconds; at five, it would leave out each time it came early

_AFTER_TAG = "training/after"


def auto_retrain_sensor(study: Study, request: RunRequest, job: UnresolvedAssetJobDefinition) -> dg.SensorDefinition:
    """Return the sensor, which starts a job that trains the request's schema."""
    settings = study.training.auto_retrain
    asked = {"trainer": request.trainer, "params": dict(request.requested_params), "backend": request.backend}

    @dg.sensor(
        name=NAME,
        job=job,
        minimum_interval_seconds=_MIN_INTERVAL_S,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=(
            f"Train on {request.schema.name} with {request.trainer} after {settings.update_frequency} new annotations, "
            f"{settings.min_interval_s:g} seconds after the last run at the earliest."
        ),
    )
    def auto_retrain(
        context: dg.SensorEvaluationContext, ledger: dg.ResourceParam[Ledger]
    ) -> dg.SkipReason | dg.RunRequest:
        try:
            decision = decide(study, request.schema, ledger, lambda after: _attempts(context.instance, study, after))
        except PipelineError as problem:
            raise plain_error(str(problem)) from None
        if decision.skip_reason is not None:
            return dg.SkipReason(decision.skip_reason)
        tags = {TRIGGER_TAG: AUTO, _AFTER_TAG: decision.after}
        # Several studies may share Dagster's home, which remembers every key for good.
        return dg.RunRequest(run_key=f"{study.task_dir} {decision.attempt}", run_config=asked, tags=tags)

    return auto_retrain


def _attempts(instance: dg.DagsterInstance, study: Study, after: str) -> list[Attempt]:
    wanted = RunsFilter(tags={STUDY_TAG: str(study.task_dir), _AFTER_TAG: after})
    return [
        Attempt((record.end_time or record.update_timestamp.timestamp()) if record.dagster_run.is_finished else None)
        for record in instance.get_run_records(wanted)
    ]
