"""Every kind of answer, through the real worker, in one study whose schema names need a slug."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.running import BLAME, PRAISE, Ran, train
from tests.studies import make_study
from training_pipeline.bundle.reader import Bundle
from training_pipeline.ledger import runs
from training_pipeline.ledger.records import RunRecord
from training_pipeline.publishing.predictions_file import Prediction, read_predictions
from training_pipeline.slugs import slug

pytestmark = pytest.mark.slow

TONE = "review sentiment"
GRADE = "a/b"
TOPICS = "тема"
WEIGHT = "重さ"
LABELS = ["a|b", "a, b", "None", "1"]
SCHEMES: list[dict[str, Any]] = [
    {"annotation_type": "radio", "name": TONE, "description": "?", "labels": ["positive", "negative"]},
    {
        "annotation_type": "likert",
        "name": GRADE,
        "description": "?",
        "size": 5,
        "min_label": "bad",
        "max_label": "good",
    },
    {"annotation_type": "multiselect", "name": TOPICS, "description": "?", "labels": LABELS},
    {"annotation_type": "slider", "name": WEIGHT, "description": "?", "min_value": 0, "max_value": 100},
]
WORD_OF_LABEL = {"a|b": "pipes", "a, b": "commas", "None": "nothing", "1": "number"}
N = 160


def grade(k: int) -> int:
    return k % 5 + 1


def topics(k: int) -> list[str]:
    """Every set of the four labels but the empty one occurs."""
    return [label for bit, label in enumerate(LABELS) if (k % 15 + 1) >> bit & 1]


def text(k: int) -> str:
    tone = (PRAISE if k % 2 else BLAME)[k // 2 % 5]
    said = " ".join(WORD_OF_LABEL[label] for label in topics(k))
    return f"{tone} thing {k}: grade{grade(k)} about {said} weighs w{k % 4}"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    answers = {
        f"i{k}": {
            TONE: "positive" if k % 2 else "negative",
            GRADE: str(grade(k)),
            TOPICS: topics(k),
            WEIGHT: 25 * (k % 4),
        }
        for k in range(N)
    }
    return make_study(
        tmp_path_factory.mktemp("kinds"),
        items=[{"id": f"i{k}", "text": text(k)} for k in range(N)],
        schemes=SCHEMES,
        answers={"ann": answers, "ben": answers},
        training={"writeback": {"schemas": [TONE, GRADE, TOPICS, WEIGHT]}},
    )


@pytest.fixture(scope="module")
def runs_of_schemas(config: Path) -> dict[str, Ran]:
    return {name: train(config, slug(name)) for name in (TONE, GRADE, TOPICS, WEIGHT)}


@pytest.fixture(scope="module")
def predicted(runs_of_schemas: dict[str, Ran]) -> dict[str, list[Prediction]]:
    (ledger,) = {ran.ledger for ran in runs_of_schemas.values()}
    study = runs_of_schemas[TONE].study
    return {
        run.schema_names[0]: list(read_predictions(study.runs_dir / run.run_id / "artifacts" / "predictions.jsonl"))
        for run in runs.list_runs(ledger)
    }


def run_of(ran: Ran, schema: str) -> RunRecord:
    return next(run for run in runs.list_runs(ran.ledger) if run.schema_names == (schema,))


def test_each_schema_is_a_run_of_its_own(runs_of_schemas: dict[str, Ran]) -> None:
    listed = runs.list_runs(runs_of_schemas[TONE].ledger)
    assert [(run.schema_names, run.status, run.error) for run in listed] == [
        ((name,), "success", "") for name in (WEIGHT, TOPICS, GRADE, TONE)
    ]
    assert [run.kinds for run in listed] == [("continuous",), ("multilabel",), ("ordinal",), ("nominal",)]


@pytest.mark.parametrize(
    ("schema", "metric", "at_least"), [(TONE, "macro_f1", 0.9), (GRADE, "qwk", 0.6), (TOPICS, "micro_f1", 0.8)]
)
def test_it_learns_what_the_words_say(
    runs_of_schemas: dict[str, Ran], schema: str, metric: str, at_least: float
) -> None:
    headline = run_of(runs_of_schemas[schema], schema).headline
    assert headline is not None
    assert (headline.split, headline.metric) == ("val", metric)
    assert headline.value > at_least


def test_numbers_have_a_mean_error_far_below_a_guess(runs_of_schemas: dict[str, Ran]) -> None:
    headline = run_of(runs_of_schemas[WEIGHT], WEIGHT).headline
    assert headline is not None
    assert headline.metric == "mae"
    assert headline.value < 15  # the median, 37.5, is off by 25 on the average


def test_an_ordinal_prediction_is_the_options_own_name(predicted: dict[str, list[Prediction]]) -> None:
    labels = {prediction.payload["label"] for prediction in predicted[GRADE]}
    assert labels == {"1", "2", "3", "4", "5"}


def test_multilabel_names_keep_their_bars_commas_and_none(predicted: dict[str, list[Prediction]]) -> None:
    said = {
        prediction.instance_id: {entry["label"] for entry in prediction.payload} for prediction in predicted[TOPICS]
    }
    assert set().union(*said.values()) == set(LABELS)
    right = sum(said[item] == set(topics(int(item[1:]))) for item in said)
    assert right / len(said) > 0.5


def test_numbers_are_predicted_as_plain_numbers(predicted: dict[str, list[Prediction]]) -> None:
    assert all(isinstance(prediction.payload, float) for prediction in predicted[WEIGHT])


def test_all_schemas_share_the_splits(runs_of_schemas: dict[str, Ran]) -> None:
    study = runs_of_schemas[TONE].study
    held_out = {
        tuple(row.instance_id for row in Bundle.open(study.runs_dir / run.run_id / "bundle").rows("val"))
        for run in runs.list_runs(runs_of_schemas[TONE].ledger)
    }
    assert len(held_out) == 1


def test_what_the_server_cannot_show_is_stored_and_said(runs_of_schemas: dict[str, Ran]) -> None:
    for schema, shown in ((TONE, True), (GRADE, False), (TOPICS, True), (WEIGHT, False)):
        report = run_of(runs_of_schemas[schema], schema).writeback
        assert report is not None
        assert (report.n_written == report.n_read, report.n_skipped_not_showable == report.n_read) == (shown, not shown)
    report = run_of(runs_of_schemas[WEIGHT], WEIGHT).writeback
    assert report is not None
    assert any("allow_slider" in warning for warning in report.warnings)


def test_training_again_on_what_did_not_change_gives_the_same_scores(
    config: Path, runs_of_schemas: dict[str, Ran]
) -> None:
    first = run_of(runs_of_schemas[TOPICS], TOPICS)
    second = train(config, slug(TOPICS)).run
    assert second.run_id != first.run_id
    assert second.bundle_digest == first.bundle_digest
    assert second.headline == first.headline
    timed = {"train_seconds", "peak_rss_mb", "predict_peak_rss_mb"}
    same = [{name: value for name, value in run.metrics.items() if name not in timed} for run in (first, second)]
    assert same[0] == same[1]
    assert len(same[0]) > 5
