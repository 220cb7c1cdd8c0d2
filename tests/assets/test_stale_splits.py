"""A chain that is started from its group, without the splits that all schemas share."""

from __future__ import annotations

from pathlib import Path

from tests.running import InstantBackend, materialize, review_study, train
from training_pipeline.ledger.pins import pin
from training_pipeline.ledger.splits import run_items

CHAIN = ("agreed_labels", "training_data", "fitted_model", "held_out_scores", "published_predictions")
GROUP = tuple(f"sentiment/{asset}" for asset in CHAIN)


def test_splits_that_are_still_the_study_s_are_used(tmp_path: Path) -> None:
    first = train(review_study(tmp_path), backend=InstantBackend())
    again = materialize(first.study.config_path, *GROUP, backend=InstantBackend())
    assert again.result.success
    assert again.run.run_id != first.run.run_id
    assert again.run.bundle_digest == first.run.bundle_digest


def test_a_pin_that_came_since_is_not_silently_missed(tmp_path: Path) -> None:
    first = train(review_study(tmp_path), backend=InstantBackend())
    held_out = next(item for item, split in run_items(first.ledger, first.run.run_id) if split == "val")
    pin(first.ledger, [held_out])
    again = materialize(first.study.config_path, *GROUP, backend=InstantBackend())
    assert again.failures == [
        "Items, corrections or pins have come since stable_splits was made. Materialize stable_splits together "
        "with the chain, as the train jobs do."
    ]
    assert again.run.error_code == "stale_splits"
    together = materialize(first.study.config_path, "stable_splits", *GROUP, backend=InstantBackend())
    assert together.result.success
    assert dict(run_items(together.ledger, together.run.run_id))[held_out] == "train"
    assert not together.run.comparable
