"""Trainers of later versions: known to a config, refused for a run."""

from __future__ import annotations

import json
from dataclasses import asdict, fields

import pytest

from training_pipeline.study.kinds import Kind
from training_pipeline.trainers.declaration import Declaration
from training_pipeline.trainers.errors import WorkerError
from training_pipeline.trainers.params import check_params, describe_params, parse_params
from training_pipeline.trainers.registry import DECLARED, NAMES, TRAINERS, describe, params_class, trainer

KEEP_BEST_EPOCH = {
    "hf-text-classification",
    "hf-token-classification",
    "torchvision-classify",
    "torchvision-detect",
    "ultralytics-detect",
    "llm-sft",
    "llm-dpo",
    "reward-model",
    "vlm-sft",
}
"""As the reference's table of trainers has it."""


def test_all_trainers_of_the_reference_are_known() -> None:
    others = {"setfit", "rdkit-property", "decision-prompt", "decision-calibrate", "bridge-http", "bridge-command"}
    assert set(DECLARED) == KEEP_BEST_EPOCH | others
    assert set(NAMES) == set(DECLARED) | set(TRAINERS)
    assert {name for name, declared in DECLARED.items() if declared.keeps_best_epoch} == KEEP_BEST_EPOCH


@pytest.mark.parametrize("declared", DECLARED.values(), ids=lambda declared: declared.name)
def test_a_declaration_is_whole(declared: Declaration) -> None:
    assert set(declared.kinds) <= set(Kind)
    params = declared.params_class()
    assert list(check_params(declared.name, declared.params_class, json.loads(json.dumps(asdict(params))))) == []
    for description in describe_params(declared.params_class):
        assert description.description
        if isinstance(description.default, int | float):
            assert description.range.broken_by(description.default) == ""
    json.dumps(asdict(describe(declared.name)), allow_nan=False)
    assert not describe(declared.name).available


@pytest.mark.parametrize("name", DECLARED)
def test_a_run_of_one_is_refused(name: str) -> None:
    with pytest.raises(WorkerError, match=f"^{name} is not available in this version: ") as refused:
        trainer(name)
    assert refused.value.code == "not_available"
    assert refused.value.hint == "Trainers that run: sklearn-text."


def test_where_a_run_may_not_bring_a_param() -> None:
    config_only = {
        (name, description.name)
        for name in NAMES
        for description in describe_params(params_class(name))
        if description.config_only
    }
    assert config_only == {
        ("decision-prompt", "endpoint"),
        ("decision-prompt", "api_key_env"),
        ("bridge-http", "endpoint"),
        ("bridge-http", "api_key_env"),
        ("bridge-http", "headers"),
        ("bridge-command", "command"),
    }


@pytest.mark.parametrize("name", ["llm-sft", "llm-dpo", "hf-text-classification", "vlm-sft", "reward-model"])
def test_trainers_that_can_quantise(name: str) -> None:
    parsed = parse_params(name, params_class(name), {"lora": {"quantize": "4bit", "target_modules": ["q", "v"]}})
    lora = asdict(parsed)["lora"]
    assert (lora["quantize"], lora["target_modules"], lora["r"]) == ("4bit", ("q", "v"), 16)
    again = parse_params(name, params_class(name), json.loads(json.dumps({"lora": lora})))
    assert again == parsed


def test_params_stay_where_they_are_declared() -> None:
    assert {field.name for field in fields(params_class("hf-text-classification"))} >= {
        "model_name",
        "epochs",
        "lora",
        "dp",
        "batch_size",
        "gradient_accumulation",
        "gradient_checkpointing",
        "min_instances",
    }
