"""The index of items is read once, and again when a file of items has changed."""

from __future__ import annotations

from pathlib import Path

from tests.running import review_study
from training_pipeline.resources.items import StudyItems
from training_pipeline.study.config import load_study


def test_it_is_read_once_while_nothing_changes(tmp_path: Path) -> None:
    items = StudyItems(load_study(review_study(tmp_path)))
    assert items.index() is items.index()


def test_an_item_more_is_noticed(tmp_path: Path) -> None:
    items = StudyItems(load_study(review_study(tmp_path)))
    assert len(items.index()) == 120
    with (tmp_path / "data" / "items.jsonl").open("a") as file:
        file.write('{"id": "new", "text": ""}\n')
    assert len(items.index()) == 121


def test_items_added_while_the_server_runs_are_noticed(tmp_path: Path) -> None:
    items = StudyItems(load_study(review_study(tmp_path)))
    items.index()
    (tmp_path / "annotation_output" / "runtime_items.jsonl").write_text('{"id": "late", "data": {"text": "x"}}\n')
    assert items.index().ids[-1] == "late"
