"""Specs on disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from training_pipeline.worker.errors import WorkerError
from training_pipeline.worker.spec import Limits, WorkerSpec, read_spec, write_spec

SPEC = WorkerSpec(
    run_id="20300101T000000-abcdef",
    trainer="sklearn-text",
    schema="mood / ไทย",
    bundle_dir=Path("/somewhere/bundle"),
    artifacts_dir=Path("/somewhere/artifacts"),
    params={"classifier_kwargs": {"C": 2.5}},
    seed=3,
    limits=Limits(60.5, 2048.0, "cpu", 2),
    allowed_modules=("house",),
)


def test_a_spec_comes_back_as_it_was_written(tmp_path: Path) -> None:
    write_spec(SPEC, tmp_path / "spec.json")
    assert read_spec(tmp_path / "spec.json") == SPEC


def test_relative_paths_start_at_the_file(tmp_path: Path) -> None:
    write_spec(SPEC, tmp_path / "spec.json")
    record = json.loads((tmp_path / "spec.json").read_text()) | {"bundle_dir": "bundle"}
    (tmp_path / "spec.json").write_text(json.dumps(record))
    assert read_spec(tmp_path / "spec.json").bundle_dir == tmp_path / "bundle"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"v": 2}, "is of format 2; this machine reads up to 1"),
        ({"extra": 1}, "is no spec of a training run: .*extra"),
        ({"limits": {"gpus": 1}}, "is no spec of a training run: .*gpus"),
        ({"v": None}, "is no spec of a training run"),
    ],
)
def test_another_format_is_refused(tmp_path: Path, change: dict[str, object], why: str) -> None:
    write_spec(SPEC, tmp_path / "spec.json")
    record = json.loads((tmp_path / "spec.json").read_text()) | change
    (tmp_path / "spec.json").write_text(json.dumps(record))
    with pytest.raises(WorkerError, match=why) as refused:
        read_spec(tmp_path / "spec.json")
    assert refused.value.code == "bad_spec"


def test_a_missing_spec_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorkerError, match=r"is no spec of a training run: .*No such file"):
        read_spec(tmp_path / "spec.json")
