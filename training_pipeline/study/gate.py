"""`writeback.gate`: when a run's predictions may replace those that are shown."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from training_pipeline.study.models import sentence
from training_pipeline.trainers.wording import near_miss, shown

FLOOR, CEILING = ">=", "<="

METRICS: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "accuracy",
            "ap50",
            "dice",
            "exact_match",
            "f1",
            "macro_f1",
            "map",
            "mean_iou",
            "micro_f1",
            "pair_accuracy",
            "precision",
            "qwk",
            "r2",
            "recall",
            "relaxed_f1",
            "spearman",
            "token_f1",
        ),
        FLOOR,
    ),
    "mae": CEILING,
    "rmse": CEILING,
}
"""The metrics that a gate may ask for, and on which side of its bound a good value lies."""

_BOUND = re.compile(r"(\w+)\s*(>=|<=)\s*([-+.\w]+)")
_FORMS = "Write none, not_worse, or a bound such as macro_f1 >= 0.7."


def check_gate(gate: str) -> str:
    """Return the gate as it is written, if it can be read; else raise a validator's error."""
    if gate in ("none", "not_worse"):
        return gate
    bound = _BOUND.fullmatch(gate.strip())
    if bound is None:
        near = near_miss(gate, ("none", "not_worse"))
        raise sentence(f"Must be none, not_worse or a bound of a metric, not {shown(gate)}.", near or _FORMS)
    metric, side, value = bound.groups()
    if metric not in METRICS:
        near = near_miss(metric, METRICS)
        raise sentence(f"There is no metric {shown(metric)}.", near or f"There are {', '.join(METRICS)}.")
    if side != METRICS[metric]:
        better = "higher" if METRICS[metric] == FLOOR else "lower"
        raise sentence(f"Of {metric} a {better} value is better.", f"Write {metric} {METRICS[metric]} {value}.")
    if not _is_number(value):
        raise sentence(f"{shown(value)} is no number.", _FORMS)
    return gate


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
