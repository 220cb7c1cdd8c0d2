"""A training.yaml beside the config: what config.yaml must say for the server to show our pre-labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.studies import make_study
from training_pipeline.study.config import TRAINING_VARIABLE, check_study, load_study

OURS = {"enabled": True, "writeback": {"schemas": ["sentiment"], "min_confidence": 0.8, "field": "ours"}}
THEIRS = {"enabled": True, "writeback": {"schemas": ["sentiment"], "min_confidence": 0.5, "field": "ours"}}


def study(directory: Path, theirs: Any, ours: Any = OURS) -> Path:
    make_study(directory, model_training=theirs)
    (directory / "training.yaml").write_text(yaml.safe_dump(ours))
    return directory


def test_two_blocks_that_go_together_are_fine(tmp_path: Path) -> None:
    report = check_study(study(tmp_path, THEIRS)).report
    assert (report.problems, report.warnings) == ((), ())


@pytest.mark.parametrize(
    ("theirs", "key"),
    [
        ({**THEIRS, "enabled": False}, "enabled"),
        ({"writeback": THEIRS["writeback"]}, "enabled"),
        ({"enabled": True, "writeback": {"min_confidence": 0.5, "field": "ours"}}, "writeback.schemas"),
        ({"enabled": True, "writeback": {"schemas": ["tone"], "field": "ours"}}, "writeback.schemas"),
        ({"enabled": True, "writeback": {"schemas": "sentiment", "field": "ours"}}, "writeback.schemas"),
        ({"enabled": True, "writeback": {"schemas": ["sentiment"]}}, "writeback.field"),
        (
            {"enabled": True, "writeback": {"schemas": ["sentiment"], "min_confidence": 0.81, "field": "ours"}},
            "writeback.min_confidence",
        ),
    ],
)
def test_a_server_that_would_not_show_our_prelabels_is_a_problem(tmp_path: Path, theirs: Any, key: str) -> None:
    (problem,) = check_study(study(tmp_path, theirs)).report.problems
    assert problem.path == f"model_training.{key}"
    assert problem.file == tmp_path / "config.yaml"


@pytest.mark.parametrize("theirs", [None, [], "off", {"enabled": False}])
def test_a_server_that_shows_nothing_is_fine_where_we_publish_nothing(tmp_path: Path, theirs: Any) -> None:
    report = check_study(study(tmp_path, theirs, {"enabled": True})).report
    assert (report.problems, report.warnings) == ((), ())


def test_two_that_train_are_warned_about(tmp_path: Path) -> None:
    (warning,) = check_study(study(tmp_path, {**THEIRS, "auto_retrain": {"enabled": True}})).report.warnings
    assert (warning.path, warning.file) == ("model_training.auto_retrain.enabled", tmp_path / "config.yaml")


def test_problems_of_our_block_stand_in_its_own_file(tmp_path: Path) -> None:
    study(
        tmp_path, {"split_seed": "not ours to read"}, {"split_seed": -1, "trainer_params": {"sklearn-text": {"x": 1}}}
    )
    found = [(p.path, p.file, p.line) for p in check_study(tmp_path).report.problems]
    file = tmp_path / "training.yaml"
    assert found == [
        ("model_training.split_seed", file, 1),
        ("model_training.trainer_params.sklearn-text.x", file, 4),
    ]


def test_under_its_name_it_holds_nothing_else(tmp_path: Path) -> None:
    study(tmp_path, {}, {"model_training": {"queue_max": -1}, "split_seed": 3})
    report = check_study(tmp_path).report
    assert [(p.path, p.line) for p in report.problems] == [("model_training.queue_max", 2)]
    assert [(w.path, w.line) for w in report.warnings] == [("split_seed", 3)]


def test_a_file_named_in_the_environment_comes_before_the_one_beside_the_config(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study(tmp_path, {}, {"split_seed": 3})
    (tmp_path / "other.yaml").write_text("split_seed: 4\n")
    monkeypatch.setenv(TRAINING_VARIABLE, str(tmp_path / "other.yaml"))
    assert load_study(tmp_path).training.split_seed == 4
