"""What the ledger knows of a run and of a publication, as records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal

from training_pipeline.ledger.owners import Owner
from training_pipeline.scoring.headline import Headline


class Status(StrEnum):
    """Where a run stands."""

    QUEUED = "queued"
    BUILDING = "building"
    RUNNING = "running"
    EVALUATING = "evaluating"
    SUCCESS = "success"
    ERROR = "error"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def is_active(self) -> bool:
        """Whether the run has its turn."""
        return self in ACTIVE

    @property
    def has_ended(self) -> bool:
        """Whether nothing changes the status any more."""
        return self in ENDED


ACTIVE = (Status.BUILDING, Status.RUNNING, Status.EVALUATING)
ENDED = (Status.SUCCESS, Status.ERROR, Status.CANCELLED, Status.INTERRUPTED)


@dataclass(frozen=True)
class Progress:
    """How far the current step is; `total` 0 where nobody knows. `eta_seconds`: how long it still takes, as it goes."""

    step: str
    current: int = 0
    total: int = 0
    message: str = ""
    eta_seconds: float | None = None


@dataclass(frozen=True)
class Cost:
    """What a run took, from its turn to its end; None where it was not measured."""

    wall_seconds: float
    peak_rss_mb: float | None = None
    peak_gpu_mb: float | None = None
    gpu_seconds: float | None = None


@dataclass(frozen=True)
class WritebackReport:
    """What one publication showed, what it left out for which reason, and what it took down.

    The counts are of predictions, one per item and schema: of the run's own where `run_id` names one, else of all that
    are stored. `n_superseded_cleared` counts pre-labels that were shown before and no longer are.
    """

    run_id: str | None
    n_read: int
    n_written: int
    n_skipped_train_split: int
    n_skipped_schema_not_enabled: int
    n_skipped_rejected: int
    n_skipped_low_confidence: int
    n_skipped_missing_item: int
    n_skipped_supplied: int
    n_skipped_not_showable: int
    n_superseded_cleared: int
    schemas_enabled: tuple[str, ...]
    warnings: tuple[str, ...]
    summary: str


@dataclass(frozen=True)
class RunRecord:
    """One training run. Times are epoch seconds; texts are empty and counts 0 until they are known.

    `requested_params` are those given with the run, `params` those it ran with, and `param_sources` says of each of
    these where it came from: run, trainer_params or default. `items_written` says that every item's split is in the
    ledger. `recorded_by` is `potato` for a run that only the annotation server knows of.
    """

    run_id: str
    status: Status
    trainer: str
    schema_names: tuple[str, ...]
    backend: str
    trigger: str
    created_at: float
    dagster_run_id: str = ""
    kinds: tuple[str, ...] = ()
    started_at: float | None = None
    finished_at: float | None = None
    n_train: int = 0
    n_val: int = 0
    n_test: int = 0
    n_unlabeled: int = 0
    split_seed: int = 0
    requested_params: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    param_sources: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    headline: Headline | None = None
    not_scored_because: str | None = None
    comparable: bool = True
    warnings: tuple[str, ...] = ()
    error: str = ""
    error_code: str = ""
    bundle_digest: str = ""
    artifact_dir: str = ""
    model_version: str = ""
    writeback: WritebackReport | None = None
    cost: Cost | None = None
    progress: Progress | None = None
    owner: Owner | None = None
    items_written: bool = False
    recorded_by: Literal["pipeline", "potato"] = "pipeline"

    @property
    def waits_in(self) -> Literal["dagster", "process"] | None:
        """Where a run waits: in Dagster's queue, or in a process of its own; None if it does not wait."""
        if self.status is not Status.QUEUED:
            return None
        return "dagster" if self.owner is None else "process"

    def as_json(self) -> dict[str, Any]:
        """Return the record as plain JSON values, names as in the reference."""
        return asdict(self)
