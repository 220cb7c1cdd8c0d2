"""The leakage checks: a run whose splits do not hold goes no further; identical texts are a warning."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest

from tests.ledger.making import execute
from tests.running import InstantBackend, Ran, materialize, review_study, reviews, train
from training_pipeline.assets import training_data
from training_pipeline.bundle.manifest import Manifest
from training_pipeline.bundle.reader import Bundle
from training_pipeline.definitions import build_definitions
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import Status
from training_pipeline.ledger.runs import record
from training_pipeline.study.config import load_study
from training_pipeline.training_data import build_training_data

DATA_CHECK = "sentiment/training_data: leakage"
SHOWN_CHECK = "sentiment/published_predictions: leakage"


def rows_of(check: dg.AssetCheckEvaluation, table: str) -> list[dict[str, Any]]:
    found = check.metadata[table]
    assert isinstance(found, dg.TableMetadataValue)
    return [dict(record.data) for record in found.records]


def copy_first_row(bundle: Path, source: str, target: str) -> str:
    """Put the first item of one split into another one too, and return its id."""
    line = (bundle / f"{source}.jsonl").read_text(encoding="utf-8").splitlines()[0]
    with (bundle / f"{target}.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    return str(json.loads(line)["instance_id"])


@pytest.fixture
def tampered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ran:
    """A run whose training data is changed after it was written, before the check looks at it."""

    def build_and_tamper(*args: Any) -> Manifest:
        manifest = build_training_data(*args)
        copy_first_row(args[-1], "test", "train")
        return manifest

    monkeypatch.setattr(training_data, "build_training_data", build_and_tamper)
    return train(review_study(tmp_path), backend=InstantBackend())


def test_an_item_in_two_splits_never_reaches_the_ledger(tampered: Ran) -> None:
    # The ledger itself refuses it: its table has one row an item.
    assert (tampered.run.status, tampered.run.error_code) == (Status.ERROR, "leakage")
    assert tampered.run.error.startswith(f"An item stands twice in the splits of run {tampered.run.run_id}")
    assert not tampered.directory.model.exists()


@pytest.fixture
def changed_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ran:
    """A run whose training data is changed when the ledger has its splits already."""

    def record_and_tamper(ledger: Ledger, run_id: str, **facts: Any) -> None:
        record(ledger, run_id, **facts)
        copy_first_row(tmp_path / "annotation_output" / "training" / "runs" / run_id / "bundle", "test", "train")

    monkeypatch.setattr(training_data, "runs", SimpleNamespace(record=record_and_tamper))
    return train(review_study(tmp_path), backend=InstantBackend())


def test_leakage_blocks_the_rest_of_the_run(changed_later: Ran) -> None:
    said = "1 items or groups stand in two splits, so no score of this run would hold."
    check = changed_later.checks[DATA_CHECK]
    assert (check.passed, check.severity, check.description) == (False, dg.AssetCheckSeverity.ERROR, said)
    (row,) = rows_of(check, "in two splits")
    first_test_item = next(Bundle.open(changed_later.directory.bundle).rows("test")).instance_id
    assert row == {"what": "item", "key": first_test_item}
    assert (changed_later.run.status, changed_later.run.error_code) == (Status.ERROR, "leakage")
    assert changed_later.run.error == said
    assert changed_later.made == ["stable_splits", "sentiment/agreed_labels", "sentiment/training_data"]
    assert not changed_later.directory.model.exists()


def test_a_ledger_that_says_otherwise_is_leakage_too(tmp_path: Path) -> None:
    ran = train(review_study(tmp_path), backend=InstantBackend())
    item = next(Bundle.open(ran.directory.bundle).rows("val")).instance_id
    execute(ran.ledger.path, "UPDATE training_run_items SET split = 'train' WHERE instance_id = ?", item)
    evaluation = check_alone(ran, DATA_CHECK)
    assert (evaluation.passed, evaluation.severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert evaluation.description == "1 items stand in another split than the ledger says."
    assert rows_of(evaluation, "not as the ledger says") == [{"item": item}]
    assert ran.run.status is Status.SUCCESS  # the check alone changes nothing of what was


def check_alone(ran: Ran, check: str) -> dg.AssetCheckEvaluation:
    asset, name = check.split(": ")
    key = dg.AssetCheckKey(dg.AssetKey(asset.split("/")), name)
    checks = build_definitions(load_study(ran.study.config_path)).asset_checks or ()
    (wanted,) = [check for check in checks if isinstance(check, dg.AssetChecksDefinition) and key in check.check_keys]
    definitions = dg.Definitions(asset_checks=[wanted], resources={"ledger": ran.ledger})
    job = definitions.resolve_implicit_global_asset_job_def()
    result = job.execute_in_process(instance=dg.DagsterInstance.ephemeral(), raise_on_error=False)
    (evaluation,) = result.get_asset_check_evaluations()
    return evaluation


def test_a_torn_bundle_is_said_in_a_sentence(tmp_path: Path) -> None:
    ran = train(review_study(tmp_path), backend=InstantBackend())
    rows = ran.directory.bundle / "train.jsonl"
    rows.write_text(rows.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    again = materialize(ran.study.config_path, "sentiment/held_out_scores")
    assert again.result.success  # val and test are whole
    rows = ran.directory.bundle / "val.jsonl"
    rows.write_text(rows.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    again = materialize(ran.study.config_path, "sentiment/held_out_scores")
    (said,) = again.failures
    assert said.startswith(f"{rows}, line 13, is no row: ")
    assert "Stack" not in said


def test_identical_texts_in_two_splits_warn_and_name_the_cure(tmp_path: Path) -> None:
    items = [{**item, "text": f" THE same {k // 3}"} for k, item in enumerate(reviews(60))]
    ran = train(review_study(tmp_path, items=items, n_labelled=60), backend=InstantBackend())
    check = ran.checks[DATA_CHECK]
    assert (check.passed, check.severity) == (False, dg.AssetCheckSeverity.WARN)
    rows = rows_of(check, "identical texts")
    assert check.description == (
        f"{len(rows)} held-out items have the same text as an item of another split; their score flatters. splits_by "
        "keeps such items together."
    )
    assert rows
    for row in rows:
        assert int(str(row["item"])[1:]) // 3 == int(str(row["same text"])[1:]) // 3
        assert row["split"] != row["its split"]
    assert ran.run.status is Status.SUCCESS


def test_a_pre_label_on_a_train_item_fails_the_check_of_what_is_shown(tmp_path: Path) -> None:
    ran = train(review_study(tmp_path), backend=InstantBackend())
    assert ran.checks[SHOWN_CHECK].passed
    item = next(Bundle.open(ran.directory.bundle).rows("train")).instance_id
    execute(
        ran.ledger.path,
        "INSERT INTO training_predictions VALUES (?, ?, 'sentiment', ?, '{}', 0.9, 1)",
        ran.study.name,
        item,
        ran.run.run_id,
    )
    evaluation = check_alone(ran, SHOWN_CHECK)
    assert (evaluation.passed, evaluation.severity) == (False, dg.AssetCheckSeverity.ERROR)
    assert evaluation.description == "1 pre-labels are shown on train items."
    (row,) = rows_of(evaluation, "items")
    assert row["instance_id"] == item
