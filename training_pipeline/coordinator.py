"""Dagster's queue, tied to the study's ledger: the run coordinator that dagster.yaml names.

A run that is asked for in the UI, through GraphQL or by a sensor gets its row of the ledger here, when it is asked for,
or is refused with one sentence. The study is the one that `TRAINING_PIPELINE_CONFIG` names, as for the code location.
"""

from __future__ import annotations

from dagster import DagsterRun, DagsterRunStatus
from dagster._core.run_coordinator import SubmitRunContext
from dagster._core.run_coordinator.queued_run_coordinator import QueuedRunCoordinator, RunQueueConfig

from training_pipeline.assets.stage import (
    AUTO,
    CHAIN,
    RUN_ID_TAG,
    TRIGGER_TAG,
    asked_for,
    chain_key,
    trained_schema,
)
from training_pipeline.errors import PipelineError
from training_pipeline.jobs.train import SCHEMA_TAG, STUDY_TAG, job_name
from training_pipeline.ledger import queue, runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import RunRecord, Status
from training_pipeline.ledger.stops import CANCELLED
from training_pipeline.plain_error import plain_error
from training_pipeline.stopping import cancel_waiting, tell
from training_pipeline.study.config import Study, study_of_environment
from training_pipeline.study.schemas import Schema


class StudyQueue(QueuedRunCoordinator):
    """Lets Dagster's queue do as the ledger says."""

    _first_read: Study | None = None

    def submit_run(self, context: SubmitRunContext) -> DagsterRun:
        """Write the run down, or refuse it, and put it into the queue."""
        if context.dagster_run.status is DagsterRunStatus.NOT_STARTED:
            try:
                self._write_down(context.dagster_run)
            except PipelineError as refusal:
                raise plain_error(str(refusal)) from None
        return super().submit_run(context)

    def cancel_run(self, run_id: str) -> bool:
        """Cancel a run that waits or goes; False where it cannot be: it is publishing, or has ended."""
        study = self._whatever_its_config_says_now()
        ledger = Ledger(study.database, study.name)
        run = queue.of_dagster_run(ledger, run_id)
        if run is None or cancel_waiting(ledger, run.run_id) is not None:
            return bool(super().cancel_run(run_id))
        return self._stop(study, ledger, runs.get(ledger, run.run_id))

    def get_run_queue_config(self) -> RunQueueConfig:
        """Return the limits of this moment: none of the study's runs leaves the queue before the ledger lets it.

        A run of the command line waits and goes in a process of its own, of which Dagster's queue knows nothing.
        """
        config: RunQueueConfig = super().get_run_queue_config()
        try:
            study = self._whatever_its_config_says_now()
        except PipelineError:
            return config  # a process that takes no runs out of the queue, and was not told of the study
        if queue.is_dagsters_turn(Ledger(study.database, study.name)):
            return config
        closed = {"key": STUDY_TAG, "value": str(study.task_dir), "limit": 0}
        return config._replace(tag_concurrency_limits=[*config.tag_concurrency_limits, closed])

    def _whatever_its_config_says_now(self) -> Study:
        """Return the study as it was read first, for where its ledger is: runs wait on while its config is broken."""
        if self._first_read is None:
            self._first_read = study_of_environment()
        return self._first_read

    def _write_down(self, dagster_run: DagsterRun) -> None:
        study = study_of_environment()
        schema = _schema_of(study, dagster_run)
        if schema is None:
            return
        request = asked_for(study, schema, dagster_run.run_config)
        trigger = dagster_run.tags.get(TRIGGER_TAG, "manual")
        run = runs.request(
            Ledger(study.database, study.name),
            trainer=request.trainer,
            schema_names=[schema.name],
            kinds=[schema.kind],
            backend=request.backend,
            trigger=trigger,
            owner=None,
            queue_max=study.training.queue_max,
            may_wait=trigger != AUTO,
            requested_params=request.requested_params,
            dagster_run_id=dagster_run.run_id,
        )
        # A run that was started from the graph lacks the tags of the schema's job.
        tags = {STUDY_TAG: str(study.task_dir), SCHEMA_TAG: schema.name, RUN_ID_TAG: run.run_id}
        self._instance.add_run_tags(dagster_run.run_id, tags)

    def _stop(self, study: Study, ledger: Ledger, run: RunRecord) -> bool:
        if run.status is Status.SUCCESS:
            return False
        if run.status.has_ended:
            return bool(super().cancel_run(run.dagster_run_id))
        dagster_run = self._instance.get_run_by_id(run.dagster_run_id)
        if dagster_run is not None and dagster_run.status is DagsterRunStatus.STARTED:
            self._instance.report_run_canceling(dagster_run)
        try:
            tell(ledger, run.run_id, CANCELLED, study.training.grace_seconds)
        except PipelineError as refusal:
            raise plain_error(str(refusal)) from None
        return True


def _schema_of(study: Study, dagster_run: DagsterRun) -> Schema | None:
    """Return the schema that a run of Dagster would train, if it trains one."""
    selected = dagster_run.asset_selection
    if selected is None:
        jobs = {job_name(schema): schema for schema in study.schemas}
        schema = jobs.get(dagster_run.job_name)
        selected = frozenset(chain_key(schema, asset) for asset in CHAIN) if schema else frozenset()
    return trained_schema(study, frozenset(selected))
