"""A run's turn: waiting for it, and checking again when it comes that the run is still one of the study's."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from training_pipeline.errors import PipelineError
from training_pipeline.ledger import runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.owners import this_process
from training_pipeline.ledger.records import RunRecord
from training_pipeline.run_request import resolve
from training_pipeline.study.config import Study

_POLL_SECONDS = 0.5


def wait_for_turn(ledger: Ledger, run_id: str, on_place: Callable[[int], None]) -> RunRecord:
    """Wait in this process until the run has its turn, and return it; `on_place` gets its place whenever that changes.

    Raises `PipelineError`, with the run's own code, when the run has ended meanwhile.
    """
    told = None
    while not runs.take_turn(ledger, run_id, this_process()):
        place = runs.position(ledger, run_id)
        if place is not None and place != told:
            on_place(place)
            told = place
        time.sleep(_POLL_SECONDS)
    return runs.get(ledger, run_id)


def check_again(study: Study, run: RunRecord) -> None:
    """Refuse a run that the study, as it is now, does not allow any more: `invalid_when_dequeued`."""
    with invalid_when_dequeued(run):
        resolve(study, run.schema_names[0], run.trainer, run.backend, run.requested_params)


@contextmanager
def invalid_when_dequeued(run: RunRecord) -> Iterator[None]:
    """Turn what the body refuses into the refusal of a run whose study changed while it waited."""
    try:
        yield
    except PipelineError as refusal:
        raise PipelineError(
            "invalid_when_dequeued",
            f"The study changed while run {run.run_id} waited, so it cannot run any more: {refusal}",
        ) from refusal
