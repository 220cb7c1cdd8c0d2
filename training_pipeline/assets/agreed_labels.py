"""`agreed_labels`: one label per item, from the answers of all annotators."""

from collections import Counter
from pathlib import Path
from typing import Any

import dagster as dg

from training_pipeline import retraining
from training_pipeline.assets import answers
from training_pipeline.assets.stage import training_run, warn
from training_pipeline.assets.tables import Cell, table
from training_pipeline.labels.agreed import AgreedLabels
from training_pipeline.labels.consensus import agree
from training_pipeline.labels.storage import digest, save
from training_pipeline.labels.strange import strange_labels
from training_pipeline.ledger.database import Ledger
from training_pipeline.resources.items import StudyItems
from training_pipeline.slugs import slug
from training_pipeline.study.answers import Answers, LeftOut, read_answers
from training_pipeline.study.config import Study
from training_pipeline.study.reviews import corrected_items
from training_pipeline.study.schemas import Schema, no_such_options

MOST_LABELS = 50
"""Rows of a table of labels that a person still looks at."""


def path_of(study: Study, schema: Schema) -> Path:
    """Return where a schema's newest agreed labels are kept."""
    return study.training_dir / "agreed_labels" / f"{slug(schema.name)}.parquet"


def agreed_labels_asset(study: Study, schema: Schema) -> dg.AssetsDefinition:
    """Return the asset of one schema."""
    name = slug(schema.name)

    @dg.asset(
        name="agreed_labels",
        key_prefix=name,
        group_name=name,
        deps=[answers.KEY],
        kinds={"parquet"},
        code_version="1",
        description=f"{schema.name}: one label per item, resolved from the answers of all annotators.",
        metadata={"schema": schema.name},
    )
    def agreed_labels(
        context: dg.AssetExecutionContext, ledger: dg.ResourceParam[Ledger], items: dg.ResourceParam[StudyItems]
    ) -> dg.MaterializeResult[None]:
        with training_run(context, study, ledger) as run:
            given, left_out = read_answers(study, schema, frozenset(items.index().ids))
            if run is not None:
                retraining.note_answers(ledger, run.run_id, given, left_out)
            corrected = corrected_items(study.database, study.name, schema.name)
            agreed = agree(given, study.training.aggregation, corrected)
            save(agreed, path_of(study, schema))
            warn(context, ledger, run, _warnings(left_out, given))
        return dg.MaterializeResult(
            data_version=dg.DataVersion(digest(agreed)), metadata=_metadata(study, agreed, given, left_out)
        )

    return agreed_labels


def _metadata(study: Study, agreed: AgreedLabels, given: Answers, left_out: LeftOut) -> dict[str, Any]:
    labels = Counter(agreed.label.tolist())
    rules = Counter(agreed.rule.tolist())
    counted: list[dict[str, Cell]] = [
        {"label": str(agreed.labels[k]), "items": n} for k, n in labels.most_common(MOST_LABELS)
    ]
    annotators: list[dict[str, Cell]] = [
        {"annotator": r.annotator, "answers": r.n_answers, "reliability": r.reliability} for r in agreed.reliabilities
    ]
    return {
        "dagster/row_count": len(agreed),
        "answers": len(given),
        "labels": table(counted),
        "annotators": table(annotators),
        "decided by": table([{"rule": agreed.rules[k], "items": n} for k, n in rules.most_common()]),
        "aggregation": study.training.aggregation,
        "left out": "\n".join(_warnings(left_out, given)) or "nothing",
        "path": dg.MetadataValue.path(path_of(study, agreed.schema)),
    }


def _warnings(left_out: LeftOut, given: Answers) -> list[str]:
    said = [f"{path} was left out: {cause}" for path, cause in left_out.unreadable_files]
    if left_out.machine_annotators:
        said.append(f"Machine annotators do not vote: {', '.join(left_out.machine_annotators)}.")
    if left_out.unknown_items:
        said.append(f"{len(left_out.unknown_items)} answers to items that are not in the data any more were ignored.")
    if left_out.n_undecodable:
        said.append(f"{left_out.n_undecodable} answers could not be read as answers to this schema and were ignored.")
    strange = strange_labels(given)
    if strange:
        said.append(
            f"{no_such_options(given.schema.name, strange, 'answers')} Until then a model learns the old name, and its"
            " predictions of it are not shown."
        )
    return said
