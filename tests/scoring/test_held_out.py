from __future__ import annotations

import pytest

from tests.scoring.rows import rows, schema
from training_pipeline.scoring.held_out import score
from training_pipeline.scoring.records import HeldOut
from training_pipeline.study.kinds import Kind

SCHEMA = schema(Kind.NOMINAL, ["a", "b"])
VAL = rows(["a", "b", "a", "b"], ["a", "b", "b", "b"])
TEST = rows(["a", "b", "b"], ["a", "b", "b"])
EMPTY = rows([], [])


@pytest.mark.parametrize(
    ("held_out", "keeps_best_epoch", "headline"),
    [
        ({"val": VAL, "test": TEST}, False, "val_macro_f1"),
        ({"val": VAL, "test": TEST}, True, "test_macro_f1"),
        ({"val": EMPTY, "test": TEST}, False, "test_macro_f1"),
        ({"val": VAL, "test": EMPTY}, True, "val_macro_f1"),
        ({"test": TEST}, False, "test_macro_f1"),
    ],
)
def test_headline_is_of_the_first_split_with_items_and_of_test_where_val_was_used_to_choose(
    held_out: dict[str, HeldOut], keeps_best_epoch: bool, headline: str
) -> None:
    scores = score(SCHEMA, held_out, keeps_best_epoch=keeps_best_epoch, seed=0)
    assert scores.headline is not None
    assert scores.headline.name == headline
    assert scores.headline.value == scores.metrics[headline]
    assert scores.headline.n == scores.metrics[f"{scores.headline.split}_support"]


def test_both_splits_are_scored() -> None:
    scores = score(SCHEMA, {"val": VAL, "test": TEST}, keeps_best_epoch=False, seed=0)
    assert {name for name in scores.metrics if name.startswith("val_")} == {
        "val_macro_f1",
        "val_accuracy",
        "val_coverage",
        "val_support",
    }
    assert scores.metrics["test_accuracy"] == 1.0
    assert scores.headline is not None
    assert scores.headline.low is not None
    assert scores.headline.high is not None
    assert scores.headline.low <= scores.headline.value <= scores.headline.high


def test_no_held_out_items_is_not_scored() -> None:
    scores = score(SCHEMA, {"val": EMPTY, "test": EMPTY}, keeps_best_epoch=False, seed=0)
    assert scores.headline is None
    assert scores.metrics == {}
    assert scores.not_scored_because is not None
    assert scores.not_scored_because.startswith("No labelled item is in val or test")


def test_a_kind_without_a_score_says_so() -> None:
    scores = score(schema(Kind.SPAN), {"val": rows(["[]"], ["[]"])}, keeps_best_epoch=False, seed=0)
    assert (scores.headline, scores.not_scored_because) == (None, "No score is defined for span answers.")


def test_no_prediction_at_all_is_a_score_of_nought() -> None:
    scores = score(SCHEMA, {"val": rows(["a", "b"], [None, None])}, keeps_best_epoch=False, seed=0)
    assert scores.headline is not None
    assert scores.headline.value == 0.0
    assert scores.metrics["val_coverage"] == 0.0


def test_groups_are_counted_beside_the_headline() -> None:
    grouped = rows(["a", "b", "a"], ["a", "b", "b"], ["g1", "g1", "g2"])
    headline = score(SCHEMA, {"val": grouped}, keeps_best_epoch=False, seed=0).headline
    assert headline is not None
    assert (headline.n, headline.n_groups) == (3, 2)


def test_the_same_predictions_give_the_same_scores() -> None:
    held_out = {"val": VAL, "test": TEST}
    assert (
        score(SCHEMA, held_out, keeps_best_epoch=True, seed=5).headline
        == score(SCHEMA, held_out, keeps_best_epoch=True, seed=5).headline
    )
