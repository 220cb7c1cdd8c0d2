from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.studies import make_study
from training_pipeline.errors import ConfigError, PipelineError
from training_pipeline.study.config import check_study, load_study
from training_pipeline.study.files import DataFile

EXAMPLE = Path(__file__).parents[1] / "data" / "example_config"


def test_the_published_example_loads() -> None:
    study = load_study(EXAMPLE)
    assert study.name == "Review sentiment with model training"
    assert study.warnings == ()
    assert study.data_files == (DataFile(EXAMPLE / "data" / "reviews.json"),)
    assert study.output_dir == EXAMPLE / "annotation_output"
    assert study.runs_dir == EXAMPLE / "annotation_output" / "training" / "runs"
    assert study.database == EXAMPLE / "project.sqlite"
    assert study.training.max_wall_seconds == 3600
    assert study.training.writeback.min_confidence == 0.8
    assert study.training.trainer_params["sklearn-text"]["classifier_kwargs"] == {"max_iter": 1000}
    assert study.training.trainer_params["hf-text-classification"]["lora"] is True
    assert study.training.backends["gpu-server"].model_dump()["min_free_gpu_mb"] == 4000
    assert study.training.auto_retrain.schemas == ("sentiment",)


def test_a_file_or_its_folder_name_the_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = make_study(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert load_study(config) == load_study(tmp_path) == load_study(".") == load_study("config.yaml")


def test_paths_are_relative_to_task_dir_which_is_relative_to_the_config(tmp_path: Path) -> None:
    project = tmp_path / "project"
    make_study(project)
    (project / "configs").mkdir()
    (project / "config.yaml").rename(project / "configs" / "study.yaml")
    text = (project / "configs" / "study.yaml").read_text().replace("task_dir: .", "task_dir: ..")
    (project / "configs" / "study.yaml").write_text(text)
    study = load_study(project / "configs" / "study.yaml")
    assert study.task_dir == project
    assert study.data_files[0].path == project / "data" / "items.jsonl"


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yaml is not there"):
        load_study(tmp_path / "none.yaml")
    with pytest.raises(ConfigError, match=r"config\.yaml is not there"):
        load_study(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: 1\nb: [1, 2\nc: 3\n", r"config\.yaml, line 3, column 2: not YAML: "),
        (b"a: 1\n\tb: 2\n", r"config\.yaml, line 2, column 1: not YAML: "),
        (b"a: 1\nbc: \x00\n", r"config\.yaml, line 2, column 5: not YAML: "),
        (b"a: 1\nbc: \xff\n", r"config\.yaml, line 2, column 5: not UTF-8: "),
        ("é: 1\nüé: ".encode() + b"\xff\n", r"config\.yaml, line 2, column 5: not UTF-8: "),
        (
            b"a: 2024-13-45\n",
            r"config\.yaml, line 1, column 4: not YAML: this value cannot be: month must be in 1\.\.12",
        ),
        (b"- a\n- b\n", r"config\.yaml, line 1: must hold a mapping of keys to values, not a list"),
        (b"", r"config\.yaml, line 1: must hold a mapping of keys to values, not nothing"),
    ],
)
def test_what_is_not_yaml_is_named_by_line_and_column(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "config.yaml").write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        load_study(tmp_path)


def test_a_config_with_a_byte_order_mark_and_crlf_loads(tmp_path: Path) -> None:
    config = make_study(tmp_path)
    config.write_bytes(b"\xef\xbb\xbf" + config.read_bytes().replace(b"\n", b"\r\n"))
    assert load_study(tmp_path).name == "A small study"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"annotation_task_name": None}, "annotation_task_name: Is missing. Give it a text."),
        (
            {"annotation_task_name": 7},
            "annotation_task_name: Must be a text that is not empty, not 7. Put it in quotes.",
        ),
        ({"item_properties": {"text_key": "text"}}, "item_properties.id_key: Is missing."),
        ({"item_properties": {"id_key": "id"}}, "item_properties.text_key: Is missing."),
        ({"output_annotation_dir": None}, "output_annotation_dir: Is missing."),
        ({"data_files": None}, "data_files: Is missing. List the files that hold the items, or name a data_directory."),
        ({"data_files": "items.jsonl"}, "data_files: Must be a list, not 'items.jsonl'. Write ['items.jsonl']."),
        ({"data_files": [3]}, "data_files[0].path: Must be a text that is not empty, not 3."),
        ({"data_files": ["data/items.xlsx"]}, "data_files[0]: Is 'items.xlsx'. Items are read from .json, "),
        ({"data_files": ["../items.jsonl"]}, "data_files[0].path: Is '../items.jsonl', which is outside the project"),
        ({"data_files": ["/etc/items.jsonl"]}, "data_files[0].path: Is '/etc/items.jsonl', which is outside the proj"),
        ({"data_files": ["a\0b.csv"]}, "data_files[0].path: Is 'a\\x00b.csv', which is no path."),
        (
            {"data_files": [{"path": "data/a.csv", "encoding": "utf-9"}]},
            "data_files[0].encoding: Is 'utf-9', which is no",
        ),
        ({"data_directory": "nowhere"}, "data_directory: Is "),
        ({"data_directory": "n" * 5000}, "data_directory: Is "),
        ({"output_annotation_dir": "../elsewhere"}, "output_annotation_dir: Is '../elsewhere', which is outside"),
        ({"annotation_schemes": {"a": 1}}, "annotation_schemes: Must be a list, not {'a': 1}."),
        ({"annotation_schemes": ["radio"]}, "annotation_schemes[0]: Must be a mapping of keys to values, not 'radio'."),
        ({"pre_annotation": {"enabled": "yes"}}, "pre_annotation.enabled: Must be true or false, not 'yes'. Take the"),
        (
            {"ai_support": {"holdout": {"fraction": "half"}}},
            "ai_support.holdout.fraction: Must be a finite number, not",
        ),
        ({"machine_annotators": ["gpt"]}, "machine_annotators: Must be a mapping of keys to values, not ['gpt']."),
        ({"machine_annotators": {"annotators": [{}]}}, "machine_annotators.annotators[0].id: Is missing."),
        ({"model_training": ["enabled"]}, "model_training: Must be a mapping of keys to values, not ['enabled']."),
    ],
)
def test_a_key_that_cannot_work_is_named(tmp_path: Path, keys: dict[str, Any], message: str) -> None:
    make_study(tmp_path)
    config = yaml.safe_load((tmp_path / "config.yaml").read_text()) | keys
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    (problem,) = check_study(tmp_path).report.problems
    where = f" (config.yaml, line {problem.line}, column {problem.column})"
    assert problem.in_one_line().replace(where, "").startswith(message)


def test_a_training_file_beside_the_config_replaces_the_block(tmp_path: Path) -> None:
    make_study(tmp_path, training={"split_seed": 3, "retain_runs": 9})
    (tmp_path / "training.yaml").write_text("enabled: true\nsplit_seed: 4\n")
    training = load_study(tmp_path).training
    assert (training.enabled, training.split_seed, training.retain_runs) == (True, 4, 5)


def test_a_training_file_named_by_the_caller_comes_first_and_may_carry_the_blocks_name(tmp_path: Path) -> None:
    make_study(tmp_path, training={"split_seed": 3})
    (tmp_path / "training.yaml").write_text("split_seed: 4\n")
    named = tmp_path / "other.yaml"
    named.write_text("model_training: {split_seed: 5}\n")
    assert load_study(tmp_path, training_file=named).training.split_seed == 5


def test_a_problem_in_a_training_file_names_that_file(tmp_path: Path) -> None:
    make_study(tmp_path)
    (tmp_path / "training.yaml").write_text("split_seed: x\n")
    with pytest.raises(ConfigError, match=r"model_training\.split_seed \(training\.yaml, line 1, column 1\)\n"):
        load_study(tmp_path)


def test_an_unknown_key_of_the_block_is_a_warning(tmp_path: Path) -> None:
    make_study(tmp_path, training={"split_sede": 3})
    (warning,) = load_study(tmp_path).warnings
    assert (warning.path, warning.hint) == ("model_training.split_sede", "Did you mean split_seed?")


def test_files_of_the_data_directory_follow_the_named_ones_in_order(tmp_path: Path) -> None:
    make_study(tmp_path, data_directory="more", data_directory_encoding="latin-1")
    (tmp_path / "more").mkdir()
    for name in ("b.csv", "a.JSONL", "notes.txt"):
        (tmp_path / "more" / name).touch()
    files = load_study(tmp_path).data_files
    assert [file.path.name for file in files] == ["items.jsonl", "a.JSONL", "b.csv"]
    assert [file.encoding for file in files] == ["utf-8", "latin-1", "latin-1"]


def test_an_absolute_path_inside_the_project_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "data" / "items.jsonl"
    make_study(tmp_path, data_files=[str(path)])
    assert load_study(tmp_path).data_files == (DataFile(path),)


def test_a_study_that_is_linked_to_keeps_its_absolute_paths(tmp_path: Path) -> None:
    path = tmp_path / "real" / "data" / "items.jsonl"
    make_study(tmp_path / "real", data_files=[str(path)])
    (tmp_path / "link").symlink_to(tmp_path / "real")
    study = load_study(tmp_path / "link")
    assert (study.task_dir, study.data_files) == (tmp_path / "link", (DataFile(path),))


def test_an_active_pre_annotation_block_decides_the_field(tmp_path: Path) -> None:
    block = {"field": "guesses", "predictions_file": "data/guesses.json"}
    training = {"writeback": {"field": "ours"}}
    make_study(tmp_path, pre_annotation={"enabled": False, **block}, training=training)
    study = load_study(tmp_path)
    assert (study.prelabel_field, study.predictions_file) == ("ours", None)
    make_study(tmp_path, pre_annotation={"enabled": True, **block})
    study = load_study(tmp_path)
    assert (study.prelabel_field, study.predictions_file) == ("guesses", tmp_path / "data" / "guesses.json")


@pytest.mark.parametrize(
    ("ai_support", "on"),
    [({}, False), ({"holdout": {"fraction": 0}}, False), ({"holdout": {"fraction": 0.2, "salt": "s"}}, True)],
)
def test_a_comparison_group_needs_a_fraction(tmp_path: Path, ai_support: dict[str, Any], on: bool) -> None:
    make_study(tmp_path, ai_support=ai_support)
    assert load_study(tmp_path).holdout_on is on


def test_an_unknown_schema_is_refused_with_the_names_there_are(tmp_path: Path) -> None:
    study = load_study(make_study(tmp_path))
    assert study.schema("sentiment").options == ("positive", "negative")
    with pytest.raises(PipelineError, match="has no schema 'tone'; it has sentiment") as caught:
        study.schema("tone")
    assert caught.value.code == "unknown_schema"
