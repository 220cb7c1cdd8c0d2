from __future__ import annotations

from pathlib import Path

import pytest

from tests.ledger.making import PROJECT, ask, evaluating, execute, make_ledger
from training_pipeline.errors import PipelineError
from training_pipeline.ledger import runs, splits
from training_pipeline.ledger.database import BATCH_ROWS
from training_pipeline.ledger.owners import this_process
from training_pipeline.ledger.records import Status


def test_every_item_of_every_split_comes_back(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    items = {f"{k:06d}": ("train", "val", "test")[k % 3] for k in range(2 * BATCH_ROWS + 1)}
    run_id = evaluating(ledger, items)
    assert dict(splits.run_items(ledger, run_id)) == items
    run = runs.get(ledger, run_id)
    assert (run.n_train, run.n_val, run.n_test) == (6667, 6667, 6667)


@pytest.mark.parametrize("instance_id", ["a/b", "mit Leerzeichen", "😀", 'it\'s "quoted"', "x" * 10_000, "None", "1"])
def test_ids_of_any_shape(tmp_path: Path, instance_id: str) -> None:
    ledger = make_ledger(tmp_path)
    run_id = evaluating(ledger, {instance_id: "train"})
    assert splits.splits_of(ledger, instance_id) == {run_id: "train"}


def test_an_item_in_two_splits_is_refused(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    run_id = ask(ledger).run_id
    runs.take_turn(ledger, run_id, this_process())
    with pytest.raises(PipelineError, match=run_id) as refused:
        splits.write_run_items(ledger, run_id, [("a", "train"), ("a", "val")])
    assert refused.value.code == "leakage"
    assert not runs.get(ledger, run_id).items_written


def test_written_again_they_replace_what_an_earlier_try_left(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    run_id = ask(ledger).run_id
    runs.take_turn(ledger, run_id, this_process())
    splits.write_run_items(ledger, run_id, [("a", "train"), ("b", "val")])
    splits.write_run_items(ledger, run_id, [("b", "test")])
    assert list(splits.run_items(ledger, run_id)) == [("b", "test")]


def test_only_a_run_that_goes_writes_items(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    run_id = ask(ledger).run_id
    with pytest.raises(PipelineError, match="is queued"):
        splits.write_run_items(ledger, run_id, [("a", "train")])


def test_train_items_of_all_runs_count_the_annotation_servers_too(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    first = evaluating(ledger, {"a": "train", "b": "val"})
    runs.finish(ledger, first, Status.ERROR)
    evaluating(ledger, {"b": "train", "c": "test"})
    execute(ledger.path, "INSERT INTO training_run_items VALUES (?, 'potatos', 'd', 'train')", PROJECT)
    execute(ledger.path, "INSERT INTO training_run_items VALUES ('other', 'r', 'e', 'train')")
    with ledger.read() as connection:
        assert splits.train_items(connection, PROJECT) == {"a", "b", "d"}
