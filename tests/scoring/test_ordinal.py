from __future__ import annotations

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, cohen_kappa_score, mean_absolute_error

from tests.scoring.rows import schema, score_val
from training_pipeline.scoring.ordinal import evaluate
from training_pipeline.study.kinds import Kind

OPTIONS = ["never", "rarely", "often", "always"]
option = st.sampled_from(OPTIONS)


@settings(deadline=None)
@given(st.lists(st.tuples(option, option), min_size=1, max_size=40))
def test_equals_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    truths, predictions = zip(*pairs, strict=True)
    t, p = [OPTIONS.index(x) for x in truths], [OPTIONS.index(x) for x in predictions]
    found = evaluate(truths, predictions, OPTIONS)
    assert found.metrics["accuracy"] == pytest.approx(accuracy_score(t, p), abs=1e-12)
    assert found.metrics["mae"] == pytest.approx(mean_absolute_error(t, p), abs=1e-12)
    if len({*t, *p}) == 1:
        assert "qwk" not in found.metrics
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = cohen_kappa_score(t, p, labels=range(4), weights="quadratic")
        assert found.metrics["qwk"] == pytest.approx(expected, abs=1e-12)


def test_worse_than_chance_is_a_value() -> None:
    found = evaluate(["never", "always"], ["always", "never"], OPTIONS)
    assert found.metrics["qwk"] == pytest.approx(-1.0)


def test_a_missing_prediction_counts_as_the_farthest_option() -> None:
    truths = ["never", "rarely", "often", "always", "often"]
    farthest = ["always", "always", "never", "never", "often"]
    left_out = [None, None, None, None, "often"]
    assert evaluate(truths, left_out, OPTIONS).metrics == evaluate(truths, farthest, OPTIONS).metrics


def test_a_prediction_that_is_no_option_is_wrong() -> None:
    found = evaluate(["never", "often"], ["5.0", "often"], OPTIONS)
    assert found.metrics["mae"] == pytest.approx(3 / 2)
    assert found.metrics["accuracy"] == 0.5


def test_agreement_that_cannot_be_told_from_chance_is_not_scored() -> None:
    scores = score_val(schema(Kind.ORDINAL, OPTIONS), ["often", "often"], ["often", "often"])
    assert "val_qwk" not in scores.metrics
    assert "same option" in scores.not_scored["val_qwk"]
    assert scores.headline is None
    assert scores.not_scored_because == scores.not_scored["val_qwk"]
    assert scores.metrics["val_accuracy"] == 1.0


def test_an_agreed_label_without_a_place_in_the_order_is_named() -> None:
    found = evaluate(["sometimes", "often"], ["often", "often"], OPTIONS)
    assert found.metrics == {"accuracy": 0.5}
    assert "'sometimes' is no option" in found.not_scored["qwk"]
    assert set(found.not_scored) == {"qwk", "mae"}


def test_options_keep_their_written_order_in_the_picture() -> None:
    found = evaluate(["rarely", "always"], ["never", "always"], OPTIONS)
    assert found.confusion is not None
    assert found.confusion.agreed == ("rarely", "always")
    assert found.confusion.predicted == ("never", "rarely", "always")
