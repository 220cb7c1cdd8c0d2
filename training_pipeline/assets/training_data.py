"""`training_data`: the labelled items with their texts, in their splits, as the run's own copy on disk."""

from collections import Counter
from collections.abc import Iterator

import dagster as dg

from training_pipeline.assets import agreed_labels, stable_splits
from training_pipeline.assets.agreed_labels import MOST_LABELS
from training_pipeline.assets.stage import chain_key, refuse_alone, stage, warn
from training_pipeline.assets.tables import Cell, table
from training_pipeline.bundle.manifest import LABELLED_SPLITS
from training_pipeline.bundle.reader import Bundle
from training_pipeline.labels import storage
from training_pipeline.ledger import runs
from training_pipeline.ledger import splits as run_splits
from training_pipeline.ledger.database import Ledger
from training_pipeline.resources.items import StudyItems
from training_pipeline.run_directory import RunDirectory
from training_pipeline.slugs import slug
from training_pipeline.study.config import Study
from training_pipeline.study.schemas import Schema
from training_pipeline.training_data import build_training_data


def training_data_asset(study: Study, schema: Schema) -> dg.AssetsDefinition:
    """Return the asset of one schema."""
    name = slug(schema.name)

    @dg.asset(
        name="training_data",
        key_prefix=name,
        group_name=name,
        deps=[chain_key(schema, "agreed_labels"), stable_splits.KEY],
        kinds={"json"},
        code_version="1",
        description=f"{schema.name}: the labelled items with their texts, train, val and test apart.",
        metadata={"schema": schema.name},
    )
    def training_data(
        context: dg.AssetExecutionContext, ledger: dg.ResourceParam[Ledger], items: dg.ResourceParam[StudyItems]
    ) -> dg.MaterializeResult[None]:
        with stage(context, study, ledger, schema, "training_data") as at:
            refuse_alone(at, schema, "training_data")
            directory = RunDirectory(study.runs_dir / at.run.run_id)
            manifest = build_training_data(
                study,
                schema,
                storage.load(agreed_labels.path_of(study, schema), schema),
                stable_splits.current(context, study, ledger, items),
                directory.bundle,
            )
            bundle = Bundle.open(directory.bundle)
            counts: Counter[tuple[str, str]] = Counter()
            run_splits.write_run_items(ledger, at.run.run_id, _placed(bundle, schema, counts))
            runs.record(
                ledger,
                at.run.run_id,
                bundle_digest=manifest.digest,
                split_seed=manifest.split_seed,
                n_unlabeled=bundle.n("unlabeled"),
                comparable=not manifest.stats.n_moved,
            )
            warn(context, ledger, at.run, manifest.stats.warnings)
        return dg.MaterializeResult(
            data_version=dg.DataVersion(manifest.digest),
            metadata={
                "dagster/row_count": sum(bundle.n(split) for split in LABELLED_SPLITS),
                "splits": table([{"split": split, "items": bundle.n(split)} for split in LABELLED_SPLITS]),
                "labels": table(_label_rows(bundle, schema, counts)),
                "to be predicted only": bundle.n("unlabeled"),
                "forced into train": manifest.stats.forced_train.corrected + manifest.stats.forced_train.pinned,
                "warnings": "\n".join(manifest.stats.warnings) or "none",
                "digest": manifest.digest,
                "run": at.run.run_id,
                "path": dg.MetadataValue.path(directory.bundle),
            },
        )

    return training_data


def _placed(bundle: Bundle, schema: Schema, counts: Counter[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield every labelled item with its split, and count the labels of each split on the way."""
    for split in LABELLED_SPLITS:
        for row in bundle.rows(split):
            target = (row.targets or {})[schema.name]
            labels = (target,) if isinstance(target, str) else target if isinstance(target, tuple) else ()
            counts.update((split, label) for label in labels)
            yield row.instance_id, split


def _label_rows(bundle: Bundle, schema: Schema, counts: Counter[tuple[str, str]]) -> list[dict[str, Cell]]:
    labels = bundle.manifest.schema(schema.name).labels[:MOST_LABELS]
    return [{"label": label, **{split: counts[split, label] for split in LABELLED_SPLITS}} for label in labels]
