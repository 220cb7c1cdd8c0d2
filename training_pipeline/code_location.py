"""The code location that Dagster loads: the study that `TRAINING_PIPELINE_CONFIG` names, else `./config.yaml`."""

from __future__ import annotations

import os

from training_pipeline.definitions import build_definitions
from training_pipeline.errors import PipelineError
from training_pipeline.plain_error import plain_error
from training_pipeline.study.config import load_study

try:
    defs = build_definitions(load_study(os.environ.get("TRAINING_PIPELINE_CONFIG") or "config.yaml"))
except PipelineError as problem:
    raise plain_error(str(problem)) from None
