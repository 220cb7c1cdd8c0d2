"""Parts of the chain, and several chains at once, materialised from the graph."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.running import InstantBackend, Ran, materialize, review_study, train
from tests.studies import SENTIMENT, make_study
from training_pipeline.ledger import runs

CHAIN = ("agreed_labels", "training_data", "fitted_model", "held_out_scores", "published_predictions")


@pytest.fixture
def ran(tmp_path: Path) -> Ran:
    return train(review_study(tmp_path), backend=InstantBackend())


def test_scores_are_made_again_for_the_latest_run(ran: Ran) -> None:
    again = materialize(ran.study.config_path, "sentiment/held_out_scores")
    assert again.result.success
    assert again.metadata("sentiment/held_out_scores")["run"] == f"Made again for run {ran.run.run_id}."
    assert [run.run_id for run in runs.list_runs(again.ledger)] == [ran.run.run_id]
    assert again.run.headline == ran.run.headline
    assert again.checks["sentiment/held_out_scores: support"].metadata["run"].value == (
        f"Made again for run {ran.run.run_id}."
    )


def test_publication_is_made_again_under_the_settings_of_now(ran: Ran) -> None:
    config = ran.study.config_path
    config.write_text(
        config.read_text().replace("include_unlabeled: true", "include_unlabeled: true\n    min_confidence: 0.95")
    )
    again = materialize(config, "sentiment/published_predictions")
    told = again.metadata("sentiment/published_predictions")
    assert told["run"] == f"Made again for run {ran.run.run_id}."
    assert told["published"] == 0
    assert told["came down"] == 55
    assert told["excluded"] == [{"reason": "low confidence", "predictions": 55}]
    assert told["samples excluded: low confidence"][0] == {
        "item": "r006",
        "text": "The manual of order 6 is noisy",
        "prediction": "positive",
        "confidence": 0.9,
    }


@pytest.mark.parametrize("asset", ["training_data", "fitted_model"])
def test_what_belongs_to_a_new_run_is_refused_alone_in_one_sentence(ran: Ran, asset: str) -> None:
    before = sorted(path.name for path in ran.study.runs_dir.iterdir())
    again = materialize(ran.study.config_path, f"sentiment/{asset}")
    assert again.failures == [
        f"{asset} of 'sentiment' is part of a new run and cannot be made by itself: a run's training data and model "
        "never change afterwards. Materialize the whole chain: job train_sentiment."
    ]
    assert sorted(path.name for path in ran.study.runs_dir.iterdir()) == before
    assert again.run == ran.run


def test_a_part_without_any_run_says_what_to_do_first(tmp_path: Path) -> None:
    again = materialize(review_study(tmp_path), "sentiment/held_out_scores")
    assert again.failures == [
        "There is no successful run of 'sentiment' whose held out scores could be made again. Materialize the whole "
        "chain first: job train_sentiment."
    ]
    assert runs.list_runs(again.ledger) == []


def test_shared_assets_alone_are_no_run(tmp_path: Path) -> None:
    made = materialize(review_study(tmp_path), "stable_splits", "sentiment/agreed_labels")
    assert made.result.success
    assert runs.list_runs(made.ledger) == []


def test_the_whole_chain_from_the_graph_is_a_run(tmp_path: Path) -> None:
    config = review_study(tmp_path)
    keys = ("answers", "stable_splits", *(f"sentiment/{asset}" for asset in CHAIN))
    made = materialize(config, *keys, backend=InstantBackend())
    assert made.run.status == "success"
    assert made.run.dagster_run_id == made.result.dagster_run.run_id


def test_two_whole_chains_at_once_are_refused(tmp_path: Path) -> None:
    config = make_study(tmp_path, schemes=[SENTIMENT, {**SENTIMENT, "name": "tone"}])
    keys = [f"{schema}/{asset}" for schema in ("sentiment", "tone") for asset in CHAIN]
    refused = materialize(config, "stable_splits", *keys, backend=InstantBackend())
    assert set(refused.failures) == {
        "One run trains one schema, and 2 were selected. Materialize them one after the other: the jobs are "
        "train_sentiment, train_tone."
    }
    assert runs.list_runs(refused.ledger) == []
    assert not refused.study.training_dir.exists()
