from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import bootstrap
from sklearn.metrics import cohen_kappa_score, f1_score

from training_pipeline.scoring import continuous, multilabel, nominal, ordinal
from training_pipeline.scoring.bootstrap import interval
from training_pipeline.scoring.records import Evaluation, Resampling

OPTIONS = ["1", "2", "3"]
Statistic = Callable[[NDArray[np.int64], NDArray[np.int64]], float]


def noisy(n: int, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, n, p=[0.6, 0.3, 0.1])
    return truth, np.where(rng.random(n) < 0.7, truth, rng.integers(0, 3, n))


def names(codes: NDArray[np.int64]) -> list[str]:
    return [OPTIONS[code] for code in codes]


def resampling(evaluation: Evaluation) -> Resampling:
    assert evaluation.resampling is not None
    return evaluation.resampling


def macro_f1(truth: NDArray[np.int64], predicted: NDArray[np.int64]) -> float:
    return float(f1_score(truth, predicted, labels=np.unique(truth), average="macro", zero_division=0))


def kappa(truth: NDArray[np.int64], predicted: NDArray[np.int64]) -> float:
    return float(cohen_kappa_score(truth, predicted, weights="quadratic", labels=[0, 1, 2]))


@pytest.mark.parametrize(
    ("evaluate", "statistic"), [(nominal.evaluate, macro_f1), (ordinal.evaluate, kappa)], ids=["macro_f1", "qwk"]
)
@pytest.mark.parametrize("n", [16, 60, 400])
def test_equals_the_bootstrap_of_scipy(
    evaluate: Callable[[list[str], list[str], list[str]], Evaluation], statistic: Statistic, n: int
) -> None:
    truth, predicted = noisy(n)
    expected = bootstrap(
        (truth, predicted),
        statistic,
        paired=True,
        vectorized=False,
        method="percentile",
        n_resamples=1000,
        rng=np.random.default_rng(1),
    ).confidence_interval
    found = interval(resampling(evaluate(names(truth), names(predicted), OPTIONS)), None, seed=0)
    # Two bootstraps of 1,000 draws differ by their own noise: some 4 % of the width at each end.
    assert found == pytest.approx(tuple(expected), abs=0.12 * (expected.high - expected.low))


def test_width_for_a_mean_is_that_of_the_normal_approximation() -> None:
    error = np.random.default_rng(0).exponential(size=2000)
    low, high = interval(resampling(continuous.evaluate([0.0] * 2000, error.tolist(), None)), None, seed=0) or (0, 0)
    half = 1.96 * error.std() / np.sqrt(2000)
    assert (low, high) == pytest.approx((error.mean() - half, error.mean() + half), abs=0.1 * half)


def test_few_sorts_and_many_sorts_are_drawn_from_the_same_distribution() -> None:
    # 1,000 items of 2 sorts, and the same 1,000 items each as a sort of its own.
    hit = np.arange(1000) % 4 > 0
    sets = [("a",) if h else () for h in hit]
    few = resampling(multilabel.evaluate([("a",)] * 1000, sets, ["a"]))
    assert few.statistics.shape[0] == 2
    many = Resampling(np.arange(1000), few.statistics[few.sort], few.metric)
    one, other = interval(few, None, seed=0), interval(many, None, seed=0)
    assert one is not None
    assert other == pytest.approx(one, abs=0.1 * (one[1] - one[0]))


def test_items_of_a_group_are_drawn_together() -> None:
    # Ten copies of each item say nothing new, so with the copies as groups the interval stays as wide.
    truth, predicted = noisy(150)
    alone = interval(resampling(nominal.evaluate(names(truth), names(predicted), OPTIONS)), None, seed=0)
    copies = nominal.evaluate(names(truth) * 10, names(predicted) * 10, OPTIONS)
    groups = [f"g{k}" for k in range(150)] * 10
    grouped, ungrouped = interval(resampling(copies), groups, seed=0), interval(resampling(copies), None, seed=0)
    assert alone is not None
    assert ungrouped is not None
    width = alone[1] - alone[0]
    assert grouped == pytest.approx(alone, abs=0.12 * width)
    assert ungrouped[1] - ungrouped[0] == pytest.approx(width / np.sqrt(10), rel=0.15)


def test_same_seed_same_interval() -> None:
    truth, predicted = noisy(80)
    one = resampling(nominal.evaluate(names(truth), names(predicted), OPTIONS))
    assert interval(one, None, seed=3) == interval(one, None, seed=3)
    assert interval(one, None, seed=3) != interval(one, None, seed=4)


def test_nothing_to_draw_from_gives_no_interval() -> None:
    assert interval(resampling(nominal.evaluate(["1"], ["1"], OPTIONS)), None, seed=0) is None
    assert interval(resampling(nominal.evaluate(["1", "2"], ["1", "1"], OPTIONS)), ["g", "g"], seed=0) is None


def test_draws_in_which_kappa_does_not_exist_are_left_out() -> None:
    found = interval(resampling(ordinal.evaluate(["1", "2"], ["1", "2"], OPTIONS)), None, seed=0)
    assert found == (1.0, 1.0)
