"""The ledger that a real Potato 2.12.1 server wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ledger.making import ask, execute
from tests.recorded import copy_recorded
from training_pipeline.ledger import runs, splits, tables
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import Status


@pytest.fixture
def recorded(tmp_path: Path) -> Ledger:
    return Ledger(copy_recorded("sentiment", tmp_path) / "project.sqlite", "Movie snippet sentiment")


def test_its_runs_show_newest_first_with_what_they_have(recorded: Ledger) -> None:
    listed = runs.list_runs(recorded)
    assert [(run.run_id, run.status) for run in listed] == [
        ("20261130T153224-eda0bd", Status.ERROR),
        ("20261130T153223-c292d9", Status.ERROR),
        ("20261130T153219-7787b8", Status.SUCCESS),
        ("20261130T153209-25835f", Status.SUCCESS),
        ("20261130T153208-f60e17", Status.ERROR),
        ("20261130T153143-6128f5", Status.CANCELLED),
        ("20261130T153123-f28f1d", Status.SUCCESS),
        ("20261130T152943-27bf58", Status.SUCCESS),
    ]
    assert {run.recorded_by for run in listed} == {"potato"}
    first = runs.get(recorded, "20261130T152943-27bf58")
    assert (first.n_train, first.n_val, first.n_test) == (179, 29, 32)
    assert first.metrics["train_accuracy"] == 0.9776536312849162
    assert first.schema_names == ("sentiment",)


def test_its_train_items_are_guarded(recorded: Ledger) -> None:
    with recorded.read() as connection:
        train = splits.train_items(connection, recorded.project)
    assert len(train) == 180
    assert splits.splits_of(recorded, "mr-00043")["20261130T152943-27bf58"] == "train"


def test_our_runs_stand_beside_the_servers(recorded: Ledger) -> None:
    run_id = ask(recorded).run_id
    assert run_id > "20261130T153224-eda0bd"
    assert {run.run_id: run.recorded_by for run in runs.list_runs(recorded)}[run_id] == "pipeline"
    assert len(runs.list_runs(recorded)) == 9


def test_its_tables_are_the_ones_we_would_make(recorded: Ledger, tmp_path: Path) -> None:
    fresh = Ledger(tmp_path / "fresh.sqlite", recorded.project)
    runs.list_runs(fresh)
    names = [name for name in tables.NAMES if not name.startswith("pipeline_")]
    for name in names:
        query = "SELECT sql FROM sqlite_master WHERE name = ?"
        assert execute(fresh.path, query, name) == execute(recorded.path, query, name)
