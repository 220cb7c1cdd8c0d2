"""The JSON Schema of the block says what the models say: judged by a validator that is not ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.study.blocks import problems
from tests.study.test_training import BROKEN
from training_pipeline.study.block_schema import block_schema
from training_pipeline.study.training import TrainingConfig
from training_pipeline.trainers.registry import NAMES

EXAMPLE = Path(__file__).parents[1] / "data" / "example_config" / "config.yaml"
VALIDATOR = Draft202012Validator(block_schema())

BEYOND_A_SCHEMA = {
    "model_training.backend",  # names a backend of the same block
    "model_training.backends.local",
    "model_training.splits",  # the sum of the weights
    "model_training.splits.train",
    "model_training.tiling.mpp",  # two keys that exclude each other
    "model_training.writeback.gate",
    "model_training.writeback.target_precision",
}


def complaints(block: Any) -> list[str]:
    return [error.json_path for error in VALIDATOR.iter_errors(block)]


def test_it_is_a_json_schema() -> None:
    Draft202012Validator.check_schema(block_schema())
    json.dumps(block_schema(), allow_nan=False)


def test_every_key_is_described() -> None:
    properties = block_schema()["properties"]
    assert list(properties) == list(TrainingConfig.model_fields)
    assert [name for name, one in properties.items() if not one.get("description")] == []
    assert list(properties["trainer_params"]["properties"]) == list(NAMES)


def test_the_published_example_is_valid() -> None:
    assert complaints(yaml.safe_load(EXAMPLE.read_text())["model_training"]) == []


@pytest.mark.parametrize("block", [block for block, _ in BROKEN], ids=[problem.split(":")[0] for _, problem in BROKEN])
def test_it_refuses_what_the_models_refuse(block: Any) -> None:
    (problem,) = problems(block)
    # JSON knows neither NaN nor infinity, and takes 2.0 for a whole number.
    is_beyond = problem.message.endswith(("not nan.", "not inf.", "not 2.0.")) or problem.path in BEYOND_A_SCHEMA
    if not is_beyond:
        assert complaints(json.loads(json.dumps(block))) != []


@pytest.mark.parametrize(
    ("params", "valid"),
    [
        ({"lora": True}, True),
        ({"lora": {"r": 8, "quantize": "4bit"}}, True),
        ({"lora": {"quantize": "3bit"}}, False),
        ({"lora": {"rank": 8}}, False),
        ({"dp": None}, True),
        ({"dp": {"epsilon": 0}}, False),
        ({"epochs": "3"}, False),
        ({"epoch": 3}, False),
        ({"class_weights": {"a": 2}}, True),
    ],
)
def test_params_of_trainers(params: dict[str, Any], *, valid: bool) -> None:
    assert (complaints({"trainer_params": {"hf-text-classification": params}}) == []) is valid
