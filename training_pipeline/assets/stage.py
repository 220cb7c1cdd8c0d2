"""The training run behind the assets: one row of the ledger per Dagster run that makes a schema's whole chain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import dagster as dg

from training_pipeline.errors import PipelineError
from training_pipeline.failures import explain
from training_pipeline.ledger import queue, runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.owners import this_process
from training_pipeline.ledger.records import RunRecord, Status
from training_pipeline.ledger.stops import CANCELLED, Stop
from training_pipeline.plain_error import plain_error
from training_pipeline.run_request import RunRequest, resolve
from training_pipeline.slugs import slug
from training_pipeline.study.config import Study
from training_pipeline.study.schemas import Schema
from training_pipeline.turns import check_again, wait_for_turn

CHAIN = ("agreed_labels", "training_data", "fitted_model", "held_out_scores", "published_predictions")
"""The assets of a schema, in the order in which they are made."""

RUN_ID_TAG = "training/run_id"
"""The Dagster run's tag that names the ledger's run, where the run was asked for before Dagster started it."""

TRIGGER_TAG = "training/trigger"
AUTO = "auto"
"""The trigger of a run that nobody asked for: such a run starts at once or not at all."""

_ENDED_AROUND_IT = Stop(
    Status.INTERRUPTED,
    "The run's process was told to end while the run was going, since `training-pipeline up` or the machine was ended."
    " Start the run again.",
)

Context: TypeAlias = dg.AssetExecutionContext | dg.AssetCheckExecutionContext


@dataclass(frozen=True)
class Stage:
    """What an asset works for: a training run of its own Dagster run, or (`is_again`) the schema's latest one."""

    run: RunRecord
    is_again: bool

    @property
    def note(self) -> str:
        """Say so where an earlier run's part is made again."""
        return f"Made again for run {self.run.run_id}." if self.is_again else f"Run {self.run.run_id}."


def chain_key(schema: Schema, asset: str) -> dg.AssetKey:
    """Return the key of one asset of a schema's chain."""
    return dg.AssetKey([slug(schema.name), asset])


def trained_schema(study: Study, selected: frozenset[dg.AssetKey]) -> Schema | None:
    """Return the schema whose whole chain is among the selected keys, if there is one.

    One run trains one schema; a selection that holds several whole chains is refused.
    """
    whole = [schema for schema in study.schemas if {chain_key(schema, asset) for asset in CHAIN} <= selected]
    if len(whole) > 1:
        names = ", ".join(f"train_{slug(schema.name)}" for schema in whole)
        raise PipelineError(
            "several_schemas",
            f"One run trains one schema, and {len(whole)} were selected. Materialize them one after the other: "
            f"the jobs are {names}.",
        )
    return whole[0] if whole else None


@contextmanager
def training_run(context: Context, study: Study, ledger: Ledger) -> Iterator[RunRecord | None]:
    """Give the training run that this Dagster run is, when it has its turn; None if it is not one.

    When the body fails or is interrupted, the run ends with it: `error` or `cancelled`. Errors that a person can act on
    reach Dagster as their sentence alone.
    """
    run = None
    try:
        run = _own_run(context, study, ledger)
        yield run and _with_its_turn(context, study, ledger, run)
    except Exception as error:
        explained = explain(error)
        if explained is None:
            _end(context, ledger, run, Status.ERROR, PipelineError("unexpected", f"{type(error).__name__}: {error}"))
            raise
        _end(context, ledger, run, Status.ERROR, explained)
        raise plain_error(str(explained)) from None
    except BaseException:
        # Dagster's interruption, Ctrl-C, or the executor closing a generator that will not be resumed.
        with _unwritten_is_told(context, run):
            if run is not None:
                going = context.instance.get_run_by_id(context.run.run_id)
                runs.end_stopped(ledger, run.run_id, _by_signal(going))
                _tell_dagster(context.instance, going, runs.get(ledger, run.run_id))
        raise


@contextmanager
def stage(context: Context, study: Study, ledger: Ledger, schema: Schema, asset: str) -> Iterator[Stage]:
    """Give the run that `asset` of `schema` is made for: this Dagster run's own, else the schema's latest success."""
    with training_run(context, study, ledger) as own:
        if own is not None:
            yield Stage(own, is_again=False)
            return
        latest = runs.latest_success(ledger, schema.name)
        if latest is None:
            raise PipelineError(
                "unknown_run",
                f"There is no successful run of {schema.name!r} whose {asset.replace('_', ' ')} could be made again. "
                f"Materialize the whole chain first: job train_{slug(schema.name)}.",
            )
        yield Stage(latest, is_again=True)


def warn(context: Context, ledger: Ledger, run: RunRecord | None, warnings: Sequence[str]) -> None:
    """Tell warnings where people look: in Dagster's log and, of a run, in its record."""
    for warning in warnings:
        context.log.warning(warning)
    if run is not None and warnings:
        runs.warn(ledger, run.run_id, warnings)


def refuse_alone(stage: Stage, schema: Schema, asset: str) -> None:
    """Refuse to make an asset that belongs to a new run only."""
    if stage.is_again:
        raise PipelineError(
            "not_alone",
            f"{asset} of {schema.name!r} is part of a new run and cannot be made by itself: a run's training data and "
            f"model never change afterwards. Materialize the whole chain: job train_{slug(schema.name)}.",
        )


def _own_run(context: Context, study: Study, ledger: Ledger) -> RunRecord | None:
    schema = trained_schema(study, frozenset(context.job_def.asset_layer.executable_asset_keys))
    if schema is None:
        return None
    known = queue.of_dagster_run(ledger, context.run.run_id)
    if known is not None and known.status.is_active and known.owner != this_process():
        raise PipelineError("busy", f"Another process works on run {known.run_id} already.")
    return known or _ask_for(context, study, ledger, schema)


def _ask_for(context: Context, study: Study, ledger: Ledger, schema: Schema) -> RunRecord:
    tags = context.run.tags
    if RUN_ID_TAG in tags:
        run = runs.get(ledger, tags[RUN_ID_TAG])
        runs.record(ledger, run.run_id, dagster_run_id=context.run.run_id)
        return run
    request = asked_for(study, schema, context.run.run_config)
    return runs.request(
        ledger,
        trainer=request.trainer,
        schema_names=[schema.name],
        kinds=[schema.kind],
        backend=request.backend,
        trigger=tags.get(TRIGGER_TAG, "manual"),
        owner=this_process(),
        queue_max=study.training.queue_max,
        requested_params=request.requested_params,
        dagster_run_id=context.run.run_id,
    )


def asked_for(study: Study, schema: Schema, run_config: Mapping[str, Any]) -> RunRequest:
    """Return what a Dagster run's config asks for: the job's short form, or the long form of one from the graph.

    Raises `PipelineError` where it cannot run.
    """
    asked: Mapping[str, Any] = run_config
    if "ops" in run_config:
        asked = run_config["ops"].get(f"{slug(schema.name)}__fitted_model", {}).get("config", {})
    return resolve(study, schema.name, asked.get("trainer"), asked.get("backend"), asked.get("params"))


def _with_its_turn(context: Context, study: Study, ledger: Ledger, run: RunRecord) -> RunRecord:
    if run.status.has_ended:
        raise PipelineError(run.error_code or "already_ended", run.error or f"Run {run.run_id} is {run.status}.")
    if run.status is Status.QUEUED:
        run = wait_for_turn(ledger, run.run_id, lambda place: context.log.info(f"Run {run.run_id}: waiting #{place}"))
        check_again(study, run)
    return run


def _end(context: Context, ledger: Ledger, run: RunRecord | None, status: Status, cause: PipelineError) -> None:
    with _unwritten_is_told(context, run):
        if run is not None and not runs.get(ledger, run.run_id).status.has_ended:
            runs.finish(ledger, run.run_id, status, error=str(cause), error_code=cause.code)


def _by_signal(going: dg.DagsterRun | None) -> Stop:
    """Return as what a run ends that a signal interrupts and nobody has told to stop.

    A run that Dagster's queue started has a process that nobody types Ctrl-C to: there, what it ran in was ended.
    """
    if going is None or going.remote_job_origin is None or going.status is dg.DagsterRunStatus.CANCELING:
        return CANCELLED
    return _ENDED_AROUND_IT


def _tell_dagster(instance: dg.DagsterInstance, going: dg.DagsterRun | None, run: RunRecord) -> None:
    """Let Dagster's run end as cancelled too: it would call an interruption that it did not ask for a failure."""
    if run.status is Status.CANCELLED and going is not None and going.status is dg.DagsterRunStatus.STARTED:
        instance.report_run_canceling(going)


@contextmanager
def _unwritten_is_told(context: Context, run: RunRecord | None) -> Iterator[None]:
    try:
        yield
    except PipelineError as unwritten:
        # What the person needs is the first error; a reconciliation finds the run's process gone and ends the row.
        run_id = run.run_id if run else ""
        context.log.warning(f"The end of run {run_id} could not be written down: {unwritten}")
