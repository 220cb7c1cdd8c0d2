from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_recall_fscore_support

from tests.scoring.rows import schema, score_val
from training_pipeline.scoring.nominal import evaluate
from training_pipeline.scoring.records import Confusion
from training_pipeline.study.kinds import Kind

LABELS = ["a", "b", "c", "d"]
label = st.sampled_from(LABELS)


@settings(deadline=None)
@given(st.lists(st.tuples(label, label), min_size=1, max_size=40))
def test_equals_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    truths, predictions = zip(*pairs, strict=True)
    found = evaluate(truths, predictions, LABELS)
    classes = sorted(set(truths))
    precision, recall, f1, support = precision_recall_fscore_support(
        truths, predictions, labels=classes, zero_division=0
    )
    assert found.metrics == pytest.approx(
        {
            "macro_f1": f1_score(truths, predictions, labels=classes, average="macro", zero_division=0),
            "accuracy": accuracy_score(truths, predictions),
        },
        abs=1e-12,
    )
    assert [score.label for score in found.classes] == classes
    assert [score.precision or 0 for score in found.classes] == pytest.approx(precision, abs=1e-12)
    assert [score.recall for score in found.classes] == pytest.approx(recall, abs=1e-12)
    assert [score.f1 for score in found.classes] == pytest.approx(f1, abs=1e-12)
    assert [score.support for score in found.classes] == support.tolist()
    assert [score.precision is None for score in found.classes] == [name not in predictions for name in classes]


def test_a_class_that_only_predictions_name_is_not_averaged() -> None:
    found = evaluate(["a", "a", "b", "b"], ["a", "z", "b", "b"], ["a", "b", "z"])
    assert found.metrics["macro_f1"] == pytest.approx((2 / 3 + 1) / 2)


def test_confusion_shows_rows_of_agreed_labels_and_columns_of_all_predictions() -> None:
    found = evaluate(["low", "high", "high", "high"], ["high", "high", "odd", None], ["low", "mid", "high"])
    assert found.confusion == Confusion(
        agreed=("low", "high"),
        predicted=("low", "high", "odd", "no prediction"),
        counts=((0, 1, 0, 0), (0, 1, 1, 1)),
    )


def test_a_missing_prediction_is_a_miss_and_a_false_alarm() -> None:
    # Two classes leave one way to be wrong, so a missing prediction is worth exactly that.
    truths, wrong = ["a", "a", "a", "b", "b"], ["a", "a", "b", "b", "a"]
    left_out = [prediction if prediction == truth else None for truth, prediction in zip(truths, wrong, strict=True)]
    assert evaluate(truths, left_out, LABELS).metrics == evaluate(truths, wrong, LABELS).metrics


def test_one_class_alone_has_nothing_to_alarm() -> None:
    found = evaluate(["a", "a", "a", "a"], ["a", "a", "a", None], LABELS)
    assert found.metrics == pytest.approx({"macro_f1": 2 * 3 / (4 + 3), "accuracy": 0.75})


@settings(deadline=None)
@given(st.lists(st.tuples(label, label, st.booleans()), min_size=1, max_size=30))
def test_leaving_items_out_never_raises_the_score(triples: list[tuple[str, str, bool]]) -> None:
    truths = [truth for truth, _, _ in triples]
    whole = evaluate(truths, [prediction for _, prediction, _ in triples], LABELS)
    partial = evaluate(truths, [prediction if kept else None for _, prediction, kept in triples], LABELS)
    for metric in ("macro_f1", "accuracy"):
        assert partial.metrics[metric] <= whole.metrics[metric] + 1e-12


def test_the_worst_predictions_are_the_worst() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        truths = rng.choice(LABELS[:3], 8).tolist()
        predictions = [*rng.choice(LABELS[:3], 4).tolist(), None, None, None, None]
        wrong = [[name for name in sorted(set(truths)) if name != truth] or ["z"] for truth in truths[4:]]
        lowest = min(
            evaluate(truths, [*predictions[:4], a, b, c, d], LABELS).metrics["macro_f1"]
            for a in wrong[0]
            for b in wrong[1]
            for c in wrong[2]
            for d in wrong[3]
        )
        assert evaluate(truths, predictions, LABELS).metrics["macro_f1"] == pytest.approx(lowest, abs=1e-12)


def test_names_and_values_of_the_flat_metrics() -> None:
    scores = score_val(schema(Kind.NOMINAL, LABELS), ["a", "b", "b", "a"], ["a", "b", None, "a"])
    assert scores.metrics == pytest.approx(
        {"val_macro_f1": (0.8 + 2 / 3) / 2, "val_accuracy": 0.75, "val_coverage": 0.75, "val_support": 4}
    )
    assert scores.not_scored == {}
