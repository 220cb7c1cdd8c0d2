from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.recorded import copy_recorded
from training_pipeline.errors import PipelineError
from training_pipeline.study import reviews
from training_pipeline.study.config import load_study
from training_pipeline.study.reviews import corrected_items, read_verdicts


def test_the_recorded_verdicts_oldest_first(tmp_path: Path) -> None:
    study = load_study(copy_recorded("sentiment", tmp_path))
    verdicts = read_verdicts(study.database, study.name)
    assert [(v.item, v.schema, v.reviewer, v.verdict) for v in verdicts] == [
        ("mr-06622", "sentiment", "alice", "accept"),
        ("mr-01111", "sentiment", "alice", "reject"),
        ("mr-01256", "sentiment", "alice", "correct"),
        ("mr-02272", "", "alice", "accept"),
    ]
    assert verdicts[0].updated_at == pytest.approx(1796052670.22, abs=0.01)
    assert read_verdicts(study.database, "Another study") == []


def test_corrected_items_with_every_reviewer_who_says_so(tmp_path: Path) -> None:
    study = load_study(copy_recorded("sentiment", tmp_path))
    with closing(sqlite3.connect(study.database)) as writer, writer:
        writer.executemany(
            "INSERT INTO model_review_verdicts VALUES (?, ?, ?, ?, ?, '', 1.0)",
            [
                (study.name, "mr-01256", "sentiment", "bob", "correct"),
                (study.name, "mr-01256", "sentiment", "carol", "accept"),
                (study.name, "mr-01111", "", "bob", "correct"),
                (study.name, "mr-01111", "tone", "bob", "correct"),
                ("Another study", "mr-01111", "sentiment", "bob", "correct"),
            ],
        )
    corrected = corrected_items(study.database, study.name, "sentiment")
    assert corrected == {"mr-01256": frozenset({"alice", "bob"})}


def test_reading_waits_for_nothing_and_changes_nothing(tmp_path: Path) -> None:
    study = load_study(copy_recorded("sentiment", tmp_path))
    with closing(sqlite3.connect(study.database)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM model_review_verdicts")
        assert len(read_verdicts(study.database, study.name)) == 4


def test_nobody_has_reviewed_yet(tmp_path: Path) -> None:
    database = tmp_path / "a #1?.sqlite"
    assert read_verdicts(database, "p") == []
    assert not database.exists()
    sqlite3.connect(database).close()
    assert read_verdicts(database, "p") == []


def test_a_locked_database_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reviews, "BUSY_SECONDS", 0.05)
    database = tmp_path / "project.sqlite"
    with closing(sqlite3.connect(database)) as writer:
        writer.execute("CREATE TABLE t (x)")
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(PipelineError, match=r"project\.sqlite has been locked by another program") as caught:
            read_verdicts(database, "p")
    assert caught.value.code == "ledger_busy"


def test_what_is_no_database_is_named(tmp_path: Path) -> None:
    database = tmp_path / "project.sqlite"
    database.write_text("not a database, but long enough to be taken for one" * 20)
    with pytest.raises(PipelineError, match=r"project\.sqlite cannot be read: file is not a database") as caught:
        read_verdicts(database, "p")
    assert caught.value.code == "bad_ledger"
