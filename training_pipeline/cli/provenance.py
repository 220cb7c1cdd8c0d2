"""`provenance`: where a pre-label comes from."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from training_pipeline.cli.common import (
    config_argument,
    explained,
    json_option,
    ledger_of,
    print_json,
    print_table,
    study_of,
)
from training_pipeline.errors import PipelineError
from training_pipeline.ledger import predictions, runs
from training_pipeline.ledger.predictions import StoredPrediction
from training_pipeline.ledger.records import RunRecord
from training_pipeline.study.config import Study

_CHARACTERS = 22  # a run id whole, and enough of a digest to tell it from another


@click.command()
@click.argument("item")
@config_argument
@json_option
@explained
def provenance(item: str, config: str | None, *, as_json: bool) -> None:
    """Show which run wrote an item's pre-labels, its trainer and score, and what went into it."""
    study = study_of(config)
    ledger = ledger_of(study)
    stored = predictions.of_item(ledger, item)
    if not stored:
        raise PipelineError("unknown_item", f"No run has written a prediction for item {item!r}.")
    known = {run.run_id: run for run in runs.list_runs(ledger)}
    found = [_document(study, prediction, known.get(prediction.run_id)) for prediction in stored]
    if as_json:
        print_json({"item": item, "prelabels": found})
        return
    for one in found:
        facts = [{"": key, " ": value} for key, value in one.items() if key != "lineage" and value is not None]
        print_table(f"{item}: {one['schema_name']}", facts)
        print_table("What went into it", [_row(version) for version in one["lineage"]], unbroken=("asset",))


def _document(study: Study, prediction: StoredPrediction, run: RunRecord | None) -> dict[str, Any]:
    return {
        "run_id": prediction.run_id,
        "trainer": run.trainer if run else None,
        "headline": asdict(run.headline) if run and run.headline else None,
        "schema_name": prediction.schema_name,
        "prediction": prediction.payload,
        "confidence": prediction.confidence,
        "shown": prediction.exclusion is None,
        "not_shown_because": prediction.exclusion,
        "model_version": run.model_version if run else None,
        "bundle_digest": run.bundle_digest if run else None,
        "dagster_run_id": run.dagster_run_id if run else None,
        "lineage": _lineage(study, prediction.schema_name, run) if run and run.dagster_run_id else [],
    }


def _row(version: dict[str, Any]) -> dict[str, object]:
    return {
        "asset": version["asset"],
        "data version": version["data_version"][:_CHARACTERS],
        "code version": version["code_version"],
        "Dagster run": version["dagster_run_id"][:8],
    }


def _lineage(study: Study, schema_name: str, run: RunRecord) -> list[dict[str, Any]]:
    import dagster as dg  # noqa: PLC0415 - takes a second; only runs that Dagster knows need it

    from training_pipeline.instance import open_instance  # noqa: PLC0415 - likewise
    from training_pipeline.lineage import lineage  # noqa: PLC0415 - likewise
    from training_pipeline.slugs import slug  # noqa: PLC0415 - likewise

    key = dg.AssetKey([slug(schema_name), "published_predictions"])
    with open_instance(study) as instance:
        return [asdict(version) for version in lineage(instance, key, run.dagster_run_id)]
