"""`stable_splits`: which items are train, val and test, the same for every schema and every run."""

from pathlib import Path

import dagster as dg

from training_pipeline.assets.stage import training_run
from training_pipeline.assets.tables import Cell, table
from training_pipeline.errors import PipelineError
from training_pipeline.ledger.database import Ledger
from training_pipeline.resources.items import StudyItems
from training_pipeline.splits import SPLITS, StableSplits, digest, load, save
from training_pipeline.study.config import Study
from training_pipeline.study_splits import split_study

KEY = dg.AssetKey(["stable_splits"])


def path_of(study: Study) -> Path:
    """Return where the newest stable splits are kept."""
    return study.training_dir / "stable_splits.parquet"


def current(context: dg.AssetExecutionContext, study: Study, ledger: Ledger, items: StudyItems) -> StableSplits:
    """Return the splits that were made last; PipelineError `stale_splits` where they are not the study's any more.

    Made in the same Dagster run they are trusted; else items, corrections or pins may have come since.
    """
    path = path_of(study)
    made = load(path) if path.exists() else None
    if made is not None and KEY in context.job_def.asset_layer.executable_asset_keys:
        return made
    if made is None or digest(made) != digest(split_study(study, ledger, items.index())):
        raise PipelineError(
            "stale_splits",
            "Items, corrections or pins have come since stable_splits was made. Materialize stable_splits together "
            "with the chain, as the train jobs do.",
        )
    return made


def stable_splits_asset(study: Study) -> dg.AssetsDefinition:
    """Return the asset."""

    @dg.asset(
        key=KEY,
        group_name="study",
        kinds={"parquet"},
        code_version="1",
        description=f"The split of every item of {study.name}: fixed by split_seed, the weights and the item's id.",
    )
    def stable_splits(
        context: dg.AssetExecutionContext, ledger: dg.ResourceParam[Ledger], items: dg.ResourceParam[StudyItems]
    ) -> dg.MaterializeResult[None]:
        with training_run(context, study, ledger):
            splits = split_study(study, ledger, items.index())
            save(splits, path_of(study))
        rows: list[dict[str, Cell]] = [{"split": split, "items": len(splits.members(split))} for split in SPLITS]
        return dg.MaterializeResult(
            data_version=dg.DataVersion(digest(splits)),
            metadata={
                "dagster/row_count": len(splits),
                "splits": table(rows),
                "split_seed": study.training.split_seed,
                "weights": dict(study.training.splits),
                "grouped by": study.training.splits_by or "item",
                "forced into train": splits.forced_train,
                "moved from val or test": splits.n_moved,
                "path": dg.MetadataValue.path(path_of(study)),
            },
        )

    return stable_splits
