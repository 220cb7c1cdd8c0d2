"""`trainers`, and what all commands have in common."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import call, command_line
from tests.running import review_study
from tests.studies import SENTIMENT
from training_pipeline.trainers.registry import DECLARED, NAMES, TRAINERS


def test_trainers_tells_kinds_params_licence_and_what_is_installed() -> None:
    one = call("trainers", "--json").document["trainers"][0]
    assert one["name"] == "sklearn-text"
    assert one["kinds"] == ["nominal", "ordinal", "multilabel", "continuous"]
    assert (one["licence"], one["installed"], one["missing"]) == ("BSD-3-Clause", True, [])
    params = {param["name"]: param for param in one["params"]}
    assert (params["min_instances"]["type"], params["min_instances"]["default"]) == ("a whole number", 10)
    assert all(param["description"] for param in one["params"])
    assert "schemas" not in one


def test_with_a_study_it_tells_which_schemas_each_can_learn(tmp_path: Path) -> None:
    span = {"annotation_type": "span", "name": "parts", "description": "?", "labels": ["a"]}
    config = review_study(tmp_path, schemes=[SENTIMENT, span])
    schemas = {one["name"]: one["schemas"] for one in call("trainers", str(config), "--json").document["trainers"]}
    assert schemas["sklearn-text"] == ["sentiment"]
    assert schemas["hf-token-classification"] == ["parts"]
    assert schemas["llm-dpo"] == []
    assert "schemas of this study: sentiment" in call("trainers", str(config)).out


def test_with_a_study_each_param_says_what_is_in_effect_and_where_it_comes_from(tmp_path: Path) -> None:
    config = review_study(tmp_path, training={"trainer_params": {"sklearn-text": {"calibrate": False}}})
    document = call("trainers", str(config), "--json").document
    assert document["param_order"] == ["run", "trainer_params", "default"]
    params = {param["name"]: param for param in document["trainers"][0]["params"]}
    assert (params["calibrate"]["value"], params["calibrate"]["source"]) == (False, "trainer_params")
    assert (params["min_instances"]["value"], params["min_instances"]["source"]) == (10, "default")
    assert params["calibrate"]["default"] is True
    assert "value" not in call("trainers", "--json").document["trainers"][0]["params"][0]


def test_trainers_of_later_versions_are_listed_as_such() -> None:
    document = call("trainers", "--json").document
    assert [one["name"] for one in document["trainers"] if one["available"]] == list(TRAINERS)
    assert [one["name"] for one in document["trainers"]] == list(NAMES)
    assert call("trainers").out.count("not available in this version") == len(DECLARED)


def test_an_unknown_command_is_wrong_usage() -> None:
    assert call("trian").status == 2


def test_help_names_every_command_and_the_exit_statuses() -> None:
    said = command_line("--help")
    assert said.status == 0
    commands = ("validate", "check", "trainers", "run", "runs", "show", "status", "publish", "retract", "audit", "up")
    for command in commands:
        assert f"\n  {command} " in said.out
    assert "130 interrupted" in said.out
