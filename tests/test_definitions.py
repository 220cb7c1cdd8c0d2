"""What a study is in Dagster."""

from __future__ import annotations

from pathlib import Path

import dagster as dg

from tests.running import review_study
from tests.studies import SENTIMENT, make_study
from training_pipeline.definitions import build_definitions
from training_pipeline.slugs import slug
from training_pipeline.study.config import load_study


def keys(definitions: dg.Definitions) -> set[str]:
    return {spec.key.to_user_string() for spec in definitions.resolve_all_asset_specs()}


def test_each_trainable_schema_has_a_chain_and_a_job(tmp_path: Path) -> None:
    span = {"annotation_type": "span", "name": "parts", "description": "?", "labels": ["a"]}
    tone = {**SENTIMENT, "name": "tone of voice"}
    definitions = build_definitions(load_study(make_study(tmp_path, schemes=[SENTIMENT, tone, span])))
    chain = ("agreed_labels", "training_data", "fitted_model", "held_out_scores", "published_predictions")
    expected = {f"{name}/{asset}" for name in ("sentiment", slug("tone of voice")) for asset in chain}
    assert keys(definitions) == {"answers", "stable_splits"} | expected
    names = {job.name for job in definitions.resolve_all_job_defs()}
    assert names == {"__ASSET_JOB", "retract", "train_sentiment", f"train_{slug('tone of voice')}"}


def test_a_study_without_training_has_its_read_only_assets_alone(tmp_path: Path) -> None:
    definitions = build_definitions(load_study(review_study(tmp_path, training={"enabled": False})))
    assert keys(definitions) == {"answers"}
    assert {job.name for job in definitions.resolve_all_job_defs()} == {"__ASSET_JOB"}


def test_building_them_writes_nothing(tmp_path: Path) -> None:
    config = review_study(tmp_path)
    before = sorted(path for path in tmp_path.rglob("*"))
    build_definitions(load_study(config))
    assert sorted(path for path in tmp_path.rglob("*")) == before
