"""`trainers` and `validate`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import call, command_line
from tests.running import review_study
from tests.studies import SENTIMENT


def test_trainers_tells_kinds_params_licence_and_what_is_installed() -> None:
    (one,) = call("trainers", "--json").document["trainers"]
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
    (one,) = call("trainers", str(config), "--json").document["trainers"]
    assert one["schemas"] == ["sentiment"]
    assert "schemas of this study: sentiment" in call("trainers", str(config)).out


def test_validate_is_content_with_a_good_study(tmp_path: Path) -> None:
    config = review_study(tmp_path)
    said = call("validate", str(config))
    assert (said.status, said.out) == (0, f"{config}: fine. Schemas: sentiment (nominal).\n")


def test_validate_lists_the_problems_with_their_keys(tmp_path: Path) -> None:
    config = review_study(tmp_path, training={"splits": {"train": -1}, "retain_runs": "5"})
    said = call("validate", str(config), "--json")
    assert said.status == 1
    (problem,) = said.document["problems"]
    assert "model_training.splits" in problem["message"]
    assert "model_training.retain_runs" in problem["message"]


def test_validate_of_what_is_not_yaml_exits_2_with_line_and_column(tmp_path: Path) -> None:
    config = review_study(tmp_path)
    config.write_text("model_training: {enabled: true\nother: 1\n")
    said = call("validate", str(config), "--json")
    assert (said.status, said.document["code"]) == (2, "bad_config")
    assert said.document["error"].startswith(f"{config}, line 2, column 6: not YAML: ")


def test_validate_of_a_missing_file_exits_2(tmp_path: Path) -> None:
    said = call("validate", str(tmp_path / "missing.yaml"))
    assert said.status == 2
    assert str(tmp_path / "missing.yaml") in said.err


def test_an_unknown_command_is_wrong_usage() -> None:
    assert call("trian").status == 2


def test_help_names_every_command_and_the_exit_statuses() -> None:
    said = command_line("--help")
    assert said.status == 0
    for command in ("validate", "trainers", "run", "runs", "show", "status", "publish", "retract", "audit", "up"):
        assert f"\n  {command} " in said.out
    assert "130 interrupted" in said.out
