"""Where a study's Dagster keeps its own."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.running import review_study
from training_pipeline.errors import PipelineError
from training_pipeline.instance import dagster_home, open_instance
from training_pipeline.study.config import load_study

OPEN = """
import sys
from training_pipeline.instance import open_instance
from training_pipeline.study.config import load_study
with open_instance(load_study(sys.argv[1])) as instance:
    instance.get_runs()
"""


def test_it_is_beside_the_study_and_dagster_takes_its_settings(tmp_path: Path) -> None:
    study = load_study(review_study(tmp_path))
    assert dagster_home(study) == tmp_path / ".dagster"
    with open_instance(study) as instance:
        assert instance.run_coordinator.__class__.__name__ == "StudyQueue"
        assert not instance.telemetry_enabled


def test_dagster_home_beats_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "elsewhere"))
    study = load_study(review_study(tmp_path / "study"))
    assert dagster_home(study) == tmp_path / "elsewhere"
    with open_instance(study):
        assert not (tmp_path / "study" / ".dagster").exists()


def test_settings_that_are_there_stay(tmp_path: Path) -> None:
    study = load_study(review_study(tmp_path))
    settings = tmp_path / ".dagster" / "dagster.yaml"
    settings.parent.mkdir()
    settings.write_text("telemetry: {enabled: true}\n")
    with open_instance(study) as instance:
        assert instance.telemetry_enabled
    assert settings.read_text() == "telemetry: {enabled: true}\n"


@pytest.mark.parametrize("name", ["what?", "50%20off"])
def test_a_folder_that_no_database_address_can_hold_is_refused_by_name(tmp_path: Path, name: str) -> None:
    study = load_study(review_study(tmp_path / name))
    with pytest.raises(PipelineError, match="Rename the folder, or set DAGSTER_HOME") as refused, open_instance(study):
        pass
    assert refused.value.code == "bad_home"
    assert not (tmp_path / name / ".dagster").exists()


@pytest.mark.slow
def test_several_processes_may_be_the_first_to_open_it(tmp_path: Path) -> None:
    config = review_study(tmp_path)
    opening = [subprocess.Popen([sys.executable, "-c", OPEN, str(config)]) for _ in range(4)]
    assert [process.wait(120) for process in opening] == [0, 0, 0, 0]
    for database in (tmp_path / ".dagster").rglob("*.db"):
        with closing(sqlite3.connect(database)) as connection:
            assert len(connection.execute("SELECT * FROM alembic_version").fetchall()) == 1, database
