"""Warnings reach whoever asked for the run, not Dagster's log alone."""

from __future__ import annotations

from pathlib import Path

from tests.running import InstantBackend, review_study, train


def test_a_file_that_was_left_out_and_a_score_of_few_items_stand_in_the_record(tmp_path: Path) -> None:
    config = review_study(tmp_path)
    torn = min((tmp_path / "annotation_output").glob("*/user_state.json"))
    torn.write_text(torn.read_text()[:200])
    warnings = train(config, backend=InstantBackend()).run.warnings
    assert any(str(torn) in warning and "left out" in warning for warning in warnings)
    assert any("Annotate more before you believe it" in warning for warning in warnings)
