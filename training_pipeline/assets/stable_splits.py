"""`stable_splits`: which items are train, val and test, the same for every schema and every run."""

from pathlib import Path

import dagster as dg

from training_pipeline.assets.stage import training_run
from training_pipeline.assets.tables import Cell, table
from training_pipeline.ledger import pins
from training_pipeline.ledger.database import Ledger
from training_pipeline.resources.items import StudyItems
from training_pipeline.splits import SPLITS, assign, digest, save
from training_pipeline.study.answers import annotated_items
from training_pipeline.study.config import Study
from training_pipeline.study.reviews import read_verdicts

KEY = dg.AssetKey(["stable_splits"])


def path_of(study: Study) -> Path:
    """Return where the newest stable splits are kept."""
    return study.training_dir / "stable_splits.parquet"


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
            index = items.index()
            verdicts = read_verdicts(study.database, study.name)
            splits = assign(
                index,
                study.training.split_seed,
                study.training.splits,
                corrected={verdict.item for verdict in verdicts if verdict.verdict == "correct"},
                pinned=annotated_items(study, among={pin.instance_id for pin in pins.pins(ledger)}),
            )
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
