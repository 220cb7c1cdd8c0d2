"""The code location that Dagster loads: the study that `TRAINING_PIPELINE_CONFIG` names, else `./config.yaml`."""

from __future__ import annotations

from training_pipeline.definitions import build_definitions
from training_pipeline.errors import PipelineError
from training_pipeline.plain_error import plain_error
from training_pipeline.study.config import study_of_environment

try:
    defs = build_definitions(study_of_environment())
except PipelineError as problem:
    raise plain_error(str(problem)) from None
