"""Studies that cannot be trained on: each with its sentence, in the ledger and in Dagster, and nothing written."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.ledger.making import locked_by_another_process
from tests.running import InstantBackend, Ran, review_answers, review_study, reviews, sentiment_of, train
from tests.studies import SENTIMENT, write_answers
from training_pipeline.bundle.writer import BundleWriter
from training_pipeline.errors import PipelineError
from training_pipeline.ledger.records import Status
from training_pipeline.ledger.splits import run_items

NOBODY = (
    "No resolved annotations to train on: no item of the study has an agreed label for 'sentiment'. Another schema is "
    "being annotated, or nobody has annotated yet."
)


def assert_refused(ran: Ran, code: str, message: str) -> None:
    assert not ran.result.success
    assert (ran.run.status, ran.run.error_code, ran.run.error) == (Status.ERROR, code, message)
    assert set(ran.failures) == {message}  # the sentence alone, no stack
    assert not ran.directory.bundle.exists()
    assert not list(ran.study.runs_dir.glob("*/bundle.partial*"))


def test_an_empty_study(tmp_path: Path) -> None:
    ran = train(review_study(tmp_path, items=[], answers={}), backend=InstantBackend())
    assert_refused(ran, "bundle_failed", NOBODY)


def test_nobody_annotated_the_schema(tmp_path: Path) -> None:
    tone = {**SENTIMENT, "name": "tone"}
    answers = {"ann": {"r001": {"tone": "positive"}}}
    ran = train(review_study(tmp_path, schemes=[SENTIMENT, tone], answers=answers), backend=InstantBackend())
    assert_refused(ran, "bundle_failed", NOBODY)


def test_all_annotators_files_are_torn(tmp_path: Path) -> None:
    config = review_study(tmp_path)
    states = sorted((tmp_path / "annotation_output").glob("*/user_state.json"))
    for path in states:
        path.write_text(path.read_text()[:100])
    ran = train(config, backend=InstantBackend())
    assert ran.run.error_code == "bundle_failed"
    assert ran.run.error.startswith("No annotator's file can be read; mend or restore them:")
    assert all(str(path) in ran.run.error for path in states)


def test_an_id_twice_is_named_by_file_and_line(tmp_path: Path) -> None:
    config = review_study(tmp_path, items=[*reviews(5), reviews(3)[2]])
    ran = train(config, backend=InstantBackend())
    file = tmp_path / "data" / "items.jsonl"
    assert_refused(
        ran, "bad_items", f"{file}, line 6: the id 'r002' stands at {file}, line 3 already; give each item its own"
    )


@pytest.mark.slow
def test_one_label_only(tmp_path: Path) -> None:
    answers = {"ann": {f"r{k:03}": {"sentiment": "positive"} for k in range(60)}}
    ran = train(review_study(tmp_path, answers=answers))
    assert (ran.run.status, ran.run.error_code) == (Status.ERROR, "validation_failed")
    assert "Schema 'sentiment' has 1 distinct label(s) in the data" in ran.run.error
    assert set(ran.failures) == {ran.run.error}
    assert not ran.directory.model.exists()


@pytest.mark.slow
def test_fewer_train_items_than_min_instances(tmp_path: Path) -> None:
    ran = train(review_study(tmp_path, answers=review_answers(8)))
    assert (ran.run.status, ran.run.error_code) == (Status.ERROR, "validation_failed")
    assert ran.run.error.startswith(f"Only {ran.run.n_train} items in the train split")
    assert "min_instances" in ran.run.error
    assert not ran.directory.model.exists()


def test_params_of_another_trainer(tmp_path: Path) -> None:
    asked = {"params": {"nonsense": 1}}
    ran = train(review_study(tmp_path), asked=asked, backend=InstantBackend())
    assert set(ran.failures) == {
        "sklearn-text does not take nonsense; it takes classifier, classifier_kwargs, vectorizer, vectorizer_kwargs, "
        "calibrate, min_instances."
    }
    assert not ran.study.training_dir.exists()


def messy(directory: Path) -> Path:
    """A study whose ids, texts and answers are odd, and which can be trained on all the same."""
    odd_ids = ["a/b", "two words", "🙂", 'it\'s "quoted"', "x" * 10_000, "../up", "-dash", "null"]
    items: list[dict[str, Any]] = [{**item, "id": odd} for item, odd in zip(reviews(8), odd_ids, strict=True)]
    items += [*reviews(60)[8:], {"id": "no text"}, {"id": "empty", "text": ""}, {"id": "nan", "text": float("nan")}]
    ids = [item["id"] for item in items]
    meant: dict[str, dict[str, Any]] = {
        item: {"sentiment": "positive" if k % 2 else "negative"} for k, item in enumerate(ids)
    }
    meant["gone"] = {"sentiment": "positive"}
    config = review_study(directory, items=items, answers={"ann": meant})
    torn = write_answers(directory / "annotation_output", "ben", review_answers(60)["ann"])
    torn.write_text(torn.read_text()[:-200])
    return config


def test_odd_ids_texts_and_answers_lose_nothing(tmp_path: Path) -> None:
    ran = train(messy(tmp_path), backend=InstantBackend())
    assert ran.run.status is Status.SUCCESS
    assert ran.run.n_train + ran.run.n_val + ran.run.n_test == 63
    told = ran.metadata("sentiment/agreed_labels")
    assert told["decided by"] == [{"rule": "single", "items": 63}]
    torn = tmp_path / "annotation_output" / "ben" / "user_state.json"
    assert f"{torn} was left out: " in told["left out"]
    assert "1 answers to items that are not in the data any more were ignored." in told["left out"]
    expected = {item["id"] for item in map(json.loads, (tmp_path / "data" / "items.jsonl").open())}
    assert {item.instance_id for item in run_items(ran.ledger, ran.run.run_id)} == expected
    report = ran.run.writeback
    assert report is not None
    assert report.n_written == report.n_read == ran.run.n_val + ran.run.n_test


def test_two_encodings_of_one_answer_are_one_vote(tmp_path: Path) -> None:
    old = {f"r{k:03}": {"sentiment": {sentiment_of(k): True}} for k in range(90)}
    config = review_study(tmp_path, answers=review_answers(90, ("ann",)))
    write_answers(tmp_path / "annotation_output", "ben", {}, instance_id_to_label_to_value=old)
    told = train(config, backend=InstantBackend()).metadata("sentiment/agreed_labels")
    assert told["labels"] == [{"label": "negative", "items": 45}, {"label": "positive", "items": 45}]
    assert {row["annotator"]: row["reliability"] for row in told["annotators"]} == {"ann": 1.0, "ben": 1.0}
    assert told["left out"] == "nothing"


@pytest.mark.slow
def test_a_ledger_locked_for_seconds_is_waited_for(tmp_path: Path) -> None:
    config = review_study(tmp_path)
    train(config, backend=InstantBackend())
    with locked_by_another_process(tmp_path / "project.sqlite", 3.0):
        ran = train(config, backend=InstantBackend())
    assert ran.run.status is Status.SUCCESS


def fail_with(error: Exception) -> Callable[..., Any]:
    def failing(*_args: object, **_kwargs: object) -> Any:
        raise error

    return failing


def test_a_disk_that_fills_up_is_said_and_leaves_no_half_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = review_study(tmp_path)
    error = OSError(errno.ENOSPC, "No space left on device", "/data/run/bundle/train.jsonl")
    monkeypatch.setattr(BundleWriter, "finish", fail_with(error))
    ran = train(config, backend=InstantBackend())
    assert_refused(
        ran,
        "disk_full",
        "No space is left on the disk for /data/run/bundle/train.jsonl: free some, then start again.",
    )


def test_a_defect_of_ours_keeps_its_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = review_study(tmp_path)
    monkeypatch.setattr(BundleWriter, "finish", fail_with(ZeroDivisionError("by nought")))
    ran = train(config, backend=InstantBackend())
    assert (ran.run.status, ran.run.error_code, ran.run.error) == (
        Status.ERROR,
        "unexpected",
        "ZeroDivisionError: by nought",
    )
    assert any("Stack Trace" in failure for failure in ran.failures)


def test_the_first_error_is_told_where_its_end_cannot_be_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from training_pipeline.ledger import runs

    config = review_study(tmp_path, items=[], answers={})
    monkeypatch.setattr(runs, "finish", fail_with(PipelineError("disk_full", "The disk is full.")))
    ran = train(config, backend=InstantBackend())
    assert NOBODY in ran.failures
    assert ran.run.status is Status.BUILDING  # the next start ends it, since its process will be gone
