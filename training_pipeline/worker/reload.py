"""The fresh process that loads a saved model and predicts with it: `python -m training_pipeline.worker.reload`.

It is started when the fit starts, so that importing the trainer's libraries costs no time of its own, and waits for a
line on stdin before it touches the model. Replies are JSON lines on a pipe of their own: whatever libraries print goes
to stdout and disturbs nobody.
"""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from training_pipeline.bundle.files import json_line
from training_pipeline.bundle.reader import Bundle
from training_pipeline.trainers.registry import trainer
from training_pipeline.worker.artifacts import MODEL_DIRECTORY, check_model
from training_pipeline.worker.errors import ExitStatus, failure_of
from training_pipeline.worker.limits import peak_rss_mb
from training_pipeline.worker.predictions import PREDICTIONS_FILE, rows_to_predict, write_predictions
from training_pipeline.worker.spec import WorkerSpec, read_spec


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


def main(arguments: list[str]) -> int:
    """Take the path of a spec and the descriptor of the pipe for replies; wait for a line on stdin; predict."""
    spec_path, descriptor = arguments
    with _Replies(int(descriptor)) as replies:
        spec = read_spec(Path(spec_path))
        trainer(spec.trainer).warm_up()
        if sys.stdin.readline():
            predict_with_saved_model(spec, replies)
        return ExitStatus.DONE
    return ExitStatus.FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
