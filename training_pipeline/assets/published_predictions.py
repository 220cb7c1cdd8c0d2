"""`published_predictions`: which predictions annotators see as pre-labels, and why not the others."""

from collections.abc import Collection, Mapping
from dataclasses import asdict
from itertools import chain
from typing import Any

import dagster as dg

from training_pipeline.assets.stage import Stage, chain_key, stage
from training_pipeline.assets.tables import Cell, table
from training_pipeline.bundle.manifest import SPLITS
from training_pipeline.bundle.reader import Bundle
from training_pipeline.interrupts import undisturbed
from training_pipeline.ledger import predictions, retention, runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.predictions import Exclusion, StoredPrediction
from training_pipeline.ledger.records import Status, WritebackReport
from training_pipeline.publishing.predictions_file import read_predictions
from training_pipeline.publishing.study_writeback import write_back
from training_pipeline.resources.items import StudyItems
from training_pipeline.run_directory import RunDirectory
from training_pipeline.slugs import slug
from training_pipeline.study.config import Study
from training_pipeline.study.schemas import Schema

_SAMPLES = 10
_CHARACTERS = 80


def published_predictions_asset(study: Study, schema: Schema) -> dg.AssetsDefinition:
    """Return the asset of one schema."""
    name = slug(schema.name)

    @dg.asset(
        name="published_predictions",
        key_prefix=name,
        group_name=name,
        deps=[chain_key(schema, "fitted_model"), chain_key(schema, "held_out_scores")],
        kinds={"sqlite"},
        code_version="1",
        description=f"{schema.name}: the predictions that annotators see as pre-labels, and why not the others.",
        metadata={"schema": schema.name},
    )
    def published_predictions(
        context: dg.AssetExecutionContext, ledger: dg.ResourceParam[Ledger], items: dg.ResourceParam[StudyItems]
    ) -> dg.MaterializeResult[None]:
        with stage(context, study, ledger, schema, "published_predictions") as at:
            directory = RunDirectory(study.runs_dir / at.run.run_id)
            known = items.index()
            with undisturbed():
                report = write_back(study, ledger, known).publish(
                    at.run.run_id, read_predictions(directory.predictions)
                )
                if not at.is_again:
                    runs.finish(ledger, at.run.run_id, Status.SUCCESS)
                    retention.prune(ledger, study.training.retain_runs)
        context.log.info(f"{at.note} {report.summary}")
        for warning in report.warnings:
            context.log.warning(warning)
        return dg.MaterializeResult(
            data_version=dg.DataVersion(f"{at.run.run_id}:{report.n_written}"),
            metadata=_metadata(ledger, at, report, Bundle.open(directory.bundle)),
        )

    return published_predictions


def _metadata(ledger: Ledger, at: Stage, report: WritebackReport, bundle: Bundle) -> dict[str, Any]:
    samples = {
        exclusion: predictions.of_run(ledger, at.run.run_id, exclusion=exclusion, limit=_SAMPLES)
        for exclusion in (None, *Exclusion)
    }
    texts = _texts(bundle, {prediction.instance_id for found in samples.values() for prediction in found})
    return {
        "summary": report.summary,
        "published": report.n_written,
        "excluded": table(_exclusions(report)),
        "came down": report.n_superseded_cleared,
        "samples published": table([_sample(prediction, texts) for prediction in samples.pop(None)]),
        **{
            f"samples excluded: {exclusion.replace('_', ' ')}": table([_sample(p, texts) for p in found])
            for exclusion, found in samples.items()
            if exclusion and found
        },
        "warnings": "\n".join(report.warnings) or "none",
        "run": at.note,
    }


def _exclusions(report: WritebackReport) -> list[dict[str, Cell]]:
    counts = {key: n for key, n in asdict(report).items() if key.startswith("n_skipped_") and n}
    return [{"reason": key.removeprefix("n_skipped_").replace("_", " "), "predictions": n} for key, n in counts.items()]


def _texts(bundle: Bundle, wanted: Collection[str]) -> dict[str, str]:
    """Return the beginnings of a few items' texts; reads no further than the last of them."""
    texts: dict[str, str] = {}
    predicted = chain.from_iterable(bundle.rows(split) for split in SPLITS if split != "train")
    while len(texts) < len(wanted) and (row := next(predicted, None)):
        if row.instance_id in wanted:
            texts[row.instance_id] = row.text[:_CHARACTERS]
    return texts


def _sample(prediction: StoredPrediction, texts: Mapping[str, str]) -> dict[str, Cell]:
    return {
        "item": prediction.instance_id[:_CHARACTERS],
        "text": texts.get(prediction.instance_id, ""),
        "prediction": _text(prediction.payload),
        "confidence": prediction.confidence,
    }


def _text(payload: object) -> str:
    if isinstance(payload, dict):
        return str(payload.get("label"))
    if isinstance(payload, list):
        return ", ".join(_text(entry) for entry in payload)
    return str(payload)
