"""What moves an item between splits, and what never does, through the assets."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

from tests.ledger.making import execute
from tests.running import InstantBackend, materialize, review_study, reviews, train
from training_pipeline.assets import stable_splits
from training_pipeline.bundle.reader import Bundle
from training_pipeline.ledger import pins, predictions, runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.splits import SPLITS, load
from training_pipeline.study.config import Study, load_study

MOVED = (
    "2 held-out items were moved into train, because a reviewer corrected them or somebody pinned them. The held-out "
    "score is computed without them and is not directly comparable with earlier ones."
)


def split_of_items(study: Study) -> dict[str, str]:
    splits = load(stable_splits.path_of(study))
    return {item: split for split in SPLITS for item in splits.members(split)}


def add_items(study: Study, n: int) -> None:
    with study.data_files[0].path.open("a", encoding="utf-8") as file:
        for k in range(n):
            file.write(json.dumps({"id": f"new{k}", "text": f"A new text {k}"}) + "\n")


def test_a_thousand_more_items_move_none(tmp_path: Path) -> None:
    config = review_study(tmp_path)
    study = load_study(config)
    materialize(config, "stable_splits")
    before = split_of_items(study)
    add_items(study, 1_000)
    made = materialize(config, "stable_splits")
    after = split_of_items(study)
    assert made.metadata("stable_splits")["dagster/row_count"] == len(after) == 1_120
    assert {item: after[item] for item in before} == before


def test_corrected_and_pinned_items_go_to_train_and_the_run_says_so(tmp_path: Path) -> None:
    config = review_study(tmp_path)
    first = train(config, backend=InstantBackend())
    bundle = Bundle.open(first.directory.bundle)
    corrected = next(bundle.rows("val")).instance_id
    pinned = next(bundle.rows("test")).instance_id
    execute(
        first.ledger.path,
        "INSERT INTO model_review_verdicts VALUES (?, ?, 'sentiment', 'ann', 'correct', '', 1)",
        first.study.name,
        corrected,
    )
    # The last item is pinned too, but nobody has labelled it yet.
    pins.pin(first.ledger, [pinned, "r119"], "slice")

    second = train(config, backend=InstantBackend())
    assert second.run.status == "success"
    assert (second.run.n_train, second.run.n_val, second.run.n_test) == (67, 12, 11)
    assert not second.run.comparable
    assert second.run.warnings[0] == MOVED
    assert second.metadata("sentiment/held_out_scores")["comparable with earlier runs"] is False
    told = second.metadata("sentiment/training_data")
    assert told["forced into train"] == 2
    assert told["warnings"] == MOVED
    train_ids = {row.instance_id for row in Bundle.open(second.directory.bundle).rows("train")}
    assert {corrected, pinned} <= train_ids
    assert "r119" not in train_ids
    # Their pre-labels, shown by the first run, came down.
    assert second.run.writeback is not None
    assert second.run.writeback.n_superseded_cleared == 2
    shown = {item for item, _, _ in predictions.shown(second.ledger)}
    assert not {corrected, pinned} & shown


def test_groups_stay_together_and_a_forced_item_takes_its_group_along(tmp_path: Path) -> None:
    items = [{**item, "order": f"order {k // 4}"} for k, item in enumerate(reviews(120))]
    config = review_study(tmp_path, items=items, training={"splits_by": "order"})
    first = train(config, backend=InstantBackend())
    splits: dict[str, set[str]] = defaultdict(set)
    for split in ("train", "val", "test"):
        for row in Bundle.open(first.directory.bundle).rows(split):
            splits[row.group or ""].add(split)
    assert len(splits) == 23
    assert all(len(of_group) == 1 for of_group in splits.values())
    assert first.checks["sentiment/training_data: leakage"].passed

    forced = next(Bundle.open(first.directory.bundle).rows("val"))
    pins.pin(first.ledger, [forced.instance_id])
    second = train(config, backend=InstantBackend())
    group = {row.instance_id for row in Bundle.open(second.directory.bundle).rows("train") if row.group == forced.group}
    assert len(group) == 4
    assert second.checks["sentiment/training_data: leakage"].passed


def test_the_run_keeps_its_items_where_the_next_publication_looks(tmp_path: Path) -> None:
    config = review_study(tmp_path)
    ran = train(config, backend=InstantBackend())
    rows = execute(
        ran.ledger.path,
        "SELECT split, count(*) FROM training_run_items WHERE run_id = ? GROUP BY split ORDER BY split",
        ran.run.run_id,
    )
    assert rows == [("test", 12), ("train", 65), ("val", 13)]


def test_only_the_newest_runs_are_kept(tmp_path: Path) -> None:
    config = review_study(tmp_path, training={"retain_runs": 2})
    ids = [train(config, backend=InstantBackend()).run.run_id for _ in range(4)]
    study = load_study(config)
    kept = [run.run_id for run in runs.list_runs(Ledger(study.database, study.name))]
    assert kept == ids[:1:-1]
    assert sorted(path.name for path in study.runs_dir.iterdir()) == ids


def test_a_schema_without_writeback_publishes_nothing_and_says_why(tmp_path: Path) -> None:
    ran = train(review_study(tmp_path, training={}), backend=InstantBackend())
    assert ran.run.writeback is not None
    assert ran.run.writeback.summary == ("No predictions were published: write-back is not enabled for any schema")
    assert ran.run.n_unlabeled == 0
    assert list(predictions.shown(ran.ledger)) == []
