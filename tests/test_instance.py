"""Where a study's Dagster keeps its own."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from tests.running import review_study
from training_pipeline.instance import dagster_home
from training_pipeline.study.config import load_study


def test_it_is_beside_the_study_and_dagster_takes_its_settings(tmp_path: Path) -> None:
    home = dagster_home(load_study(review_study(tmp_path)))
    assert home == tmp_path / ".dagster"
    with dg.DagsterInstance.from_config(str(home)) as instance:
        assert instance.run_coordinator.__class__.__name__ == "StudyQueue"
        assert not instance.telemetry_enabled


def test_dagster_home_beats_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "elsewhere"))
    assert dagster_home(load_study(review_study(tmp_path / "study"))) == tmp_path / "elsewhere"
    assert not (tmp_path / "study" / ".dagster").exists()


def test_settings_that_are_there_stay(tmp_path: Path) -> None:
    study = load_study(review_study(tmp_path))
    (tmp_path / ".dagster").mkdir()
    (tmp_path / ".dagster" / "dagster.yaml").write_text("telemetry: {enabled: true}\n")
    assert (dagster_home(study) / "dagster.yaml").read_text() == "telemetry: {enabled: true}\n"
