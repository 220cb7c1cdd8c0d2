"""Where a study's Dagster keeps its runs, events and settings, and how it is opened."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

import dagster as dg

from training_pipeline.errors import PipelineError
from training_pipeline.study.config import Study

_NOT_IN_A_PATH = "?%"
"""Dagster pastes its home into a database address, where these begin a query or an escape."""


def dagster_home(study: Study) -> Path:
    """Return the study's Dagster home: `DAGSTER_HOME`, else `<task_dir>/.dagster`. It need not exist yet.

    PipelineError `bad_home` where Dagster could not keep its databases there.
    """
    home = Path(os.environ.get("DAGSTER_HOME") or study.task_dir / ".dagster").absolute()
    unusable = [character for character in _NOT_IN_A_PATH if character in str(home)]
    if unusable:
        raise PipelineError(
            "bad_home",
            f"Dagster cannot keep its databases in {home}, because of the {unusable[0]!r} in its name. Rename the "
            "folder, or set DAGSTER_HOME to another one.",
        )
    return home


@contextmanager
def open_instance(study: Study) -> Iterator[dg.DagsterInstance]:
    """Open the study's Dagster instance, its home made ready on first use.

    One process at a time: Dagster makes its databases when they are first opened, and two that make them together
    leave some that neither can use. A settings file that is already there is left as it is.
    """
    home = dagster_home(study)
    home.mkdir(parents=True, exist_ok=True)
    with _alone(home):
        _write_settings(home / "dagster.yaml")
        opened = dg.DagsterInstance.from_config(str(home))
        # Each database is made when it is first asked for.
        for storage in (opened.run_storage, opened.event_log_storage, opened.schedule_storage):
            assert storage is not None
    with opened as instance:
        yield instance


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    with (home / "open.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _write_settings(path: Path) -> None:
    if not path.exists():
        ours = resources.files("training_pipeline") / "dagster.yaml"
        partial = path.with_name(f"{path.name}.partial")
        partial.write_bytes(ours.read_bytes())
        partial.replace(path)
