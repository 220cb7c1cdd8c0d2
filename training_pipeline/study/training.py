"""The model_training block of a study's config: every key, its type and its default."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field

from training_pipeline.study.backends import LOCAL, BackendConfig
from training_pipeline.study.gate import check_gate
from training_pipeline.study.models import (
    Block,
    EmptyIsLeftOut,
    Names,
    NotNegative,
    Positive,
    Share,
    Text,
    Whole,
)
from training_pipeline.study.tiling import TilingConfig

SplitName = Literal["train", "val", "test"]
Params = Annotated[dict[str, Any], EmptyIsLeftOut]


class WritebackConfig(Block):
    """Which predictions annotators are shown."""

    schemas: Names = Field(
        default=(), description="Schemas whose predictions are shown; empty: nothing changes for annotators"
    )
    min_confidence: Share = Field(default=0.0, description="A prediction less sure than this is stored and not shown")
    field: Text = Field(default="predictions", description="The item field that carries pre-labels")
    include_unlabeled: bool = Field(
        default=False, description="Also predict items that nobody has labelled; else val and test only"
    )
    live: bool = Field(
        default=False, description="Also rewrite the file that a running server watches, so that it shows them at once"
    )
    allow_slider: bool = Field(
        default=False, description="Show slider predictions, which the server saves as answers when they are looked at"
    )
    gate: Annotated[Text, AfterValidator(check_gate)] = Field(
        default="none",
        description="When a run may replace what is shown: none (always), not_worse (than the newest published run), "
        "or a bound such as macro_f1 >= 0.7 (mae and rmse: <=)",
    )
    target_precision: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        default=None, description="Show what is this precise by val, in place of min_confidence"
    )


class AutoRetrainConfig(Block):
    """When a run starts by itself."""

    enabled: bool = Field(default=False, description="Start runs as annotations arrive")
    trainer: Text | None = Field(default=None, description="The trainer; required when enabled")
    schemas: Names = Field(default=(), description="The schemas to learn, the first of them; required when enabled")
    min_interval_s: NotNegative = Field(default=600.0, description="Seconds since the last run ended")
    update_frequency: Annotated[Whole, Field(ge=1)] = Field(
        default=25, description="New annotations since the last run"
    )
    params: Params = Field(default={}, description="Params of these runs; they beat trainer_params")
    backend: Text | None = Field(default=None, description="Where they go; null: model_training.backend")
    accept_licence: bool = Field(default=False, description="Accept the trainer's licence, where it asks for that")


class TrainingConfig(Block):
    """The whole block. An unknown key changes nothing.

    `splits` keeps the order written, on which membership depends.
    """

    model_config = ConfigDict(extra="ignore")

    enabled: bool = Field(
        default=False, description="false: the graph holds the study's answers and splits alone, and no run goes"
    )
    split_seed: Annotated[Whole, Field(ge=0)] = Field(
        default=0,
        description="Keep it fixed: a new seed moves held-out items into train; no score compares with earlier ones",
    )
    splits: dict[SplitName, NotNegative] = Field(
        default={"train": 0.7, "val": 0.15, "test": 0.15},
        description="Weights of at least 0, divided by their sum; train is required, and their order counts",
    )
    splits_by: Text | None = Field(
        default=None, description="An item field, which every item has: items that share its value share a split"
    )
    aggregation: Literal["consensus", "majority"] = Field(
        default="consensus", description="How several annotators' answers become one label"
    )
    retain_runs: Annotated[Whole, Field(ge=0)] = Field(
        default=5, description="Finished runs, whatever their outcome, kept in the ledger"
    )
    queue_max: Annotated[Whole, Field(ge=0)] = Field(default=10, description="Runs that may wait")
    max_wall_seconds: Positive | None = Field(
        default=None, description="The longest a run may take, from its worker's start; null: no limit"
    )
    max_ram_mb: Positive | None = Field(
        default=None, description="MiB of data that a training process may hold; null: no limit"
    )
    grace_seconds: NotNegative = Field(default=20.0, description="Seconds from the polite stop to the kill")
    device: Literal["auto", "cpu", "cuda", "mps"] = Field(
        default="auto", description="What a run computes on; sklearn-text uses the CPU whatever it says"
    )
    num_threads: Annotated[Whole, Field(ge=1)] | None = Field(
        default=None, description="Threads of numeric libraries; null: their own choice"
    )
    backend: Text = Field(default=LOCAL, description="The backend of a run that names none")
    backends: Annotated[dict[Text, BackendConfig], EmptyIsLeftOut] = Field(
        default={}, description="Where runs may go besides this machine, which is always there as local"
    )
    trainer_params: Annotated[dict[Text, Params], EmptyIsLeftOut] = Field(
        default={}, description="Params by trainer: a run's own beat these, these beat the trainer's defaults"
    )
    allowed_modules: Names = Field(
        default=(), description="Packages besides sklearn that a dotted path in a param may name"
    )
    auto_retrain: Annotated[AutoRetrainConfig, EmptyIsLeftOut] = Field(
        default=AutoRetrainConfig(), description="When a run starts by itself"
    )
    writeback: Annotated[WritebackConfig, EmptyIsLeftOut] = Field(
        default=WritebackConfig(), description="Which predictions annotators are shown"
    )
    tiling: Annotated[TilingConfig, EmptyIsLeftOut] = Field(
        default=TilingConfig(), description="How large images are cut"
    )
