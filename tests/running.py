"""Training runs for tests: studies that can be learned, run by Dagster in this process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg

from tests.studies import make_study
from training_pipeline.bundle.reader import Bundle
from training_pipeline.definitions import build_definitions
from training_pipeline.ledger import runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import RunRecord
from training_pipeline.resources.local import LocalBackend, LocalWorker
from training_pipeline.run_directory import RunDirectory
from training_pipeline.study.config import Study, load_study
from training_pipeline.worker.spec import Limits

PRAISE = ("great", "lovely", "superb", "sturdy", "perfect")
BLAME = ("broken", "awful", "useless", "noisy", "terrible")
THINGS = ("camera", "battery", "screen", "lens", "button", "strap", "manual")
SHOWN = {"schemas": ["sentiment"], "include_unlabeled": True}


def reviews(n: int) -> list[dict[str, str]]:
    """Return `n` reviews, each text once; those with an odd number are praise."""
    return [
        {"id": f"r{k:03}", "text": f"The {THINGS[k % 7]} of order {k} is {(PRAISE if k % 2 else BLAME)[k // 2 % 5]}"}
        for k in range(n)
    ]


def sentiment_of(k: int) -> str:
    return "positive" if k % 2 else "negative"


def review_answers(n: int, annotators: tuple[str, ...] = ("ann", "ben")) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the sentiment of the first `n` reviews, agreed by all annotators."""
    return {name: {f"r{k:03}": {"sentiment": sentiment_of(k)} for k in range(n)} for name in annotators}


def review_study(directory: Path, *, n: int = 120, n_labelled: int = 90, **given: Any) -> Path:
    """Write a study of reviews whose pre-labels are shown, and return its config."""
    settings = {"items": reviews(n), "answers": review_answers(n_labelled), "training": {"writeback": SHOWN}}
    directory.mkdir(parents=True, exist_ok=True)
    return make_study(directory, **{**settings, **given})


@dataclass(frozen=True)
class Ran:
    """What a Dagster run of a study left behind."""

    study: Study
    ledger: Ledger
    result: dg.ExecuteInProcessResult

    @property
    def run(self) -> RunRecord:
        """The training run that this Dagster run was, else the newest one of the ledger."""
        listed = runs.list_runs(self.ledger)
        own = self.result.dagster_run.run_id
        return next((run for run in listed if run.dagster_run_id == own), listed[0])

    @property
    def directory(self) -> RunDirectory:
        return RunDirectory(self.study.runs_dir / self.run.run_id)

    def metadata(self, asset: str) -> dict[str, Any]:
        """Return the metadata of an asset that was made, by label: plain values, tables as lists of rows."""
        made = self.materialization(asset)
        return {label: _plain(value) for label, value in made.metadata.items()}

    def version(self, asset: str) -> str:
        """Return the data version that Dagster has of an asset that was made."""
        return (self.materialization(asset).tags or {})["dagster/data_version"]

    def materialization(self, asset: str) -> dg.AssetMaterialization:
        (made,) = [
            event.step_materialization_data.materialization
            for event in self.result.all_events
            if event.is_step_materialization and event.asset_key == dg.AssetKey(asset.split("/"))
        ]
        return made

    @property
    def made(self) -> list[str]:
        """The assets that were made, in their order."""
        return [
            event.asset_key.to_user_string()
            for event in self.result.all_events
            if event.is_step_materialization and event.asset_key
        ]

    @property
    def checks(self) -> dict[str, dg.AssetCheckEvaluation]:
        """The evaluations of the checks, by `<asset>: <check>`."""
        found = self.result.get_asset_check_evaluations()
        return {f"{one.asset_key.to_user_string()}: {one.check_name}": one for one in found}

    @property
    def failures(self) -> list[str]:
        """What the failed steps say, with everything that Dagster would show of their errors."""
        return [
            event.step_failure_data.error.to_string()
            for event in self.result.all_node_events
            if event.is_step_failure and event.step_failure_data.error
        ]


def train(
    config: Path,
    schema_slug: str = "sentiment",
    *,
    instance: dg.DagsterInstance | None = None,
    asked: Mapping[str, Any] | None = None,
    **overrides: object,
) -> Ran:
    """Run a schema's training job in this process; `asked` is what the launchpad would say."""
    return run_job(config, f"train_{schema_slug}", instance=instance, asked=asked, **overrides)


def run_job(
    config: Path,
    job: str,
    *,
    instance: dg.DagsterInstance | None = None,
    asked: Mapping[str, Any] | None = None,
    **overrides: object,
) -> Ran:
    study = load_study(config)
    definition = build_definitions(study, **overrides).resolve_job_def(job)
    used = instance or dg.DagsterInstance.ephemeral()
    result = definition.execute_in_process(instance=used, run_config=dict(asked or {}), raise_on_error=False)
    return Ran(study, Ledger(study.database, study.name), result)


def materialize(config: Path, *assets: str, instance: dg.DagsterInstance | None = None, **overrides: object) -> Ran:
    """Materialize some assets from the graph, as a person who selects them there does."""
    study = load_study(config)
    definition = build_definitions(study, **overrides).resolve_implicit_global_asset_job_def()
    keys = [dg.AssetKey(asset.split("/")) for asset in assets]
    used = instance or dg.DagsterInstance.ephemeral()
    result = definition.execute_in_process(instance=used, asset_selection=keys, raise_on_error=False)
    return Ran(study, Ledger(study.database, study.name), result)


class InstantBackend(LocalBackend):
    """A backend whose worker has learned nothing: it says the schema's first label of everything, at once."""

    def start(self, run_dir: Path, *, limits: Limits, grace_seconds: float) -> LocalWorker:
        directory = RunDirectory(run_dir)
        bundle = Bundle.open(directory.bundle)
        (schema,) = bundle.manifest.schemas
        directory.model.mkdir(parents=True)
        predicted = [row.instance_id for split in ("val", "test", "unlabeled") for row in bundle.rows(split)]
        payload = {"label": schema.labels[0], "confidence": 0.9}
        _write_lines(
            directory.predictions,
            [
                {"instance_id": item, "schema_name": schema.name, "payload": payload, "confidence": 0.9}
                for item in predicted
            ],
        )
        result = {"status": "success", "model_version": f"m-{run_dir.name}", "metrics": {"train_seconds": 0.0}}
        _write_lines(directory.events, [_event("status", step="fitting"), _event("result", **result)])
        return _EndedWorker()


class _EndedWorker(LocalWorker):
    def __init__(self) -> None:
        """There is no process."""

    def wait(self) -> int:
        return 0

    def stop(self) -> None:
        """It has ended."""


def _event(name: str, **fields: Any) -> dict[str, Any]:
    return {"v": 1, "event": name, "t": 0.0, **fields}


def _write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")


def _plain(value: dg.MetadataValue) -> Any:
    if isinstance(value, dg.TableMetadataValue):
        return [dict(record.data) for record in value.records]
    return value.value
