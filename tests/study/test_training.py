"""The block's models: defaults, types and ranges."""

from __future__ import annotations

from typing import Any

import pytest

from tests.study.blocks import problems, read, warnings
from training_pipeline.study.block import read_block
from training_pipeline.study.problems import Findings
from training_pipeline.study.training import TrainingConfig


def test_defaults() -> None:
    training = read({})
    assert training == TrainingConfig()
    assert (training.enabled, training.split_seed, training.aggregation, training.retain_runs) == (
        False,
        0,
        "consensus",
        5,
    )
    assert list(training.splits.items()) == [("train", 0.7), ("val", 0.15), ("test", 0.15)]
    assert (training.queue_max, training.grace_seconds, training.device, training.backend) == (10, 20, "auto", "local")
    assert (training.max_wall_seconds, training.max_ram_mb, training.num_threads, training.splits_by) == (None,) * 4
    assert (training.backends, training.trainer_params, training.allowed_modules) == ({}, {}, ())
    retrain = training.auto_retrain
    assert (retrain.enabled, retrain.min_interval_s, retrain.update_frequency) == (False, 600, 25)
    shown = training.writeback
    assert (shown.schemas, shown.min_confidence, shown.field, shown.include_unlabeled) == (
        (),
        0.0,
        "predictions",
        False,
    )
    assert (shown.live, shown.allow_slider, shown.gate, shown.target_precision) == (False, False, "none", None)
    tiling = training.tiling
    assert (tiling.enabled, tiling.min_size, tiling.tile_size, tiling.overlap) == ("auto", 2048, 1024, 0.125)
    assert (tiling.min_visible, tiling.empty_tiles, tiling.format, tiling.merge_iou) == (0.3, 0.1, "png", 0.5)


def test_defaults_of_backends() -> None:
    blocks = {"a": {"type": "ssh", "host": "h"}, "b": {"type": "slurm", "remote_dir": "/r"}, "c": {"type": "agent"}}
    ssh, slurm, agent = (backend.model_dump() for backend in read({"backends": blocks}).backends.values())
    assert (ssh["python"], ssh["remote_dir"], ssh["gpus"]) == ("python3", "~/.cache/training-pipeline", "auto")
    assert (ssh["min_free_gpu_mb"], ssh["fetch_artifacts"], ssh["connect_timeout_s"]) == (0, True, 15)
    assert (slurm["host"], slurm["poll_interval_s"], slurm["fetch_artifacts"]) == (None, 10, True)
    assert agent["lease_seconds"] == 300


def test_splits_keep_the_order_written() -> None:
    training = read({"splits": {"test": 2, "train": 7, "val": 0}})
    assert list(training.splits.items()) == [("test", 2.0), ("train", 7.0), ("val", 0.0)]


def test_a_section_without_keys_is_left_out() -> None:
    empty: dict[str, Any] = dict.fromkeys(("auto_retrain", "writeback", "tiling", "backends", "trainer_params"))
    assert read({**empty, "num_threads": None}) == TrainingConfig()
    assert read({"trainer_params": {"sklearn-text": None}}).trainer_params == {"sklearn-text": {}}


@pytest.mark.parametrize(
    ("gpus", "read_as"), [("auto", "auto"), ("none", "none"), (1, (1,)), ([0, 2], (0, 2)), ("0,1", (0, 1))]
)
def test_gpus(gpus: object, read_as: object) -> None:
    backend = read({"backends": {"a": {"type": "ssh", "host": "h", "gpus": gpus}}}).backends["a"]
    assert backend.model_dump()["gpus"] == read_as


@pytest.mark.parametrize("gate", ["none", "not_worse", "macro_f1 >= 0.7", "mae<=1", "rmse <= 1.5e-1"])
def test_gates(gate: str) -> None:
    assert read({"writeback": {"gate": gate}}).writeback.gate == gate


BROKEN: list[tuple[dict[Any, Any], str]] = [
    ({"splits": {"train": "x"}}, "splits.train: Must be a number, not 'x'."),
    ({"splits": {"train": "0.7"}}, "splits.train: Must be a number, not '0.7'. Take the quotes away."),
    ({"splits": {"train": "7e-1"}}, "splits.train: Must be a number, not '7e-1'. YAML takes 7e-1 for a text; wr"),
    ({"splits": {"train": True}}, "splits.train: Must be a number, not True."),
    ({"splits": {"train": float("nan")}}, "splits.train: Must be a finite number, not nan."),
    ({"splits": {"train": -0.1}}, "splits.train: Must be at least 0, not -0.1."),
    ({"splits": {"train": 1, "dev": 1}}, "splits.dev: There is no split 'dev'; the splits are train, val and test"),
    ({"splits": {"train": 1, 5: 1}}, "splits.5: There is no split '5';"),
    ({"splits": {"val": 1}}, "splits.train: Is missing. Give it a weight: models learn from it."),
    ({"splits": {}}, "splits.train: Is missing."),
    ({"splits": {"train": 0}}, "splits: The weights add up to 0. Give at least train a weight above 0."),
    ({"splits": [1]}, "splits: Must be a mapping of keys to values, not [1]."),
    ({"splits": None}, "splits: Must be a mapping of keys to values, and has no value. Give it one, or delete"),
    ({"split_seed": "5"}, "split_seed: Must be a whole number, not '5'. Take the quotes away."),
    ({"split_seed": True}, "split_seed: Must be a whole number, not True."),
    ({"split_seed": 2.0}, "split_seed: Must be a whole number, not 2.0."),
    ({"split_seed": 2**63}, "split_seed: Must be at most 9.22337e+18, not 9223372036854775808."),
    ({"split_seed": -1}, "split_seed: Must be at least 0, not -1."),
    ({"retain_runs": -1}, "retain_runs: Must be at least 0, not -1."),
    ({"retain_runs": None}, "retain_runs: Must be a whole number, and has no value."),
    ({"queue_max": -1}, "queue_max: Must be at least 0, not -1."),
    ({"grace_seconds": float("inf")}, "grace_seconds: Must be a finite number, not inf."),
    ({"grace_seconds": -1}, "grace_seconds: Must be at least 0, not -1."),
    ({"max_wall_seconds": 0}, "max_wall_seconds: Must be above 0, not 0."),
    ({"max_ram_mb": 0}, "max_ram_mb: Must be above 0, not 0."),
    ({"num_threads": 0}, "num_threads: Must be at least 1, not 0."),
    ({"device": "gpu"}, "device: Must be auto, cpu, cuda or mps, not 'gpu'. Did you mean cuda?"),
    ({"aggregation": "major"}, "aggregation: Must be consensus or majority, not 'major'. Did you mean majority?"),
    ({"enabled": "yes"}, "enabled: Must be true or false, not 'yes'. Take the quotes away."),
    ({"allowed_modules": "xgboost"}, "allowed_modules: Must be a list, not 'xgboost'. Write [xgboost]."),
    ({"allowed_modules": [3]}, "allowed_modules[0]: Must be a text, not 3. Put it in quotes."),
    ({"splits_by": ""}, "splits_by: Must be a text that is not empty, not ''."),
    ({"splits_by": False}, "splits_by: Must be a text, not False. Unquoted, YAML reads yes, no, on and off as"),
    ({"backend": "gpu"}, "backend: There is no backend 'gpu'. There are local."),
    ({"writeback": {"min_confidence": 1.5}}, "writeback.min_confidence: Must be at most 1, not 1.5."),
    ({"writeback": {"min_confidence": True}}, "writeback.min_confidence: Must be a number, not True."),
    ({"writeback": {"schemas": [1]}}, "writeback.schemas[0]: Must be a text, not 1."),
    ({"writeback": {"schemas": "tone"}}, "writeback.schemas: Must be a list, not 'tone'. Write [tone]."),
    ({"writeback": {"shcemas": []}}, "writeback.shcemas: writeback has no such key. Did you mean schemas?"),
    ({"writeback": {True: 1}}, "writeback.True: writeback has no such key."),
    ({"writeback": True}, "writeback: Must be a mapping of keys to values, not True."),
    ({"writeback": {"target_precision": 1}}, "writeback.target_precision: Must be below 1, not 1."),
    (
        {"writeback": {"target_precision": 0.9, "min_confidence": 0.5}},
        "writeback.target_precision: Stands in place of min_confidence, which is given too. Keep one of them.",
    ),
    (
        {"writeback": {"gate": "best"}},
        "writeback.gate: Must be none, not_worse or a bound of a metric, not 'best'.",
    ),
    (
        {"writeback": {"gate": "macro_f2 >= 1"}},
        "writeback.gate: There is no metric 'macro_f2'. Did you mean macro_f1",
    ),
    ({"writeback": {"gate": "mae >= 1"}}, "writeback.gate: Of mae a lower value is better. Write mae <= 1."),
    ({"writeback": {"gate": "qwk >= nan"}}, "writeback.gate: 'nan' is no number."),
    ({"auto_retrain": {"accept_license": True}}, "auto_retrain.accept_license: auto_retrain has no such key. Did"),
    ({"auto_retrain": {"update_frequency": 0}}, "auto_retrain.update_frequency: Must be at least 1, not 0."),
    ({"auto_retrain": {"min_interval_s": -1}}, "auto_retrain.min_interval_s: Must be at least 0, not -1."),
    ({"auto_retrain": {"params": [1]}}, "auto_retrain.params: Must be a mapping of keys to values, not [1]."),
    ({"trainer_params": {"t": 3}}, "trainer_params.t: Must be a mapping of keys to values, not 3."),
    ({"trainer_params": {"": {}}}, "trainer_params.\"\": A name must be a text that is not empty, not ''."),
    ({"tiling": {"overlap": 1}}, "tiling.overlap: Must be below 1, not 1."),
    ({"tiling": {"enabled": "yes"}}, "tiling.enabled: Must be auto, true or false, not 'yes'."),
    ({"tiling": {"mpp": 0.5, "level": 1}}, "tiling.mpp: Stands in place of level, which is given too."),
    ({"tiling": {"max_tiles_per_image": 0}}, "tiling.max_tiles_per_image: Must be at least 1, not 0."),
    ({"tiling": {"format": "gif"}}, "tiling.format: Must be png or jpeg, not 'gif'."),
    ({"backends": {"a": {}}}, "backends.a.type: Is missing. Give it one of local, ssh, slurm, agent."),
    ({"backends": {"a": None}}, "backends.a: Must be a mapping of keys to values, and has no value."),
    ({"backends": {"a.b": {"type": "s"}}}, "backends.\"a.b\".type: There is no type of backend 's'."),
    ({"backends": {"a": {"type": "ssh"}}}, "backends.a.host: Is missing. Give it a text."),
    ({"backends": {"a": {"type": "slurm"}}}, "backends.a.remote_dir: Is missing. Give it a text."),
    (
        {"backends": {"a": {"type": "agent", "host": "h"}}},
        "backends.a.host: A backend of type agent has no such key",
    ),
    (
        {"backends": {"a": {"type": "ssh", "host": "h", "gpus": [True]}}},
        "backends.a.gpus: Must be auto, none or GPU indices, not [True]. Indices are written [0, 1].",
    ),
    (
        {"backends": {"a": {"type": "ssh", "host": "h", "gpus": [0, 0]}}},
        "backends.a.gpus: Must be auto, none or GPU indices, not [0, 0].",
    ),
    (
        {"backends": {"a": {"type": "ssh", "host": "h", "port": 70000}}},
        "backends.a.port: Must be at most 65535, not",
    ),
    (
        {"backends": {"a": {"type": "ssh", "host": "h", "env": {"A": 1}}}},
        "backends.a.env.A: Must be a text, not 1.",
    ),
    (
        {"backends": {"a": {"type": "slurm", "remote_dir": "/r", "time": 5400}}},
        "backends.a.time: Must be a text, not 5400. Put it in quotes: without them YAML reads 1:30:00 as",
    ),
    (
        {"backends": {"a": {"type": "slurm", "remote_dir": "/r", "mem": True}}},
        "backends.a.mem: Must be megabytes, or a text such as 16G, not True.",
    ),
    (
        {"backends": {"local": {"type": "ssh", "host": "h"}}},
        "backends.local: local is this machine. Give the backend",
    ),
]


@pytest.mark.parametrize(("block", "problem"), BROKEN)
def test_a_problem_is_named_by_its_full_key(block: dict[Any, Any], problem: str) -> None:
    (found,) = problems(block)
    assert found.in_one_line().startswith(f"model_training.{problem}")


@pytest.mark.parametrize(
    ("block", "key"),
    [
        ({"retain_run": 1, "splits": {"train": 1}}, "retain_run"),
        ({7: 1}, "7"),
        ({"tiling": {"tilesize": 3}}, "tiling.tilesize"),
    ],
)
def test_an_unknown_key_of_the_block_or_of_tiling_is_a_warning(block: dict[Any, Any], key: str) -> None:
    assert read(block).retain_runs == 5
    (warning,) = warnings(block)
    assert warning.path == f"model_training.{key}"
    assert warning.message == "No such key, so it changes nothing."


def test_the_key_that_was_meant_is_suggested() -> None:
    assert [warning.hint for warning in warnings({"retain_run": 1})] == ["Did you mean retain_runs?"]


def test_what_can_be_read_is_read_where_the_rest_cannot() -> None:
    raw = {"retain_runs": -1, "queue_max": 3, "writeback": {"field": 3, "min_confidence": 0.5}, "backends": {"a": 1}}
    findings = Findings()
    training = read_block(raw, findings).training
    assert len(findings.problems) == 3
    assert (training.retain_runs, training.queue_max, training.writeback.min_confidence) == (5, 3, 0.5)
