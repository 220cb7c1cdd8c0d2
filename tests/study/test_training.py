from __future__ import annotations

from typing import Any

import pytest

from training_pipeline.errors import ConfigError
from training_pipeline.study.training import TrainingConfig, read_training, unknown_keys


def test_defaults() -> None:
    training = read_training({})
    assert training == TrainingConfig()
    assert (training.enabled, training.split_seed, training.aggregation, training.retain_runs) == (
        False,
        0,
        "consensus",
        5,
    )
    assert list(training.splits.items()) == [("train", 0.7), ("val", 0.15), ("test", 0.15)]
    assert (training.queue_max, training.grace_seconds, training.device, training.backend) == (10, 20, "auto", "local")
    assert training.writeback.schemas == ()
    assert training.writeback.field == "predictions"
    assert training.auto_retrain.update_frequency == 25


def test_splits_keep_the_order_written() -> None:
    training = read_training({"splits": {"test": 2, "train": 7, "val": 0}})
    assert list(training.splits.items()) == [("test", 2.0), ("train", 7.0), ("val", 0.0)]


@pytest.mark.parametrize(
    ("block", "problem"),
    [
        ({"splits": {"train": "x"}}, "model_training.splits.train: must be a number, not 'x'"),
        ({"splits": {"train": True}}, "model_training.splits.train: must be a number, not True"),
        ({"splits": {"train": float("nan")}}, "model_training.splits.train: must be a finite number, not nan"),
        ({"splits": {"train": -0.1}}, "model_training.splits.train: must be at least 0, not -0.1"),
        (
            {"splits": {"train": 1, "dev": 1}},
            "model_training.splits.dev: the name must be 'train', 'val' or 'test'",
        ),
        ({"splits": {"val": 1}}, "model_training.splits: train is missing; give it a weight"),
        (
            {"splits": {"train": 0}},
            "model_training.splits: the weights add up to 0; give at least train a weight above 0",
        ),
        ({"splits": [1]}, "model_training.splits: must be a mapping of keys to values, not [1]"),
        ({"split_seed": "5"}, "model_training.split_seed: must be a whole number, not '5'"),
        ({"split_seed": True}, "model_training.split_seed: must be a whole number, not True"),
        ({"retain_runs": -1}, "model_training.retain_runs: must be at least 0, not -1"),
        ({"grace_seconds": float("inf")}, "model_training.grace_seconds: must be a finite number, not inf"),
        ({"max_ram_mb": 0}, "model_training.max_ram_mb: must be above 0, not 0"),
        ({"num_threads": 0}, "model_training.num_threads: must be at least 1, not 0"),
        ({"device": "gpu"}, "model_training.device: must be 'auto', 'cpu', 'cuda' or 'mps', not 'gpu'"),
        ({"enabled": "yes"}, "model_training.enabled: must be true or false, not 'yes'"),
        ({"allowed_modules": "xgboost"}, "model_training.allowed_modules: must be a list, not 'xgboost'"),
        ({"splits_by": ""}, "model_training.splits_by: must not be empty, not ''"),
        ({"writeback": {"min_confidence": 1.5}}, "model_training.writeback.min_confidence: must be at most 1, not 1.5"),
        ({"writeback": {"schemas": [1]}}, "model_training.writeback.schemas[0]: must be a text, not 1"),
        ({"writeback": {"shcemas": []}}, "model_training.writeback.shcemas: no such key; did you mean schemas?"),
        (
            {"auto_retrain": {"accept_license": True}},
            "model_training.auto_retrain.accept_license: no such key; did you mean accept_licence?",
        ),
        (
            {"auto_retrain": {"enabled": True, "trainer": "t"}},
            "model_training.auto_retrain: enabled needs a trainer and at least one of schemas",
        ),
        ({"trainer_params": {"t": 3}}, "model_training.trainer_params.t: must be a mapping of keys to values, not 3"),
    ],
)
def test_a_problem_is_named_by_its_full_key(block: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_training(block)
    assert str(caught.value).splitlines() == ["model_training has 1 problem", problem]


def test_every_problem_is_listed_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        read_training({"split_seed": -1, "splits": {"train": "x"}, "writeback": {"field": 3}})
    assert str(caught.value).splitlines()[0] == "model_training has 3 problems"
    assert len(str(caught.value).splitlines()) == 4


def test_an_unknown_key_of_the_block_is_a_warning() -> None:
    assert read_training({"retain_run": 1}).retain_runs == 5
    (warning,) = unknown_keys({"retain_run": 1, "splits": {}})
    assert warning == "model_training.retain_run: no such key, so it changes nothing; did you mean retain_runs?"
