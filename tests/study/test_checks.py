"""A study's config checked whole: what is refused and what is warned about, by the exact key."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.recorded import RECORDED
from tests.studies import SENTIMENT, make_study
from training_pipeline.errors import ConfigError
from training_pipeline.study.config import check_study, load_study
from training_pipeline.study.problems import InvalidStudyError, Report
from training_pipeline.trainers.sklearn_text import SklearnText

SPAN = {"annotation_type": "span", "name": "opinion", "labels": ["praise", "complaint"]}
PAIR = {"annotation_type": "pairwise", "name": "better"}
IMAGE = {"annotation_type": "image_annotation", "name": "objects", "labels": ["crate"], "tools": ["bbox"]}
EXAMPLE = Path(__file__).parents[1] / "data" / "example_config"

SHOWN = {"schemas": ["sentiment"], "min_confidence": 0.8}
AUTO = {"enabled": True, "trainer": "sklearn-text", "schemas": ["sentiment"]}
SSH = {"type": "ssh", "host": "gpu"}


def report_of(directory: Path, training: Mapping[str, Any] | None = None, **config: Any) -> Report:
    return check_study(
        make_study(directory, schemes=[SENTIMENT, SPAN, PAIR, IMAGE], training=training, **config)
    ).report


def text_params(**params: Any) -> dict[str, Any]:
    return {"trainer_params": {"hf-text-classification": params}}


REFUSED: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("another split", {"splits": {"train": 1, "dev": 1}}, {}, "splits.dev"),
    ("a weight below 0", {"splits": {"train": 1, "val": -1}}, {}, "splits.val"),
    ("a weight that is a text", {"splits": {"train": "1"}}, {}, "splits.train"),
    ("a weight that is a boolean", {"splits": {"train": True}}, {}, "splits.train"),
    ("a weight that is NaN", {"splits": {"train": float("nan")}}, {}, "splits.train"),
    ("weights that sum to 0", {"splits": {"train": 0, "val": 0}}, {}, "splits"),
    ("no train", {"splits": {"val": 1}}, {}, "splits.train"),
    ("an unknown key of writeback", {"writeback": {"schema": []}}, {}, "writeback.schema"),
    ("an unknown key of auto_retrain", {"auto_retrain": {"accept_license": True}}, {}, "auto_retrain.accept_license"),
    ("an unknown key of a backend", {"backends": {"gpu": {**SSH, "hots": "x"}}}, {}, "backends.gpu.hots"),
    ("an unknown schema", {"writeback": {**SHOWN, "schemas": ["tone"]}}, {}, "writeback.schemas[0]"),
    ("min_confidence above 1", {"writeback": {"min_confidence": 1.01}}, {}, "writeback.min_confidence"),
    ("min_confidence below 0", {"writeback": {"min_confidence": -0.1}}, {}, "writeback.min_confidence"),
    ("min_confidence no number", {"writeback": {"min_confidence": "0.8"}}, {}, "writeback.min_confidence"),
    (
        "pre-labels in a field that the server does not read",
        {"writeback": SHOWN},
        {"pre_annotation": {"enabled": True, "field": "guesses"}},
        "pre_annotation.field",
    ),
    (
        "the same, the other way round",
        {"writeback": {**SHOWN, "field": "ours"}},
        {"pre_annotation": {"enabled": True}},
        "pre_annotation.field",
    ),
    (
        "a comparison group that would see pre-labels",
        {"writeback": {**SHOWN, "field": "ours"}},
        {"ai_support": {"holdout": {"fraction": 0.2}}},
        "writeback.field",
    ),
    ("no trainer", {"auto_retrain": {"enabled": True, "schemas": ["sentiment"]}}, {}, "auto_retrain.trainer"),
    ("no schemas", {"auto_retrain": {"enabled": True, "trainer": "sklearn-text"}}, {}, "auto_retrain.schemas"),
    ("an unknown trainer", {"auto_retrain": {**AUTO, "trainer": "sklern-text"}}, {}, "auto_retrain.trainer"),
    ("an unknown schema to learn", {"auto_retrain": {**AUTO, "schemas": ["tone"]}}, {}, "auto_retrain.schemas[0]"),
    ("a schema it cannot learn", {"auto_retrain": {**AUTO, "schemas": ["opinion"]}}, {}, "auto_retrain.schemas[0]"),
    (
        "a type it cannot learn",
        {"auto_retrain": {**AUTO, "trainer": "llm-dpo"}},
        {},
        "auto_retrain.schemas[0]",
    ),
    ("a param it does not take", {"auto_retrain": {**AUTO, "params": {"epochs": 3}}}, {}, "auto_retrain.params.epochs"),
    (
        "a param of the wrong type",
        {"auto_retrain": {**AUTO, "params": {"calibrate": 1}}},
        {},
        "auto_retrain.params.calibrate",
    ),
    ("an unknown backend", {"auto_retrain": {**AUTO, "backend": "gpu"}}, {}, "auto_retrain.backend"),
    (
        "decision-calibrate elsewhere",
        {"auto_retrain": {**AUTO, "trainer": "decision-calibrate", "backend": "gpu"}, "backends": {"gpu": SSH}},
        {},
        "auto_retrain.backend",
    ),
    (
        "decision-calibrate elsewhere by default",
        {"auto_retrain": {**AUTO, "trainer": "decision-calibrate"}, "backend": "gpu", "backends": {"gpu": SSH}},
        {},
        "auto_retrain.backend",
    ),
    (
        "a licence that must be accepted",
        {"auto_retrain": {"enabled": True, "trainer": "ultralytics-detect", "schemas": ["objects"]}},
        {},
        "auto_retrain.accept_licence",
    ),
    ("a param that it does not take", text_params(epoch=3), {}, "trainer_params.hf-text-classification.epoch"),
    ("a param that is no number", text_params(epochs="3"), {}, "trainer_params.hf-text-classification.epochs"),
    ("a key of dp", text_params(dp={"epsilons": 1}), {}, "trainer_params.hf-text-classification.dp.epsilons"),
    ("epsilon 0", text_params(dp={"epsilon": 0}), {}, "trainer_params.hf-text-classification.dp.epsilon"),
    ("epsilon 101", text_params(dp={"epsilon": 101}), {}, "trainer_params.hf-text-classification.dp.epsilon"),
    ("delta 1", text_params(dp={"delta": 1}), {}, "trainer_params.hf-text-classification.dp.delta"),
    ("norm 0", text_params(dp={"max_grad_norm": 0}), {}, "trainer_params.hf-text-classification.dp.max_grad_norm"),
    ("dp that is true", text_params(dp=True), {}, "trainer_params.hf-text-classification.dp"),
    ("a rank of 0", text_params(lora={"r": 0}), {}, "trainer_params.hf-text-classification.lora.r"),
    ("two bits", text_params(lora={"quantize": "2bit"}), {}, "trainer_params.hf-text-classification.lora.quantize"),
    ("grace_seconds below 0", {"grace_seconds": -1}, {}, "grace_seconds"),
    ("grace_seconds no number", {"grace_seconds": "soon"}, {}, "grace_seconds"),
    ("retain_runs below 0", {"retain_runs": -1}, {}, "retain_runs"),
    ("retain_runs not whole", {"retain_runs": 1.5}, {}, "retain_runs"),
    ("split_seed below 0", {"split_seed": -1}, {}, "split_seed"),
    ("split_seed not whole", {"split_seed": 0.5}, {}, "split_seed"),
    ("queue_max below 0", {"queue_max": -1}, {}, "queue_max"),
    ("max_wall_seconds 0", {"max_wall_seconds": 0}, {}, "max_wall_seconds"),
    ("max_ram_mb below 0", {"max_ram_mb": -5}, {}, "max_ram_mb"),
    ("num_threads 0", {"num_threads": 0}, {}, "num_threads"),
    ("a backend without type", {"backends": {"gpu": {"host": "gpu"}}}, {}, "backends.gpu.type"),
    ("a backend of an unknown type", {"backends": {"gpu": {"type": "sssh"}}}, {}, "backends.gpu.type"),
    ("ssh without host", {"backends": {"gpu": {"type": "ssh"}}}, {}, "backends.gpu.host"),
    ("slurm without remote_dir", {"backends": {"gpu": {"type": "slurm"}}}, {}, "backends.gpu.remote_dir"),
    ("gpus that are no indices", {"backends": {"gpu": {**SSH, "gpus": "all"}}}, {}, "backends.gpu.gpus"),
    ("a remote backend called local", {"backends": {"local": SSH}}, {}, "backends.local"),
    ("a backend that is not there", {"backend": "gpu"}, {}, "backend"),
]


@pytest.mark.parametrize(
    ("training", "config", "key"), [row[1:] for row in REFUSED], ids=[row[0].replace(" ", "-") for row in REFUSED]
)
def test_refused(tmp_path: Path, training: dict[str, Any], config: dict[str, Any], key: str) -> None:
    report = report_of(tmp_path, training, **config)
    path = key if key.startswith("pre_annotation") else f"model_training.{key}"
    assert [problem.path for problem in report.problems] == [path]
    (problem,) = report.problems
    assert problem.message.endswith(".")
    assert problem.line is not None
    if "pre_annotation" not in path or config["pre_annotation"].get("field"):
        written = (tmp_path / "config.yaml").read_text().splitlines()[problem.line - 1][(problem.column or 0) - 1 :]
        last = path.replace("[0]", "").split(".")
        # A key that is missing is shown where its parent stands, an entry of a list where it stands itself.
        assert path.endswith("[0]") or written.startswith((f"{last[-1]}:", f"{last[-2]}:"))


WARNED: list[tuple[str, dict[str, Any], str]] = [
    ("an unknown key of the block", {"retain_run": 3}, "retain_run"),
    ("an unknown key of tiling", {"tiling": {"tilesize": 3}}, "tiling.tilesize"),
    ("params of an unknown trainer", {"trainer_params": {"sklern-text": {}}}, "trainer_params.sklern-text"),
    ("write-back of anything", {"writeback": {"schemas": ["sentiment"]}}, "writeback.min_confidence"),
    ("a trainer of later", {"auto_retrain": {**AUTO, "trainer": "setfit"}}, "auto_retrain.trainer"),
    ("a gate of later", {"writeback": {**SHOWN, "gate": "not_worse"}}, "writeback.gate"),
    ("live of later", {"writeback": {**SHOWN, "live": True}}, "writeback.live"),
]


@pytest.mark.parametrize(
    ("training", "key"), [row[1:] for row in WARNED], ids=[row[0].replace(" ", "-") for row in WARNED]
)
def test_warned_about(tmp_path: Path, training: dict[str, Any], key: str) -> None:
    report = report_of(tmp_path, training)
    assert report.problems == ()
    assert [warning.path for warning in report.warnings] == [f"model_training.{key}"]


def test_packages_that_an_automatic_trainer_lacks_are_warned_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SklearnText, "libraries", ("sklearn", "a_library_nobody_has"))
    (warning,) = report_of(tmp_path, {"auto_retrain": AUTO}).warnings
    assert warning.path == "model_training.auto_retrain.trainer"
    assert "a_library_nobody_has" in warning.message


ACCEPTED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"writeback": SHOWN}, {"pre_annotation": {"enabled": True, "field": "predictions"}}),
    ({"writeback": {**SHOWN, "field": "ours"}}, {"pre_annotation": {"enabled": True, "field": "ours"}}),
    ({"writeback": {**SHOWN, "field": "ours"}}, {"pre_annotation": {"enabled": False, "field": "guesses"}}),
    ({}, {"pre_annotation": {"enabled": True, "field": "guesses"}}),
    ({"writeback": SHOWN}, {"ai_support": {"holdout": {"fraction": 0.2, "salt": "s"}}}),
    (
        {"writeback": {**SHOWN, "field": "ours"}},
        {"ai_support": {"holdout": {"fraction": 0.2}}, "pre_annotation": {"enabled": True, "field": "ours"}},
    ),
    ({"writeback": {**SHOWN, "field": "ours"}}, {"ai_support": {"holdout": {"fraction": 0}}}),
    ({"auto_retrain": {"trainer": "nobody", "schemas": ["nothing"], "backend": "local"}}, {}),
    ({"auto_retrain": AUTO, "backend": "gpu", "backends": {"gpu": SSH}}, {}),
    ({"backends": {"local": {"type": "local"}, "mine": {"type": "local"}}, "backend": "mine"}, {}),
    (text_params(lora=True), {}),
    (text_params(lora={"quantize": "4bit", "target_modules": ["q", "v"]}, dp={"epsilon": 8, "delta": 1e-5}), {}),
    ({"trainer_params": {"bridge-command": {"command": ["answer", "--all"]}}}, {}),
]


@pytest.mark.parametrize(("training", "config"), ACCEPTED)
def test_accepted(tmp_path: Path, training: dict[str, Any], config: dict[str, Any]) -> None:
    report = report_of(tmp_path, training, **config)
    assert (report.problems, report.warnings) == ((), ())


def test_twenty_mistakes_are_twenty_problems_in_the_order_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(TWENTY_MISTAKES)
    report = check_study(tmp_path).report
    assert [(problem.line, problem.path) for problem in report.problems] == [
        (4, "item_properties.text_key"),
        (7, "annotation_schemes[0].labels"),
        (8, "annotation_schemes[1].size"),
        (10, "model_training.split_seed"),
        (11, "model_training.splits.dev"),
        (11, "model_training.splits.test"),
        (12, "model_training.retain_runs"),
        (13, "model_training.grace_seconds"),
        (14, "model_training.backend"),
        (16, "model_training.trainer_params.sklearn-text.clasifier"),
        (17, "model_training.trainer_params.llm-sft.lora.r"),
        (19, "model_training.auto_retrain.trainer"),
        (19, "model_training.auto_retrain.backend"),
        (20, "model_training.auto_retrain.schemas[1]"),
        (22, "model_training.writeback.schemas[0]"),
        (23, "model_training.writeback.min_confidence"),
        (24, "model_training.writeback.gate"),
        (26, "model_training.backends.gpu.host"),
        (26, "model_training.backends.gpu.gpus"),
        (27, "model_training.tiling"),
    ]
    assert report.describe().startswith(
        "The study's config has 20 problems.\n\nitem_properties.text_key (config.yaml, "
    )


TWENTY_MISTAKES = """\
annotation_task_name: Twenty mistakes
data_files: [data/items.jsonl]
output_annotation_dir: annotation_output
item_properties: {id_key: id}
annotation_schemes:
  - {annotation_type: radio, name: sentiment,
     labels: positive}
  - {annotation_type: likert, name: strength, size: "5"}
model_training:
  split_seed: -1
  splits: {train: 1, dev: 1, test: true}
  retain_runs: 2.5
  grace_seconds: .nan
  backend: cluster
  trainer_params:
    sklearn-text: {clasifier: x}
    llm-sft: {lora: {r: 0}}
  auto_retrain:
    {enabled: true, trainer: sklern-text, backend: elsewhere,
    schemas: [sentiment, tone]}
  writeback:
    schemas: [tone]
    min_confidence: 80
    gate: best
  backends:
    gpu: {type: ssh, gpus: all}
  tiling: [1]
"""


def test_sections_that_cannot_be_read_hide_nothing_of_the_others(tmp_path: Path) -> None:
    make_study(
        tmp_path,
        schemes=[{"annotation_type": "radio", "name": "sentiment", "labels": [True]}],
        training={"writeback": 5, "auto_retrain": [], "splits": "even", "backends": 3, "retain_runs": -1},
        item_properties=[],
        data_files={},
        pre_annotation="on",
    )
    assert {problem.path for problem in check_study(tmp_path).report.problems} == {
        "annotation_schemes[0].labels[0]",
        "data_files",
        "item_properties",
        "item_properties.id_key",
        "item_properties.text_key",
        "model_training.auto_retrain",
        "model_training.backends",
        "model_training.retain_runs",
        "model_training.splits",
        "model_training.writeback",
        "pre_annotation",
    }


@pytest.mark.parametrize("name", ["sentiment", "mixed", "vision"])
def test_recorded_studies_are_fine(name: str) -> None:
    assert check_study(RECORDED / f"{name}_2_12_1").report.problems == ()


def test_the_published_example_is_fine() -> None:
    report = check_study(EXAMPLE).report
    assert (report.problems, report.warnings) == ((), ())


def test_keys_of_the_server_are_not_complained_about(tmp_path: Path) -> None:
    config: dict[str, Any] = {
        "port": "eight",
        "assignment_strategy": 3,
        "webhooks": [],
        "datasets": None,
        "anything": {"at": "all"},
    }
    report = report_of(tmp_path, **config)
    assert (report.problems, report.warnings) == ((), ())


def test_a_key_written_twice_is_warned_about_with_both_lines(tmp_path: Path) -> None:
    path = make_study(tmp_path)
    path.write_text(path.read_text() + "model_training:\n  enabled: true\n  queue_max: 1\n  queue_max: 2\n")
    lines = path.read_text().splitlines()
    first, last = (number for number, line in enumerate(lines, 1) if line.startswith("model_training:"))
    checked = check_study(tmp_path)
    assert checked.study is not None
    assert checked.study.training.queue_max == 2
    assert [(warning.path, warning.line, warning.message) for warning in checked.report.warnings] == [
        ("model_training", last, f"Is written twice, on lines {first} and {last}; the last one counts."),
        (
            "model_training.queue_max",
            last + 3,
            f"Is written twice, on lines {last + 2} and {last + 3}; the last one counts.",
        ),
    ]


def test_a_refused_study_raises_its_report(tmp_path: Path) -> None:
    make_study(tmp_path, training={"retain_runs": -1})
    with pytest.raises(InvalidStudyError) as caught:
        load_study(tmp_path)
    assert isinstance(caught.value, ConfigError)
    assert str(caught.value) == check_study(tmp_path).report.describe()
    assert str(caught.value).splitlines()[0] == "The study's config has 1 problem."


def test_items_are_not_read(tmp_path: Path) -> None:
    make_study(tmp_path)
    line = '{"id": "%d", "text": "' + "word " * 30 + '"}\n'
    (tmp_path / "data" / "items.jsonl").write_text("".join(line % n for n in range(100_000)) + "this is no JSON")
    started = time.process_time()
    assert check_study(tmp_path).report.problems == ()
    assert time.process_time() - started < 0.5
