from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from tests.scoring.rows import rows, schema, score_val
from training_pipeline.scoring.continuous import evaluate
from training_pipeline.scoring.held_out import score
from training_pipeline.study.kinds import Kind


@pytest.mark.parametrize("seed", range(5))
def test_equals_scikit_learn_and_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truths = rng.integers(0, 8, 60) / 2
    predictions = truths * rng.normal() + rng.normal(size=60)
    assert evaluate(truths.tolist(), predictions.tolist(), None).metrics == pytest.approx(
        {
            "mae": mean_absolute_error(truths, predictions),
            "rmse": root_mean_squared_error(truths, predictions),
            "r2": r2_score(truths, predictions),
            "spearman": spearmanr(truths, predictions).statistic,
        },
        abs=1e-12,
    )


def test_a_missing_prediction_counts_as_the_farther_end() -> None:
    found = evaluate([1.0, 4.0, 2.0], [None, None, 2.0], (0.0, 5.0))
    assert found.metrics == evaluate([1.0, 4.0, 2.0], [5.0, 0.0, 2.0], None).metrics


@pytest.mark.parametrize("seed", range(40))
def test_leaving_items_out_never_lowers_the_error_whichever_they_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_items = int(rng.integers(1, 7))
    truths, predictions = rng.normal(0, 2, n_items).tolist(), rng.normal(0, 4, n_items).tolist()
    whole = evaluate(truths, predictions, (-1.0, 1.0)).metrics
    for kept in product([True, False], repeat=n_items):
        left = [prediction if stays else None for prediction, stays in zip(predictions, kept, strict=True)]
        partial = evaluate(truths, left, (-1.0, 1.0)).metrics
        assert partial["mae"] >= whole["mae"] - 1e-12
        assert partial["rmse"] >= whole["rmse"] - 1e-12
        assert partial.get("r2", 0.0) <= whole.get("r2", 0.0) + 1e-12


def test_a_prediction_beyond_the_ends_counts_in_full_until_a_missing_one_is_worse() -> None:
    found = evaluate([1.0, 0.25], [1.5, 9.0], (0.0, 1.0)).metrics
    assert found["mae"] == pytest.approx((0.5 + 0.75) / 2)


def test_scale_comes_before_the_range_of_train() -> None:
    def mae(scale: tuple[float, float] | None, train_range: tuple[float, float] | None) -> float | None:
        scores = score(
            schema(Kind.CONTINUOUS, scale=scale),
            {"val": rows([0.0, 1.0], [None, 1.0])},
            keeps_best_epoch=False,
            seed=0,
            train_range=train_range,
            draws=5,
        )
        return scores.metrics.get("val_mae")

    assert mae((-1.0, 10.0), (-1.0, 4.0)) == 5.0
    assert mae(None, (-1.0, 4.0)) == 2.0
    assert mae(None, None) is None


def test_without_a_scale_a_missing_prediction_cannot_be_judged() -> None:
    scores = score_val(schema(Kind.CONTINUOUS), [0.0, 1.0, 2.0], [None, 1.0, 2.0])
    assert scores.metrics == {"val_coverage": pytest.approx(2 / 3), "val_support": 3}
    assert set(scores.not_scored) == {"val_mae", "val_rmse", "val_r2", "val_spearman"}
    assert scores.headline is None
    assert scores.not_scored_because == "1 of 3 items have no prediction, and no scale says how wrong that is."


def test_metrics_that_do_not_exist_are_absent_with_a_reason() -> None:
    same_truth = evaluate([2.0, 2.0], [1.0, 3.0], None)
    assert set(same_truth.metrics) == {"mae", "rmse"}
    assert set(same_truth.not_scored) == {"r2", "spearman"}
    same_prediction = evaluate([1.0, 3.0], [2.0, 2.0], None)
    assert same_prediction.metrics == {"mae": 1.0, "rmse": 1.0, "r2": 0.0}
    assert set(same_prediction.not_scored) == {"spearman"}


def test_zero_is_a_prediction() -> None:
    assert evaluate([3.0, 0.0], [0.0, 0.0], (0.0, 9.0)).metrics["mae"] == 1.5
