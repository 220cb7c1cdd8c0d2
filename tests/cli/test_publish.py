"""`publish`, `retract` and `provenance`: what annotators see, and where it comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import call
from tests.ledger.making import execute
from tests.running import InstantBackend, Ran, review_study, train
from training_pipeline.ledger import predictions


@pytest.fixture
def ran(tmp_path: Path) -> Ran:
    return train(review_study(tmp_path), backend=InstantBackend())


def n_shown(ran: Ran) -> int:
    return len(list(predictions.shown(ran.ledger)))


def test_publish_puts_a_new_threshold_to_work(ran: Ran) -> None:
    config = ran.study.config_path
    text = config.read_text()
    config.write_text(text.replace("include_unlabeled: true", "include_unlabeled: true\n    min_confidence: 0.95"))
    report = call("publish", str(config), "--json").document
    assert (report["run_id"], report["n_read"], report["n_written"]) == (None, 55, 0)
    assert (report["n_skipped_low_confidence"], report["n_superseded_cleared"]) == (55, 55)
    assert n_shown(ran) == 0
    config.write_text(text)
    said = call("publish", str(config))
    assert said.out.startswith("Published 55 of 55 predictions (sentiment)\n")
    assert n_shown(ran) == 55


def test_publish_hides_what_a_reviewer_rejected_since(ran: Ran) -> None:
    execute(
        ran.ledger.path,
        "INSERT INTO model_review_verdicts VALUES (?, 'r100', 'sentiment', 'ann', 'reject', '', 1)",
        ran.study.name,
    )
    report = call("publish", str(ran.study.config_path), "--json").document
    assert (report["n_written"], report["n_skipped_rejected"]) == (54, 1)
    one = call("provenance", "r100", str(ran.study.config_path), "--json").document["prelabels"][0]
    assert (one["shown"], one["not_shown_because"]) == (False, "rejected")


def test_publish_without_anything_stored_says_so(tmp_path: Path) -> None:
    said = call("publish", str(review_study(tmp_path)), "--json")
    assert said.status == 0
    assert said.document["summary"] == "No predictions were published: none are stored"


def test_publish_refuses_items_that_cannot_be_told_apart(ran: Ran) -> None:
    items = ran.study.data_files[0].path
    items.write_text(items.read_text() + items.read_text().splitlines()[0] + "\n")
    said = call("publish", str(ran.study.config_path), "--json")
    assert (said.status, said.document["code"]) == (1, "bad_items")
    assert said.document["error"] == (
        f"{items}, line 121: the id 'r000' stands at {items}, line 1 already; give each item its own"
    )
    assert n_shown(ran) == 55


def test_retract_takes_a_runs_pre_labels_down(ran: Ran) -> None:
    run_id = ran.run.run_id
    document = call("retract", run_id, str(ran.study.config_path), "--json").document
    assert document == {"run_id": run_id, "retracted": 55, "taken_down": 55}
    assert n_shown(ran) == 0
    said = call("retract", run_id, str(ran.study.config_path))
    assert said.out == (
        f"Removed 0 predictions of run {run_id}; 0 of them were shown to annotators. A server that is running shows "
        "what it has read until it is started again.\n"
    )


def test_what_is_shown_now_is_told_beside_what_was_published(ran: Ran) -> None:
    config, first = str(ran.study.config_path), ran.run.run_id

    def told(run_id: str) -> tuple[int, int, str, str]:
        (listed,) = [run for run in call("runs", config, "--json").document["runs"] if run["run_id"] == run_id]
        (row,) = [line for line in call("runs", config, columns=200).out.splitlines() if run_id in line]
        said = call("show", run_id, config, columns=200).out
        assert "published at the time   Published 55 of 55 predictions" in said
        (now,) = [line.split("shown now")[1].strip() for line in said.splitlines() if "shown now" in line]
        return listed["n_shown"], call("show", run_id, config, "--json").document["n_shown"], row.split()[-1], now

    assert told(first) == (55, 55, "55", "55 pre-labels")
    second = train(ran.study.config_path, backend=InstantBackend()).run.run_id
    assert told(first) == (0, 0, "0", "0 pre-labels")
    assert told(second) == (55, 55, "55", "55 pre-labels")
    call("retract", second, config)
    assert told(second) == (0, 0, "0", "0 pre-labels")


def test_retract_of_an_unknown_run_changes_nothing(ran: Ran) -> None:
    said = call("retract", "nope", str(ran.study.config_path), "--json")
    assert (said.status, said.document["code"]) == (1, "unknown_run")
    assert n_shown(ran) == 55


def test_provenance_for_people_leads_with_run_trainer_and_score(trained: Ran) -> None:
    said = call("provenance", "r100", str(trained.study.config_path))
    lines = [line.split() for line in said.out.splitlines()]
    first = [line[0] for line in lines if line and line[0] in ("run_id", "trainer", "headline")]
    assert first == ["run_id", "trainer", "headline"]
    assert trained.run.run_id in said.out
    assert "sentiment/training_data" in said.out


def test_an_item_without_a_pre_label_has_no_provenance(ran: Ran) -> None:
    said = call("provenance", "no/such item", str(ran.study.config_path), "--json")
    assert (said.status, said.document) == (
        1,
        {"error": "No run has written a prediction for item 'no/such item'.", "code": "unknown_item"},
    )
