"""`validate` as people and scripts meet it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import call
from tests.studies import make_study
from training_pipeline.study.block_schema import block_schema
from training_pipeline.study.config import TRAINING_VARIABLE, check_study

BROKEN = Path(__file__).parents[1] / "data" / "broken_config"
EXAMPLE = Path(__file__).parents[1] / "data" / "example_config"


def test_a_study_that_is_fine(tmp_path: Path) -> None:
    said = call("validate", str(make_study(tmp_path)))
    assert (said.status, said.err) == (0, "")
    assert said.out == f"{tmp_path / 'config.yaml'}: fine. Schemas: sentiment (nominal).\n"
    assert call("validate", str(EXAMPLE), "--strict").status == 0


def test_problems_are_told_on_stderr_as_the_report_has_them() -> None:
    said = call("validate", str(BROKEN))
    assert (said.status, said.out) == (1, "")
    assert said.err == check_study(BROKEN).report.describe() + "\n"


def test_warnings_fail_only_where_they_should(tmp_path: Path) -> None:
    make_study(tmp_path, training={"retain_run": 3})
    said = call("validate", str(tmp_path))
    assert said.status == 0
    assert said.err.startswith("Warning: model_training.retain_run (config.yaml, line ")
    assert call("validate", str(tmp_path), "--strict").status == 1


def test_json_is_one_document_of_a_stable_shape(tmp_path: Path) -> None:
    make_study(tmp_path, training={"retain_runs": -1, "queue_maxx": 3})
    said = call("validate", str(tmp_path), "--json")
    assert (said.status, said.err) == (1, "")
    lines = (tmp_path / "config.yaml").read_text().splitlines()
    assert said.document == {
        "problems": [
            {
                "path": "model_training.retain_runs",
                "line": lines.index("  retain_runs: -1") + 1,
                "column": 3,
                "message": "Must be at least 0, not -1.",
                "hint": "",
                "file": str(tmp_path / "config.yaml"),
            }
        ],
        "warnings": [
            {
                "path": "model_training.queue_maxx",
                "line": lines.index("  queue_maxx: 3") + 1,
                "column": 3,
                "message": "No such key, so it changes nothing.",
                "hint": "Did you mean queue_max?",
                "file": str(tmp_path / "config.yaml"),
            }
        ],
    }


@pytest.mark.parametrize("content", ["a: [", "- a", "a: &a [*a]", "\x00"])
def test_what_cannot_be_read_is_told_with_its_place(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.yaml").write_text(content)
    said = call("validate", str(tmp_path))
    assert said.status == 2
    assert said.err.startswith(f"Error: {tmp_path / 'config.yaml'}, line ")
    answer = call("validate", str(tmp_path), "--json")
    assert answer.status == 2
    assert answer.document["code"] == "bad_config"


def test_a_config_that_is_not_there(tmp_path: Path) -> None:
    assert call("validate", str(tmp_path / "none.yaml")).status == 2


def test_the_schema_needs_no_config() -> None:
    said = call("validate", "--schema")
    assert said.status == 0
    assert said.document == json.loads(json.dumps(block_schema()))


def test_every_command_refuses_a_broken_study_with_the_report() -> None:
    for command in (["run", "--schema", "sentiment"], ["runs"], ["trainers"], ["check", "local"]):
        said = call(*command, str(BROKEN))
        assert said.status == 1, command
        assert said.err == f"Error: {check_study(BROKEN).report.describe()}\n"


def test_a_file_named_before_the_command_replaces_the_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TRAINING_VARIABLE, "")
    make_study(tmp_path, training={"retain_runs": -1})
    ours = tmp_path / "ours.yaml"
    ours.write_text("enabled: true\nqueue_max: -1\n")
    said = call("--training", str(ours), "validate", str(tmp_path), "--json")
    assert [(problem["path"], problem["file"]) for problem in said.document["problems"]] == [
        ("model_training.queue_max", str(ours))
    ]
