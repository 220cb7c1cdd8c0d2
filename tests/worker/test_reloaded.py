"""The comparison of the reloaded copy with the fitted model."""

from __future__ import annotations

from typing import Any

import pytest

from training_pipeline.worker.errors import WorkerError
from training_pipeline.worker.reloaded import check_same


def record(payload: Any, confidence: float | None) -> dict[str, Any]:
    return {"instance_id": "a", "schema_name": "s", "payload": payload, "confidence": confidence}


@pytest.mark.parametrize(
    ("fitted", "reloaded"),
    [
        (record({"label": "x", "confidence": 0.5}, 0.5), record({"label": "x", "confidence": 0.5 + 1e-12}, 0.5)),
        (record(("a", "b"), None), record(["a", "b"], None)),
        (record(2.5, None), record(2.5 + 1e-12, None)),
    ],
)
def test_the_same_answers_pass(fitted: dict[str, Any], reloaded: dict[str, Any]) -> None:
    check_same([fitted], [reloaded])


@pytest.mark.parametrize(
    "reloaded",
    [
        [record({"label": "y", "confidence": 0.5}, 0.5)],
        [record({"label": "x", "confidence": 0.5}, 0.5 + 1e-8)],
        [record({"label": "x"}, 0.5)],
        [record({"label": "x", "confidence": 0.5}, None)],
        [record([{"label": "x", "confidence": 0.5}], 0.5)],
        [record({"label": "x", "confidence": 0.5}, 0.5) | {"instance_id": "b"}],
        [],
    ],
)
def test_other_answers_do_not(reloaded: list[dict[str, Any]]) -> None:
    with pytest.raises(WorkerError, match="answers differently") as refused:
        check_same([record({"label": "x", "confidence": 0.5}, 0.5)], reloaded)
    assert refused.value.code == "reload_failed"
