"""`runs`, `show` and `status`, on a ledger that a real annotation server recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import call
from tests.ledger.making import ask
from tests.recorded import copy_recorded
from tests.running import InstantBackend, Ran, review_study, train
from training_pipeline.disk_use import bytes_below, in_words
from training_pipeline.ledger import owners, runs
from training_pipeline.ledger.database import Ledger

NEWEST, OLDEST = "20261130T153224-eda0bd", "20261130T152943-27bf58"


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return copy_recorded("sentiment", tmp_path)


def test_runs_lists_newest_first(recorded: Path) -> None:
    listed = call("runs", str(recorded), "--json").document["runs"]
    assert len(listed) == 8
    assert (listed[0]["run_id"], listed[-1]["run_id"]) == (NEWEST, OLDEST)
    assert {run["recorded_by"] for run in listed} == {"potato"}
    assert listed[5]["status"] == "cancelled"


def test_the_table_reads_well_at_80_columns(recorded: Path) -> None:
    said = call("runs", str(recorded), columns=80)
    assert max(map(len, said.out.splitlines())) <= 80
    rows = [line.split() for line in said.out.splitlines() if line.strip().startswith("2026")]
    assert [row[0] for row in rows][::7] == [NEWEST, OLDEST]
    assert [row[1] for row in rows] == ["error", "error", "success", "success", "error", "cancelled", *["success"] * 2]


def test_a_score_is_folded_and_the_id_and_status_never(trained: Ran) -> None:
    said = call("runs", str(trained.study.config_path), columns=80)
    (row,) = [line for line in said.out.splitlines() if trained.run.run_id in line]
    assert row.split()[:4] == [trained.run.run_id, "success", "sentiment", "val_macro_f1"]
    assert "n=13" in said.out


def test_a_run_that_waits_says_its_place(tmp_path: Path) -> None:
    config = review_study(tmp_path)
    ran = train(config, backend=InstantBackend())
    first, second = ask(ran.ledger).run_id, ask(ran.ledger).run_id
    assert runs.take_turn(ran.ledger, first, owners.this_process())
    said = call("runs", str(config))
    assert f"{second}   waiting #1" in said.out
    said = call("status", str(config))
    assert said.out.splitlines() == [
        f"Run {first} is building.",
        f"Run {second}: waiting #1",
        "Automatic runs: off",
        "Pre-labels shown: 55 of 55 stored predictions.",
        "The annotation server shows them from its next start on.",
        f"Run directories take {in_words(bytes_below(ran.study.runs_dir))} in {ran.study.runs_dir}.",
    ]


def test_show_tells_one_run(recorded: Path, trained: Ran) -> None:
    record = call("show", OLDEST, str(recorded), "--json").document
    assert (record["n_train"], record["n_val"], record["n_test"]) == (179, 29, 32)
    shown = call("show", "20261130T153208-f60e17", str(recorded)).out
    assert "Only 180 items in the train split" in shown
    ours = call("show", trained.run.run_id, str(trained.study.config_path)).out
    assert "Published 55 of 55 predictions (sentiment)" in ours
    assert "train 65, val 13, test 12, predicted only 30" in ours


def test_an_unknown_run_is_refused(recorded: Path) -> None:
    said = call("show", "nope", str(recorded), "--json")
    message = "No such run: nope. `training-pipeline runs` lists those that the ledger still has."
    assert (said.status, said.document) == (1, {"error": message, "code": "unknown_run"})


def test_status_of_a_recorded_study(recorded: Path) -> None:
    document = call("status", str(recorded), "--json").document
    assert (document["run"], document["queue"], document["n_stored"]) == (None, [], 0)


def test_no_runs_yet(tmp_path: Path) -> None:
    config = review_study(tmp_path, training={})
    assert call("runs", str(config)).out == "No runs yet. Start one with `training-pipeline run --schema NAME`.\n"
    assert call("status", str(config)).out.splitlines() == [
        "No run is in progress.",
        "Automatic runs: off",
        "Pre-labels shown: 0 of 0 stored predictions.",
        "Write-back is not enabled for any schema.",
    ]


def test_a_database_that_is_none_is_said(tmp_path: Path) -> None:
    config = review_study(tmp_path)
    (tmp_path / "project.sqlite").write_bytes(b"not a database at all, whatever its name says" * 100)
    said = call("runs", str(config), "--json")
    assert (said.status, said.document["code"]) == (1, "bad_ledger")
    assert str(tmp_path / "project.sqlite") in said.document["error"]


def test_the_config_is_found_without_being_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = review_study(tmp_path)
    for command in ("runs", "status", "validate", "audit"):
        assert call(command, TRAINING_PIPELINE_CONFIG=str(config)).status == 0
        assert call(command, TRAINING_PIPELINE_CONFIG=str(tmp_path)).status == 0
    monkeypatch.chdir(tmp_path)
    assert call("validate").status == 0
    monkeypatch.chdir(tmp_path / "data")
    said = call("runs", "--json")
    assert (said.status, said.document["code"]) == (2, "bad_config")


def test_a_ledger_of_another_project_in_the_same_file_is_not_ours(tmp_path: Path) -> None:
    config = review_study(tmp_path)
    ask(Ledger(tmp_path / "project.sqlite", "Another study"))
    assert call("runs", str(config), "--json").document == {"runs": []}
