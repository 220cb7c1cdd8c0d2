"""How a worker ended: from the event that ended it and its exit status, never from silence."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Any

from training_pipeline.errors import PipelineError

_SIGNALLED = 128  # a worker that signal n ended is reported with 128 + n


def result_of(end: Mapping[str, Any] | None, exit_status: int, stderr_path: object) -> Mapping[str, Any]:
    """Return the worker's result event. Only a result and exit status 0 together are a success.

    Raises `PipelineError` with the worker's own code and words, else `killed`, `signal` or `no_result`.
    """
    event = end or {}
    if event.get("event") == "result" and exit_status == 0:
        return event
    if event.get("event") == "error":
        raise PipelineError(str(event["code"]), f"{event['message']} {event.get('hint', '')}".rstrip())
    if exit_status in (-signal.SIGKILL, _SIGNALLED + signal.SIGKILL):
        raise PipelineError(
            "killed",
            "The training process was killed (SIGKILL), usually because the machine ran out of memory. Use a smaller "
            "model or fewer items, or set model_training.max_ram_mb so that the run fails inside its own limit.",
        )
    if exit_status < 0 or exit_status > _SIGNALLED:
        number = -exit_status if exit_status < 0 else exit_status - _SIGNALLED
        raise PipelineError("signal", f"The training process was ended by {_name(number)}. {stderr_path} may say why.")
    raise PipelineError(
        "no_result",
        f"The training process ended with status {exit_status} and without a result. {stderr_path} may say why.",
    )


def _name(number: int) -> str:
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
