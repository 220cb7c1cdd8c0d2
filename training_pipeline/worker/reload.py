"""The fresh process that loads a saved model and predicts with it.

It is there before the fit begins and waits until it is told that the model is saved. Replies are JSON lines on a pipe
of their own: whatever libraries print goes to stdout and disturbs nobody.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from types import TracebackType
from typing import Any, NoReturn, Self

from training_pipeline.bundle.files import json_line
from training_pipeline.bundle.reader import Bundle
from training_pipeline.trainers.registry import trainer
from training_pipeline.worker.artifacts import MODEL_DIRECTORY, check_model
from training_pipeline.worker.errors import ExitStatus, failure_of
from training_pipeline.worker.limits import peak_rss_mb
from training_pipeline.worker.predictions import PREDICTIONS_FILE, rows_to_predict, write_predictions
from training_pipeline.worker.spec import WorkerSpec

PREDICT = b"predict\n"


class _Replies:
    """The pipe back to the worker; an error that ends the block is the last reply."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def send(self, **reply: Any) -> None:
        os.write(self._descriptor, json_line(reply))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        if isinstance(error, BrokenPipeError):
            return True  # the worker is gone: nobody listens
        traceback.print_exception(error)
        failure = failure_of(error)
        code, message = failure.code, failure.message
        if not failure.expected:
            code, message = "reload_failed", f"The saved model could not be used: {type(error).__name__}: {error}"
        self.send(error={"code": code, "message": message, "hint": failure.hint})
        return True


def predict_with_saved_model(spec: WorkerSpec, replies: _Replies) -> None:
    """Load the model of a run and write its predictions."""
    bundle = Bundle.open(spec.bundle_dir)
    schema = bundle.manifest.schema(spec.schema)
    check_model(spec.artifacts_dir)
    predictor = trainer(spec.trainer).load(spec.artifacts_dir / MODEL_DIRECTORY, schema, spec.allowed_modules)
    count = write_predictions(
        predictor.predict(rows_to_predict(bundle)),
        schema,
        spec.artifacts_dir / PREDICTIONS_FILE,
        lambda current: replies.send(current=current),
    )
    replies.send(done=count, peak_rss_mb=peak_rss_mb())


def live_apart(spec: WorkerSpec, requests: int, replies: int) -> NoReturn:
    """Be the fresh process, just forked: wait for `PREDICT` on one pipe, predict, reply on the other, and end."""
    status = ExitStatus.FAILED
    try:
        sys.argv = [__file__]  # for libraries and people who ask which of the two processes this is
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        with _Replies(replies) as pipe:
            if os.read(requests, len(PREDICT)):
                predict_with_saved_model(spec, pipe)
            status = ExitStatus.DONE
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)  # what the parent would do at its end is not for this process to do
