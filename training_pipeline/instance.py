"""Where a study's Dagster keeps its runs, events and settings."""

from __future__ import annotations

import os
import shutil
from importlib import resources
from pathlib import Path

from training_pipeline.study.config import Study


def dagster_home(study: Study) -> Path:
    """Return the study's Dagster home: `DAGSTER_HOME`, else `<task_dir>/.dagster`, made ready on first use.

    A settings file that is already there is left as it is.
    """
    home = Path(os.environ.get("DAGSTER_HOME") or study.task_dir / ".dagster").absolute()
    home.mkdir(parents=True, exist_ok=True)
    settings = home / "dagster.yaml"
    if not settings.exists():
        with resources.as_file(resources.files("training_pipeline") / "dagster.yaml") as ours:
            shutil.copyfile(ours, settings)
    return home
