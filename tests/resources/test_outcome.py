"""How a worker ended, from its last event and its exit status."""

from __future__ import annotations

from typing import Any

import pytest

from training_pipeline.errors import PipelineError
from training_pipeline.resources.outcome import result_of

RESULT = {"event": "result", "model_version": "m1"}


def test_a_result_with_exit_status_0_is_a_success() -> None:
    assert result_of(RESULT, 0, "stderr.log") is RESULT


@pytest.mark.parametrize(
    ("last", "status", "code", "message"),
    [
        (
            {"event": "error", "code": "fit_failed", "message": "No.", "hint": "Mend it."},
            1,
            "fit_failed",
            "No. Mend it.",
        ),
        ({"event": "error", "code": "fit_failed", "message": "No."}, 1, "fit_failed", "No."),
        (RESULT, 1, "no_result", "The training process ended with status 1 and without a result. E may say why."),
        (None, 0, "no_result", "The training process ended with status 0 and without a result. E may say why."),
        ({"event": "progress"}, -11, "signal", "The training process was ended by SIGSEGV. E may say why."),
        ({"event": "progress"}, 128 + 11, "signal", "The training process was ended by SIGSEGV. E may say why."),
        (None, 128 + 63, "signal", "The training process was ended by signal 63. E may say why."),
    ],
)
def test_everything_else_is_an_error(last: dict[str, Any] | None, status: int, code: str, message: str) -> None:
    with pytest.raises(PipelineError) as raised:
        result_of(last, status, "E")
    assert (raised.value.code, str(raised.value)) == (code, message)


@pytest.mark.parametrize("status", [-9, 137])
def test_a_kill_is_told_from_a_crash_and_names_the_mend(status: int) -> None:
    with pytest.raises(PipelineError) as raised:
        result_of(None, status, "E")
    assert raised.value.code == "killed"
    assert str(raised.value) == (
        "The training process was killed (SIGKILL), usually because the machine ran out of memory. Use a smaller model "
        "or fewer items, or set model_training.max_ram_mb so that the run fails inside its own limit."
    )
