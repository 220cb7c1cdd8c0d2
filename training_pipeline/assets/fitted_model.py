"""`fitted_model`: the worker trains, saves, loads what it saved in a fresh process, and predicts."""

import time
from collections.abc import Mapping

import dagster as dg

from training_pipeline.assets.stage import chain_key, refuse_alone, stage
from training_pipeline.assets.tables import table
from training_pipeline.jobs.config import Training
from training_pipeline.ledger import runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import Cost, Progress, Status
from training_pipeline.pace import Pace
from training_pipeline.resources.local import LocalBackend
from training_pipeline.resources.outcome import result_of
from training_pipeline.resources.pipes import Event, WorkerClient
from training_pipeline.run_directory import RunDirectory
from training_pipeline.run_request import param_sources
from training_pipeline.slugs import slug
from training_pipeline.study.config import Study
from training_pipeline.study.schemas import Schema
from training_pipeline.worker.spec import write_spec
from training_pipeline.worker_spec import worker_spec


def fitted_model_asset(study: Study, schema: Schema) -> dg.AssetsDefinition:
    """Return the asset of one schema."""
    name = slug(schema.name)

    @dg.asset(
        name="fitted_model",
        key_prefix=name,
        group_name=name,
        deps=[chain_key(schema, "training_data")],
        kinds={"python"},
        code_version="1",
        description=f"{schema.name}: the model, loaded again in a fresh process before it predicts.",
        metadata={"schema": schema.name},
    )
    def fitted_model(
        context: dg.AssetExecutionContext,
        config: Training,  # noqa: ARG001 - declared here for the launchpad; the run's row holds what was asked for
        ledger: dg.ResourceParam[Ledger],
        backend: dg.ResourceParam[LocalBackend],
    ) -> dg.MaterializeResult[None]:
        with stage(context, study, ledger, schema, "fitted_model") as at:
            refuse_alone(at, schema, "fitted_model")
            directory = RunDirectory(study.runs_dir / at.run.run_id)
            spec = worker_spec(study, at.run)
            write_spec(spec, directory.spec)
            sources = param_sources(study, at.run.trainer, at.run.requested_params)
            runs.record(ledger, at.run.run_id, params=spec.params, param_sources=sources)
            runs.advance(ledger, at.run.run_id, Status.RUNNING)
            follower = _Follower(ledger, at.run.run_id)
            started = time.monotonic()
            invocation, exit_status = WorkerClient(backend).run(
                context=context,
                run_dir=directory.path,
                limits=spec.limits,
                grace_seconds=study.training.grace_seconds,
                on_event=follower,
            )
            result = result_of(follower.end, exit_status, directory.stderr)
            metrics: Mapping[str, float] = result["metrics"]
            cost = Cost(wall_seconds=time.monotonic() - started, peak_rss_mb=metrics.get("peak_rss_mb"))
            runs.record(
                ledger,
                at.run.run_id,
                metrics=metrics,
                artifact_dir=str(directory.artifacts),
                model_version=result["model_version"],
                cost=cost,
            )
        invocation.get_results()  # nothing is reported through Pipes; asking tells Dagster so
        return dg.MaterializeResult(
            data_version=dg.DataVersion(result["model_version"]),
            metadata={
                "trainer": at.run.trainer,
                "params": dict(spec.params),
                "params from": sources,
                "backend": at.run.backend,
                "labels": ", ".join(result.get("label_order", ())) or "none",
                "metrics": table([{"metric": key, "value": value} for key, value in metrics.items()]),
                "seconds": round(cost.wall_seconds, 2),
                "model version": result["model_version"],
                "run": at.run.run_id,
                "path": dg.MetadataValue.path(directory.model),
            },
        )

    return fitted_model


class _Follower:
    """Writes a worker's progress to the ledger as it comes, and keeps the event that ended it.

    That is the first one: a worker whose leash ended it may still say, in its last moment, that it was cancelled.
    """

    def __init__(self, ledger: Ledger, run_id: str) -> None:
        self._ledger = ledger
        self._run_id = run_id
        self._step = ""
        self._pace = Pace()
        self._metrics: dict[str, float] = {}
        self.end: Event | None = None

    def __call__(self, event: Event) -> None:
        if event["event"] in ("result", "error"):
            self.end = self.end or event
        elif event["event"] == "status":
            self._step = event["step"]
            runs.report_progress(self._ledger, self._run_id, Progress(self._step))
        elif event["event"] == "progress":
            phase, current, total = event["phase"], event["current"], event["total"]
            eta = self._pace.eta_seconds(phase, current, total, at=event["t"])
            runs.report_progress(self._ledger, self._run_id, Progress(phase, current, total, eta_seconds=eta))
        elif event["event"] == "metric":
            self._metrics[event["name"]] = event["value"]
            runs.record(self._ledger, self._run_id, metrics=dict(self._metrics))
