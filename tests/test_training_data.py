"""Training data from a study: what is in it, and when it is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.running import review_answers, review_study
from training_pipeline.bundle.manifest import Manifest
from training_pipeline.bundle.reader import Bundle
from training_pipeline.errors import PipelineError
from training_pipeline.labels.consensus import agree
from training_pipeline.splits import StableSplits, assign
from training_pipeline.study.answers import read_answers
from training_pipeline.study.config import Study, load_study
from training_pipeline.study.items import read_index
from training_pipeline.training_data import build_training_data


def splits_of(study: Study) -> StableSplits:
    return assign(read_index(study), study.training.split_seed, study.training.splits, corrected=set(), pinned=set())


def build(study: Study, directory: Path, splits: StableSplits | None = None) -> Manifest:
    schema = study.schemas[0]
    answers, _ = read_answers(study, schema, frozenset(read_index(study).ids))
    agreed = agree(answers, study.training.aggregation, {})
    return build_training_data(study, schema, agreed, splits or splits_of(study), directory)


def study_with(tmp_path: Path, **given: Any) -> Study:
    return load_study(review_study(tmp_path / "study", **given))


def test_every_labelled_item_stands_in_its_own_split_with_its_text(tmp_path: Path) -> None:
    study = study_with(tmp_path)
    build(study, tmp_path / "bundle")
    bundle, splits = Bundle.open(tmp_path / "bundle"), splits_of(study)
    texts = {item["id"]: item["text"] for item in map(json.loads, study.data_files[0].path.open())}
    rows = [(row, split) for split in ("train", "val", "test") for row in bundle.rows(split)]
    assert sorted(row.instance_id for row, _ in rows) == [f"r{k:03}" for k in range(90)]
    for row, split in rows:
        assert split == splits.membership(row.instance_id).split
        assert row.text == texts[row.instance_id]
        assert row.targets == {"sentiment": "positive" if int(row.instance_id[1:]) % 2 else "negative"}
    assert [row.instance_id for row in bundle.rows("unlabeled")] == [f"r{k:03}" for k in range(90, 120)]


def test_unlabelled_items_are_left_out_unless_their_predictions_are_wanted(tmp_path: Path) -> None:
    study = study_with(tmp_path, training={"writeback": {"schemas": ["sentiment"]}})
    manifest = build(study, tmp_path / "bundle")
    assert manifest.splits["unlabeled"].n == 0
    assert (manifest.stats.n_items, manifest.stats.n_annotated) == (120, 90)


def test_the_digest_changes_exactly_when_the_data_does(tmp_path: Path) -> None:
    study = study_with(tmp_path, training={})
    first = build(study, tmp_path / "a").digest
    with study.data_files[0].path.open("a") as file:
        file.writelines(json.dumps({"id": f"new{k}", "text": ""}) + "\n" for k in range(100))
    assert build(study, tmp_path / "b").digest == first
    items = study.data_files[0].path
    items.write_text(items.read_text().replace("order 5 ", "order 5: "))
    assert build(study, tmp_path / "c").digest != first


def test_nobody_has_annotated(tmp_path: Path) -> None:
    study = study_with(tmp_path, answers={})
    with pytest.raises(PipelineError, match="No resolved annotations to train on") as raised:
        build(study, tmp_path / "bundle")
    assert raised.value.code == "bundle_failed"
    assert [path.name for path in tmp_path.iterdir()] == ["study"]


def test_an_item_that_came_after_the_splits(tmp_path: Path) -> None:
    study = study_with(tmp_path, answers=review_answers(20))
    splits = splits_of(study)
    with study.data_files[0].path.open("a") as file:
        file.write('{"id": "late", "text": "x"}\n')
    with pytest.raises(PipelineError) as raised:
        build(study, tmp_path / "bundle", splits)
    assert raised.value.code == "stale_splits"
    assert str(raised.value) == (
        "Item 'late' came after the stable splits were made. Materialize stable_splits again, or start the whole chain."
    )
    assert [path.name for path in tmp_path.iterdir()] == ["study"]


def test_a_run_never_writes_over_another_ones_data(tmp_path: Path) -> None:
    study = study_with(tmp_path)
    before = build(study, tmp_path / "bundle")
    with pytest.raises(PipelineError, match="is there already"):
        build(study, tmp_path / "bundle")
    assert Bundle.open(tmp_path / "bundle").manifest.digest == before.digest
