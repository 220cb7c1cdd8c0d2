"""The code location that Dagster loads, in a process of its own as Dagster does it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.running import review_study

pytestmark = pytest.mark.slow
LOAD = "from training_pipeline.code_location import defs; print(*sorted(j.name for j in defs.resolve_all_job_defs()))"


def load(config: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TRAINING_PIPELINE_CONFIG": str(config)}
    return subprocess.run([sys.executable, "-c", LOAD], env=environment, capture_output=True, text=True, check=False)


def test_a_study_is_its_jobs(tmp_path: Path) -> None:
    loaded = load(review_study(tmp_path))
    assert loaded.stdout.split() == ["__ASSET_JOB", "retract", "train_sentiment"]


def test_a_study_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    config = review_study(tmp_path, training={"splits": {"valid": 1}})
    loaded = load(config)
    assert loaded.returncode == 1
    assert "model_training.splits" in loaded.stderr.splitlines()[-1] + loaded.stderr
    assert "ConfigError" not in loaded.stderr
