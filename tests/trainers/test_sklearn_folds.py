"""Which rows a fit leaves out."""

from __future__ import annotations

import numpy as np

from training_pipeline.trainers.sklearn_folds import plan_left_out


def ungrouped(n: int) -> list[str | None]:
    return [None] * n


def test_small_data_are_left_out_once_each_with_their_share_of_each_class() -> None:
    classes = np.repeat([0, 1], [150, 50])
    plan = plan_left_out(classes, ungrouped(200), seed=3)
    assert plan.refit
    assert sorted(np.concatenate(plan.folds).tolist()) == list(range(200))
    assert [np.bincount(classes[fold]).tolist() for fold in plan.folds] == [[30, 10]] * 5


def test_from_two_thousand_on_one_fifth_is_left_out() -> None:
    plan = plan_left_out(np.zeros(2_000, dtype=np.intp), ungrouped(2_000), seed=3)
    assert (len(plan.folds), len(plan.folds[0]), plan.refit) == (1, 400, True)


def test_from_fifty_thousand_on_ten_thousand_stay_out_for_good() -> None:
    plan = plan_left_out(np.zeros(60_000, dtype=np.intp), ungrouped(60_000), seed=3)
    assert (len(plan.folds), len(plan.folds[0]), plan.refit) == (1, 10_000, False)


def test_a_class_with_one_row_is_never_left_out() -> None:
    classes = np.array([0] * 60 + [1])
    assert 60 not in np.concatenate(plan_left_out(classes, ungrouped(61), seed=0).folds)


def test_a_group_is_left_out_together() -> None:
    groups: list[str | None] = [f"review {row % 20}" for row in range(100)]
    plan = plan_left_out(np.arange(100) % 2, groups, seed=0)
    for fold in plan.folds:
        inside = {groups[row] for row in fold}
        outside = {groups[row] for row in range(100) if row not in set(fold.tolist())}
        assert not inside & outside


def test_the_seed_decides() -> None:
    classes = np.zeros(100, dtype=np.intp)
    one, again, other = (plan_left_out(classes, ungrouped(100), seed=s).folds[0].tolist() for s in (1, 1, 2))
    assert one == again
    assert one != other


def test_few_groups_make_few_folds() -> None:
    classes = np.arange(100) % 2
    two = plan_left_out(classes, [f"slide {row % 4 // 2}" for row in range(100)], seed=0)
    assert sorted(map(len, two.folds)) == [50, 50]
    assert plan_left_out(classes, ["slide"] * 100, seed=0).folds == ()


def test_rows_of_one_group_are_all_fitted_on_however_many() -> None:
    plan = plan_left_out(np.arange(60_000) % 2, ["slide"] * 60_000, seed=0)
    assert (plan.folds, plan.refit) == ((), True)
