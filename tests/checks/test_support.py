"""The support check: a warning where the headline rests on few items."""

from __future__ import annotations

from pathlib import Path

import dagster as dg

from tests.running import InstantBackend, Ran, review_study, train

CHECK = "sentiment/held_out_scores: support"


def test_few_items_warn(trained: Ran) -> None:
    check = trained.checks[CHECK]
    assert (check.passed, check.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert check.description == "The score rests on 13 held-out items. Annotate more before you believe it."
    assert trained.result.success


def test_enough_items_pass(tmp_path: Path) -> None:
    ran = train(review_study(tmp_path, n=300, n_labelled=300), backend=InstantBackend())
    check = ran.checks[CHECK]
    assert check.passed
    assert check.metadata["items"].value == ran.run.headline.n >= 30  # type: ignore[union-attr]


def test_no_held_out_item_at_all_is_not_scored(tmp_path: Path) -> None:
    study = review_study(tmp_path, training={"splits": {"train": 1.0}})
    ran = train(study, backend=InstantBackend())
    assert ran.run.headline is None
    assert ran.run.not_scored_because
    assert ran.metadata("sentiment/held_out_scores")["headline"] == f"not scored: {ran.run.not_scored_because}"
    assert ran.checks[CHECK].description == "The score rests on 0 held-out items. Annotate more before you believe it."
    assert ran.run.status == "success"
