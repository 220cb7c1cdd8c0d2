"""`held_out_scores`: what the model is worth on items that it never saw."""

from pathlib import Path

import dagster as dg

from training_pipeline.api.urls import picture_url
from training_pipeline.assets.stage import chain_key, stage
from training_pipeline.assets.tables import Cell, table
from training_pipeline.bundle.reader import Bundle
from training_pipeline.ledger import runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import Status
from training_pipeline.pictures import confusion_svg
from training_pipeline.publishing.predictions_file import read_predictions
from training_pipeline.run_directory import RunDirectory
from training_pipeline.scoring.records import HeldOutScores
from training_pipeline.scoring.run import score_run
from training_pipeline.slugs import slug
from training_pipeline.study.config import Study
from training_pipeline.study.schemas import Schema
from training_pipeline.trainers.registry import trainer

_MOST_CLASSES_DRAWN = 30


def held_out_scores_asset(study: Study, schema: Schema) -> dg.AssetsDefinition:
    """Return the asset of one schema."""
    name = slug(schema.name)

    @dg.asset(
        name="held_out_scores",
        key_prefix=name,
        group_name=name,
        deps=[chain_key(schema, "fitted_model")],
        code_version="1",
        description=f"{schema.name}: scores on val and test items, with the 95 % interval of the headline.",
        metadata={"schema": schema.name},
    )
    def held_out_scores(
        context: dg.AssetExecutionContext, ledger: dg.ResourceParam[Ledger]
    ) -> dg.MaterializeResult[None]:
        with stage(context, study, ledger, schema, "held_out_scores") as at:
            if not at.is_again:
                runs.advance(ledger, at.run.run_id, Status.EVALUATING)
            directory = RunDirectory(study.runs_dir / at.run.run_id)
            bundle = Bundle.open(directory.bundle)
            scores = score_run(
                schema,
                bundle,
                read_predictions(directory.predictions),
                keeps_best_epoch=trainer(at.run.trainer).keeps_best_epoch,
            )
            runs.record(
                ledger,
                at.run.run_id,
                metrics={**at.run.metrics, **scores.metrics},
                headline=scores.headline,
                not_scored_because=scores.not_scored_because,
            )
            pictures = _draw(scores, directory.pictures)
        context.log.info(f"{at.note} {_headline(scores)}")
        return dg.MaterializeResult(
            data_version=dg.DataVersion(f"{at.run.run_id}:{bundle.manifest.digest}"),
            metadata={
                "headline": _headline(scores),
                **_headline_numbers(scores),
                **{
                    f"confusion matrix ({split})": dg.MetadataValue.md(
                        f"![{split}]({picture_url(at.run.run_id, file)})"
                    )
                    for split, file in pictures.items()
                },
                **{f"classes ({split})": table(rows) for split, rows in _class_rows(scores).items()},
                "metrics": table([{"metric": key, "value": value} for key, value in scores.metrics.items()]),
                **{key: f"not scored: {reason}" for key, reason in scores.not_scored.items()},
                "comparable with earlier runs": at.run.comparable,
                "run": at.note,
            },
        )

    return held_out_scores


def _headline(scores: HeldOutScores) -> str:
    headline = scores.headline
    if headline is None:
        return f"not scored: {scores.not_scored_because}"
    interval = ""
    if headline.low is not None and headline.high is not None:
        interval = f" (95 % interval {headline.low:.3f} to {headline.high:.3f})"
    return f"{headline.name} {headline.value:.3f}{interval} on {headline.n} items"


def _headline_numbers(scores: HeldOutScores) -> dict[str, float]:
    """Return the headline as numbers, under names that stay the same, so that Dagster plots them over the runs."""
    headline = scores.headline
    if headline is None:
        return {}
    bounds = {"score_low": headline.low, "score_high": headline.high}
    return {"score": round(headline.value, 4)} | {k: round(v, 4) for k, v in bounds.items() if v is not None}


def _draw(scores: HeldOutScores, folder: Path) -> dict[str, str]:
    """Draw what can be drawn of each split; returns {split: file name}."""
    drawn = {}
    for split, part in scores.splits.items():
        confusion = part.evaluation.confusion
        if confusion is not None and len(confusion.predicted) <= _MOST_CLASSES_DRAWN:
            folder.mkdir(exist_ok=True)
            drawn[split] = f"confusion_{split}.svg"
            title = f"Confusion matrix, {split}: {part.support} items"
            svg = confusion_svg(confusion.agreed, confusion.predicted, confusion.counts, title)
            (folder / drawn[split]).write_text(svg, encoding="utf-8")
    return drawn


def _class_rows(scores: HeldOutScores) -> dict[str, list[dict[str, Cell]]]:
    return {
        split: [
            {"label": c.label, "items": c.support, "precision": c.precision, "recall": c.recall, "f1": c.f1}
            for c in part.evaluation.classes
        ]
        for split, part in scores.splits.items()
        if part.evaluation.classes
    }
