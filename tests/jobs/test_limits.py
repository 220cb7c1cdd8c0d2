"""A run that goes beyond what the study allows it, through Dagster, with the real worker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.processes import processes_naming
from tests.running import review_study, train
from training_pipeline.ledger.records import Status

pytestmark = pytest.mark.slow


def test_a_run_that_takes_too_long_is_an_error_that_says_so(tmp_path: Path) -> None:
    ran = train(review_study(tmp_path, training={"max_wall_seconds": 0.05}))
    assert (ran.run.status, ran.run.error_code) == (Status.ERROR, "wall_limit")
    assert ran.run.error == (
        "Stopped: the run took longer than model_training.max_wall_seconds (0.05). Raise it, or train on less."
    )
    assert any(ran.run.error in failure for failure in ran.failures)
    assert processes_naming(str(tmp_path)) == []


def test_what_the_worker_says_after_its_leash_does_not_count(tmp_path: Path) -> None:
    """Told to stop, the worker says that it was cancelled; by then it was its leash that had ended it."""
    ran = train(review_study(tmp_path, training={"max_wall_seconds": 0.5, "grace_seconds": 10}))
    events = [json.loads(line) for line in ran.directory.events.read_text().splitlines()]
    assert [event["code"] for event in events if event["event"] == "error"] in (
        ["wall_limit", "cancelled"],
        ["wall_limit"],
    )
    assert ran.run.error_code == "wall_limit"
