"""A schema's whole chain, made once by Dagster with the real worker: what it leaves in Dagster and in the ledger."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from tests.running import Ran
from training_pipeline.assets import agreed_labels, stable_splits
from training_pipeline.labels import storage
from training_pipeline.ledger import predictions, runs
from training_pipeline.ledger.records import Status
from training_pipeline.splits import digest as splits_digest
from training_pipeline.splits import load as load_splits
from training_pipeline.study.answers import answers_version


def test_it_is_one_run_that_succeeded(trained: Ran) -> None:
    assert trained.result.success
    (run,) = runs.list_runs(trained.ledger)
    assert run.status is Status.SUCCESS
    assert run.dagster_run_id == trained.result.dagster_run.run_id
    assert (run.trainer, run.schema_names, run.kinds) == ("sklearn-text", ("sentiment",), ("nominal",))
    # Counted by hand from POTATO.md's algorithm at seed 0: 120 items, of which the first 90 are labelled.
    assert (run.n_train, run.n_val, run.n_test, run.n_unlabeled) == (65, 13, 12, 30)
    assert run.started_at is not None
    assert run.finished_at is not None
    assert run.created_at <= run.started_at <= run.finished_at
    assert run.progress is None


def test_it_makes_the_assets_in_order(trained: Ran) -> None:
    assert trained.made == [
        "stable_splits",
        "sentiment/agreed_labels",
        "sentiment/training_data",
        "sentiment/fitted_model",
        "sentiment/held_out_scores",
        "sentiment/published_predictions",
    ]


def test_dagster_and_the_ledger_know_each_other(trained: Ran) -> None:
    for asset in ("training_data", "fitted_model"):
        assert trained.metadata(f"sentiment/{asset}")["run"] == trained.run.run_id
    for asset in ("held_out_scores", "published_predictions"):
        assert trained.metadata(f"sentiment/{asset}")["run"] == f"Run {trained.run.run_id}."


def test_data_versions_are_the_digests_of_the_data(trained: Ran) -> None:
    study, schema = trained.study, trained.study.schemas[0]
    agreed = storage.load(agreed_labels.path_of(study, schema), schema)
    assert trained.version("sentiment/agreed_labels") == storage.digest(agreed)
    assert trained.version("stable_splits") == splits_digest(load_splits(stable_splits.path_of(study)))
    assert trained.version("sentiment/training_data") == trained.run.bundle_digest
    assert trained.version("sentiment/fitted_model") == trained.run.model_version
    assert trained.version("sentiment/held_out_scores") == f"{trained.run.run_id}:{trained.run.bundle_digest}"
    (observed,) = [
        event.asset_observation_data.asset_observation
        for event in trained.result.all_events
        if event.event_type_value == "ASSET_OBSERVATION"
    ]
    assert (observed.tags or {})["dagster/data_version"] == answers_version(study)


def test_agreed_labels_tell_counts_and_reliabilities(trained: Ran) -> None:
    told = trained.metadata("sentiment/agreed_labels")
    assert told["dagster/row_count"] == 90
    assert told["answers"] == 180
    assert told["labels"] == [{"label": "negative", "items": 45}, {"label": "positive", "items": 45}]
    assert told["annotators"] == [
        {"annotator": "ann", "answers": 90, "reliability": 1.0},
        {"annotator": "ben", "answers": 90, "reliability": 1.0},
    ]
    assert told["decided by"] == [{"rule": "dawid-skene", "items": 90}]


def test_training_data_tells_the_labels_of_each_split(trained: Ran) -> None:
    told = trained.metadata("sentiment/training_data")
    assert told["splits"] == [
        {"split": "train", "items": 65},
        {"split": "val", "items": 13},
        {"split": "test", "items": 12},
    ]
    assert told["to be predicted only"] == 30
    by_label = {row["label"]: row["train"] + row["val"] + row["test"] for row in told["labels"]}
    assert by_label == {"positive": 45, "negative": 45}


def test_the_headline_stands_in_words_and_as_numbers_to_plot(trained: Ran) -> None:
    told = trained.metadata("sentiment/held_out_scores")
    headline = trained.run.headline
    assert headline is not None
    assert (headline.split, headline.metric, headline.n) == ("val", "macro_f1", 13)
    assert headline.value > 0.9  # one word of each text says it
    assert headline.low is not None
    assert headline.high is not None
    assert told["score"] == round(headline.value, 4)
    assert (told["score_low"], told["score_high"]) == (round(headline.low, 4), round(headline.high, 4))
    number = r"\d\.\d{3}"
    assert re.fullmatch(rf"val_macro_f1 {number} \(95 % interval {number} to {number}\) on 13 items", told["headline"])
    assert trained.run.metrics["val_macro_f1"] == headline.value


def test_the_confusion_matrix_is_a_picture_with_the_counts(trained: Ran) -> None:
    told = trained.metadata("sentiment/held_out_scores")
    run_id = trained.run.run_id
    assert told["confusion matrix (val)"] == f"![val](/pictures/{run_id}/confusion_val.svg)"
    drawn = ET.fromstring((trained.directory.pictures / "confusion_val.svg").read_text(encoding="utf-8"))
    texts = [text.text or "" for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert sum(int(text) for text in texts if text.isdigit()) == 13


def test_published_predictions_show_samples_with_their_texts(trained: Ran) -> None:
    told = trained.metadata("sentiment/published_predictions")
    report = trained.run.writeback
    assert report is not None
    assert told["published"] == report.n_written == predictions.count(trained.ledger)[None] == 55
    assert told["summary"] == "Published 55 of 55 predictions (sentiment)"
    assert len(told["samples published"]) == 10
    for row in told["samples published"]:
        number = int(row["item"].removeprefix("r"))
        assert row["text"].startswith("The ")
        assert f"order {number} " in row["text"]


def test_each_schemas_true_name_is_in_what_people_read(trained: Ran) -> None:
    from training_pipeline.definitions import build_definitions

    specs = build_definitions(trained.study).resolve_all_asset_specs()
    of_schema = [spec for spec in specs if spec.key.path[0] == "sentiment"]
    assert len(of_schema) == 5
    assert all((spec.description or "").startswith("sentiment: ") for spec in of_schema)


def test_every_asset_says_its_code_version(trained: Ran) -> None:
    for asset in trained.made:
        assert (trained.materialization(asset).tags or {})["dagster/code_version"] == "1"
