"""The count of new (annotator, item) pairs, and what it reads for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.ledger.making import make_ledger
from training_pipeline.ledger.answer_counts import (
    blob_of,
    count_new,
    note_counted_as_trained,
    note_trained,
    run_of_answers,
)
from training_pipeline.ledger.database import Ledger


class Files:
    """Annotators' files as the count sees them: a mark each, and the items that they hold; None for a torn one."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.items: dict[str, list[str] | None] = {}
        self.n_writes = 0
        self.read: list[str] = []

    def write(self, annotator: str, items: list[str] | None) -> None:
        self.items[annotator] = items
        self.n_writes += 1
        self._marks = {**getattr(self, "_marks", {}), annotator: f"written {self.n_writes}"}

    def count(self, schema: str = "sentiment") -> int:
        self.read = []
        marks: Mapping[str, str] = {annotator: self._marks[annotator] for annotator in self.items}
        return count_new(self.ledger, schema, marks, self._read)

    def _read(self, annotator: str) -> bytes | None:
        self.read.append(annotator)
        items = self.items[annotator]
        return None if items is None else blob_of(items)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    files = Files(make_ledger(tmp_path))
    files.write("ann", ["a", "b"])
    files.write("ben", ["a"])
    return files


def trained(files: Files, run_id: str = "run 1", unread: tuple[str, ...] = (), **items: list[str]) -> None:
    blobs = {annotator: blob_of(answered) for annotator, answered in items.items()}
    note_trained(files.ledger, "sentiment", run_id, blobs, unread)


def test_before_the_first_run_all_count(files: Files) -> None:
    assert files.count() == 3
    assert run_of_answers(files.ledger, "sentiment") is None


def test_only_what_a_run_did_not_have_is_new_and_a_second_annotators_answer_is(files: Files) -> None:
    files.count()
    trained(files, ann=["a", "b"], ben=["a"])
    assert files.count() == 0
    files.write("ben", ["a", "b"])
    assert files.count() == 1
    assert run_of_answers(files.ledger, "sentiment") == "run 1"


def test_only_files_that_changed_are_read(files: Files) -> None:
    files.count()
    assert files.read == ["ann", "ben"]
    files.count()
    assert files.read == []
    files.write("ben", ["a", "c"])
    assert (files.count(), files.read) == (4, ["ben"])
    trained(files, ann=["a", "b"], ben=["a", "c"])
    assert (files.count(), files.read) == (0, [])


def test_where_nothing_changed_nothing_is_written(files: Files) -> None:
    files.count()
    before = Path(f"{files.ledger.path}").read_bytes()
    assert files.count() == 3
    assert Path(f"{files.ledger.path}").read_bytes() == before


def test_an_answer_taken_back_and_given_again_is_not_new(files: Files) -> None:
    trained(files, ann=["a", "b"], ben=["a"])
    files.write("ann", ["a"])
    assert files.count() == 0
    files.write("ann", ["a", "b"])
    assert files.count() == 0


def test_a_run_that_was_never_counted_for_is_known_all_the_same(files: Files) -> None:
    trained(files, ann=["a"])
    assert files.count() == 2


def test_a_torn_file_keeps_its_last_count_and_is_tried_again(files: Files) -> None:
    files.count()
    files.write("ann", None)
    assert (files.count(), files.read) == (3, ["ann"])
    assert (files.count(), files.read) == (3, ["ann"])
    files.write("ann", ["a", "b", "c"])
    assert files.count() == 4


def test_a_file_that_a_run_found_torn_is_not_new_for_ever(files: Files) -> None:
    files.count()
    files.write("ann", None)
    trained(files, unread=("ann",), ben=["a"])
    assert files.count() == 0
    files.write("ann", ["a", "b", "c"])
    assert files.count() == 1


def test_a_file_that_is_gone_counts_nothing_until_it_is_back(files: Files) -> None:
    trained(files, ann=["a", "b"], ben=["a"])
    files.write("ann", ["a", "b", "c"])
    assert files.count() == 1
    gone = files.items.pop("ann")
    assert files.count() == 0
    files.items["ann"] = gone
    assert files.count() == 1


def test_a_run_that_ended_before_it_read_anything_had_what_was_counted_last(files: Files) -> None:
    files.count()
    files.write("ben", ["a", "b", "c"])
    note_counted_as_trained(files.ledger, "sentiment", "run 1")
    assert files.count() == 2
    assert run_of_answers(files.ledger, "sentiment") == "run 1"


def test_it_does_not_make_old_what_an_earlier_run_had_and_nobody_counted(files: Files) -> None:
    trained(files, ann=["a", "b"], ben=["a"])
    note_counted_as_trained(files.ledger, "sentiment", "run 2")
    assert files.count() == 0


def test_schemas_and_projects_are_counted_apart(files: Files) -> None:
    trained(files, ann=["a", "b"], ben=["a"])
    assert files.count("topic") == 3
    files.ledger = Ledger(files.ledger.path, "another study")
    assert files.count() == 3


def test_names_that_are_no_utf_8_are_annotators_too(files: Files) -> None:
    files.write("\udcff", ["a"])
    assert files.count() == 4
    assert files.count() == 4
    assert files.read == []


def test_half_a_surrogate_pair_in_an_id_is_an_id() -> None:
    assert len(blob_of(["\ud83d", "🙂"])) == 16
