"""Held-out rows to score."""

from __future__ import annotations

from collections.abc import Sequence

from training_pipeline.scoring.held_out import score
from training_pipeline.scoring.records import HeldOut, HeldOutScores
from training_pipeline.study.answers import Value
from training_pipeline.study.kinds import Kind
from training_pipeline.study.schemas import Schema


def rows(truths: Sequence[Value], predictions: Sequence[Value | None], groups: Sequence[str] | None = None) -> HeldOut:
    return HeldOut([f"i{k}" for k in range(len(truths))], truths, predictions, groups)


def schema(kind: Kind, options: Sequence[str] = (), scale: tuple[float, float] | None = None) -> Schema:
    return Schema("s", "any", kind, options=tuple(options), scale=scale)


def score_val(
    given: Schema, truths: Sequence[Value], predictions: Sequence[Value | None], draws: int = 20
) -> HeldOutScores:
    return score(given, {"val": rows(truths, predictions)}, keeps_best_epoch=False, seed=0, draws=draws)
