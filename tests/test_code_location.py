"""The code location that Dagster loads, in a process of its own as Dagster does it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running import review_study
from training_pipeline.study.config import check_study

pytestmark = pytest.mark.slow
LOAD = "from training_pipeline.code_location import defs; print(*sorted(j.name for j in defs.resolve_all_job_defs()))"


def load(config: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TRAINING_PIPELINE_CONFIG": str(config)}
    return subprocess.run([sys.executable, "-c", LOAD], env=environment, capture_output=True, text=True, check=False)


def test_a_study_is_its_jobs(tmp_path: Path) -> None:
    loaded = load(review_study(tmp_path))
    assert loaded.stdout.split() == ["__ASSET_JOB", "retract", "train_sentiment"]


def validate(config: Path) -> subprocess.CompletedProcess[str]:
    """Load the code location as Dagster's own command does."""
    environment = {
        **os.environ,
        "TRAINING_PIPELINE_CONFIG": str(config),
        "DAGSTER_HOME": str(config.parent / "home"),
        "NO_COLOR": "1",
    }
    (config.parent / "home").mkdir(exist_ok=True)
    command = [sys.executable, "-m", "dagster", "definitions", "validate", "-m", "training_pipeline.code_location"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_an_invalid_study_shows_the_report_alone_and_loads_once_mended(tmp_path: Path) -> None:
    config = review_study(tmp_path, training={"splits": {"valid": 1}, "retain_runs": "5"})
    report = check_study(config).report.describe()
    refused = validate(config)
    told = refused.stdout + refused.stderr
    assert refused.returncode == 1
    assert report in told
    assert "Traceback" not in told
    assert "Stack Trace" not in told
    assert 'File "' not in told
    review_study(tmp_path, training={"splits": {"train": 1}, "retain_runs": 5})
    mended = validate(config)
    assert (mended.returncode, "Traceback" in mended.stderr) == (0, False)
