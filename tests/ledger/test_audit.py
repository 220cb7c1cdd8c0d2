from __future__ import annotations

from pathlib import Path

from tests.ledger.making import PROJECT, evaluating, execute, make_ledger
from training_pipeline.ledger import runs
from training_pipeline.ledger.audit import (
    InTwoSplits,
    Placement,
    PublishedTrainItem,
    differs_from_ledger,
    in_two_splits,
    published_in_train,
)
from training_pipeline.ledger.records import Status


def test_a_pre_label_on_a_train_item_is_named(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    run_id = evaluating(ledger, {"a": "train", "b": "val"})
    runs.finish(ledger, run_id, Status.ERROR)
    for item in "ab":
        execute(
            ledger.path, "INSERT INTO training_predictions VALUES (?, ?, 's', 'older', '\"x\"', 1, 0)", PROJECT, item
        )
    assert published_in_train(ledger) == [PublishedTrainItem("a", "s", "older", run_id)]


def test_items_and_groups_in_two_splits_are_named() -> None:
    placements = [
        Placement("a", "train", "review 1"),
        Placement("b", "val", "review 1"),
        Placement("c", "test", "review 2"),
        Placement("c", "val", "review 2"),
        Placement("d", "train"),
        Placement("e", "val"),
    ]
    assert in_two_splits(placements) == [
        InTwoSplits("group", "review 1", ("train", "val")),
        InTwoSplits("group", "review 2", ("test", "val")),
        InTwoSplits("item", "c", ("test", "val")),
    ]


def test_training_data_that_differs_from_the_ledger_is_named(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    run_id = evaluating(ledger, {"a": "train", "b": "val", "c": "test"})
    same = [Placement("a", "train"), Placement("b", "val"), Placement("c", "test")]
    assert differs_from_ledger(ledger, run_id, same) == []
    assert differs_from_ledger(ledger, run_id, [same[0], Placement("b", "train"), Placement("d", "val")]) == [
        "b",
        "c",
        "d",
    ]
