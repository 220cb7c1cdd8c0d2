"""What the launchpad asks of a person who starts a run."""

from typing import Any

import dagster as dg
from pydantic import Field


class Training(dg.Config):
    """What a run may say of itself; everything left out is the study's default."""

    trainer: str | None = Field(
        default=None, description="The trainer. Left out: the study's, else the first that fits."
    )
    params: dict[str, Any] = Field(
        default={},
        description="The trainer's params; they beat trainer_params. `training-pipeline trainers` lists them.",
    )
    backend: str | None = Field(default=None, description="Where it trains: local. Left out: model_training.backend.")
