"""Write-back as a study's config sets it."""

from __future__ import annotations

from training_pipeline.ledger.database import Ledger
from training_pipeline.publishing.checks import KnownItems, WritebackSettings
from training_pipeline.publishing.writeback import WriteBack
from training_pipeline.study.config import Study
from training_pipeline.study.items import ItemIndex


def write_back(study: Study, ledger: Ledger, index: ItemIndex) -> WriteBack:
    """Return the write-back of a study whose items are those of `index`."""
    settings = study.training.writeback
    return WriteBack(
        ledger=ledger,
        settings=WritebackSettings(
            schemas=settings.schemas, min_confidence=settings.min_confidence, allow_slider=settings.allow_slider
        ),
        schemas=study.schemas,
        items=KnownItems(ids=frozenset(index.ids), supplied=index.supplied),
    )
