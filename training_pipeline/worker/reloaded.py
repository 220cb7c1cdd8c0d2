"""The worker's side of the fresh process: start it, let it predict, see that it answers as the model did."""

from __future__ import annotations

import gc
import json
import math
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from training_pipeline.bundle.files import json_line
from training_pipeline.worker.errors import WorkerError
from training_pipeline.worker.reload import PREDICT, live_apart
from training_pipeline.worker.spec import WorkerSpec

N_CHECKED = 200
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Reloaded:
    """What the fresh process did."""

    n_predictions: int
    peak_rss_mb: float


class ReloadedModel:
    """The fresh process of one run. Leaving the `with` block ends it.

    It is forked before the fit, with the trainer's libraries imported and nothing else done: they are neither imported
    nor held in memory twice, and all that it will know of the model is what was saved.
    """

    def __init__(self, spec: WorkerSpec) -> None:
        heard, self._requests = os.pipe()
        replies, told = os.pipe()
        gc.freeze()  # a collection in either process would copy all the memory that the two share
        self._pid: int | None = os.fork()
        if self._pid == 0:
            os.close(self._requests)
            os.close(replies)
            live_apart(spec, heard, told)
        os.close(heard)
        os.close(told)
        self._replies = os.fdopen(replies, "rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._requests)
        self._replies.close()
        if self._pid is not None:
            os.kill(self._pid, signal.SIGKILL)
            self._wait_for_end()

    def start_predicting(self) -> None:
        """Tell the process that the model is saved."""
        with suppress(BrokenPipeError):  # it ended before; its replies, or their absence, say why
            os.write(self._requests, PREDICT)

    def wait(self, progress: Callable[[int], None]) -> Reloaded:
        """Wait for the predictions, telling `progress` their count. Raises WorkerError as the process reports it."""
        for line in self._replies:
            reply = json.loads(line)
            if "error" in reply:
                raise WorkerError(**reply["error"])
            if "done" in reply:
                progress(reply["done"])
                return Reloaded(reply["done"], reply["peak_rss_mb"])
            progress(reply["current"])
        raise _ended_early(self._wait_for_end())

    def _wait_for_end(self) -> int:
        """Wait for the process and return its exit status, -n where signal n ended it."""
        status = 0 if self._pid is None else os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        self._pid = None
        return status


def first_records(predictions_file: Path, n: int = N_CHECKED) -> list[dict[str, Any]]:
    """Return the first records of a predictions file."""
    with predictions_file.open("rb") as lines:
        return [json.loads(line) for line in islice(lines, n)]


def check_same(of_model: Sequence[dict[str, Any]], of_copy: Sequence[dict[str, Any]]) -> None:
    """Raise WorkerError `reload_failed` unless the reloaded copy predicts what the fitted model did.

    Labels must be equal; numbers may differ by a billionth, which another order of summation can make.
    """
    n_other = sum(not _same(one, other) for one, other in zip(_as_read(of_model), of_copy, strict=False))
    if n_other or len(of_model) != len(of_copy):
        raise WorkerError(
            "reload_failed",
            f"The saved model answers differently from the fitted one on {n_other} of {len(of_model)} held-out items.",
            "Nothing is scored or published. The estimator does not survive saving: choose another.",
        )


def _as_read(records: Sequence[dict[str, Any]]) -> Iterator[Any]:
    return (json.loads(json_line(record)) for record in records)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def _ended_early(status: int) -> WorkerError:
    if status < 0:
        return WorkerError(
            "killed" if status == -9 else "signal",
            f"The process that predicts with the saved model was ended by signal {-status}.",
            "Signal 9 mostly means that the machine ran out of memory: train on fewer items, or set max_ram_mb.",
        )
    return WorkerError(
        "reload_failed",
        f"The process that predicts with the saved model ended with status {status}.",
        "The end of stderr.log of the run says why.",
    )
