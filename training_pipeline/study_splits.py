"""The stable splits of a study as it stands: its items, what reviewers corrected, what is pinned for training."""

from __future__ import annotations

from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.pins import pins
from training_pipeline.splits import StableSplits, assign
from training_pipeline.study.answers import annotated_items
from training_pipeline.study.config import Study
from training_pipeline.study.items import ItemIndex
from training_pipeline.study.reviews import read_verdicts


def split_study(study: Study, ledger: Ledger, index: ItemIndex) -> StableSplits:
    """Return the split of every item. A pinned item counts once somebody has labelled it."""
    verdicts = read_verdicts(study.database, study.name)
    return assign(
        index,
        study.training.split_seed,
        study.training.splits,
        corrected={verdict.item for verdict in verdicts if verdict.verdict == "correct"},
        pinned=annotated_items(study, among={pin.instance_id for pin in pins(ledger)}),
    )
