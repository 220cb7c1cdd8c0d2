"""`cancel`, and what `status` says of runs that wait."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import call
from tests.ledger.making import ask
from tests.running import review_study
from training_pipeline.disk_use import bytes_below
from training_pipeline.ledger import runs, supervisors
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.owners import this_process
from training_pipeline.ledger.records import Status
from training_pipeline.study.config import load_study


def study_with_a_run_that_waits(directory: Path) -> tuple[str, Ledger, str]:
    config = review_study(directory)
    study = load_study(config)
    ledger = Ledger(study.database, study.name)
    run_id = ask(ledger).run_id
    with ledger.transaction() as connection:
        connection.execute("UPDATE pipeline_runs SET owner = NULL")
    return str(config), ledger, run_id


def test_a_run_that_waits_is_cancelled_at_once_and_not_twice(tmp_path: Path) -> None:
    config, ledger, run_id = study_with_a_run_that_waits(tmp_path)
    assert call("cancel", run_id, config).out == f"Run {run_id} is cancelled.\n"
    assert runs.get(ledger, run_id).status is Status.CANCELLED
    said = call("cancel", run_id, config, "--json")
    message = f"Run {run_id} has ended already: it is cancelled."
    assert (said.status, said.document) == (1, {"error": message, "code": "already_ended"})


def test_with_json_it_prints_the_run_as_it_ended(tmp_path: Path) -> None:
    config, _, run_id = study_with_a_run_that_waits(tmp_path)
    document = call("cancel", run_id, config, "--json").document
    assert (document["run_id"], document["status"], document["error"]) == (run_id, "cancelled", "Cancelled.")


def test_status_says_what_waits_for_up(tmp_path: Path) -> None:
    config, ledger, run_id = study_with_a_run_that_waits(tmp_path)
    assert f"Run {run_id}: waiting #1, until `training-pipeline up` runs" in call("status", config).out.splitlines()
    supervisors.come(ledger, this_process())
    document = call("status", config, "--json").document
    assert document["queue"] == [{"run_id": run_id, "position": 1, "waits_in": "dagster", "moves": True}]
    assert document["up"] is True
    assert f"Run {run_id}: waiting #1" in call("status", config).out.splitlines()


def test_status_says_how_much_disk_the_runs_take(tmp_path: Path) -> None:
    config = review_study(tmp_path)
    runs_dir = load_study(config).runs_dir
    (runs_dir / "20250101T000000-000000").mkdir(parents=True)
    (runs_dir / "20250101T000000-000000" / "events.jsonl").write_bytes(b"x" * 20_480)
    assert call("status", str(config), "--json").document["runs_bytes"] == bytes_below(runs_dir) >= 20_480
    assert f"Run directories take 20 kB in {runs_dir}." in call("status", str(config), columns=300).out
