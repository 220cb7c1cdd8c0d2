"""Whether a run should start by itself now, and if not, why.

Three questions, in this order: is a run in progress or waiting; has `min_interval_s` passed since the last one ended;
are there `update_frequency` new annotations. All that the answers need is in the ledger, so they survive a restart.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training_pipeline.ledger import answer_counts, decisions, runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import RunRecord
from training_pipeline.run_request import RunRequest, resolve
from training_pipeline.study.answers import Answers, LeftOut, answered_items
from training_pipeline.study.config import Study
from training_pipeline.study.schemas import Schema
from training_pipeline.study.states import STATE_NAME, UnreadableStateError, state_marks

IN_PROGRESS = "a run is already in progress"


@dataclass(frozen=True)
class Attempt:
    """An automatic run that had no turn yet. `ended_at` is in epoch seconds, None while it has not ended."""

    ended_at: float | None


@dataclass(frozen=True)
class Decision:
    """`skip_reason` says why no run starts; None: one starts. `attempt` names it, each time another name.

    `after` is the id of the last run that had its turn, `none` before the first.
    """

    skip_reason: str | None
    after: str
    attempt: str = ""


def automatic_run(study: Study) -> RunRequest:
    """Return the run that starts by itself: of the first schema named, with the block's trainer, params and backend.

    Raises `PipelineError` where it could not run.
    """
    settings = study.training.auto_retrain
    return resolve(study, settings.schemas[0], settings.trainer, settings.backend, settings.params)


def decide(study: Study, schema: Schema, ledger: Ledger, attempts: Callable[[str], list[Attempt]]) -> Decision:
    """Decide now, and note the decision in the ledger.

    `attempts` gives the automatic runs that were asked for since a run (`Decision.after`).
    """
    decision = _decide(study, schema, ledger, attempts)
    decisions.note(ledger, decision.skip_reason)
    return decision


def note_answers(ledger: Ledger, run_id: str, answers: Answers, left_out: LeftOut) -> None:
    """Note which answers a run has, so that those that come from now on are the new ones."""
    hashes = np.array([answer_counts.item_hash(item) for item in answers.items], dtype="S8")
    of_annotator = dict(_blobs(answers, hashes))
    for annotator, item in left_out.unknown_items:
        of_annotator[annotator] = of_annotator.get(annotator, b"") + answer_counts.item_hash(item)
    unread = [path.parent.name for path, _ in left_out.unreadable_files]
    answer_counts.note_trained(ledger, answers.schema.name, run_id, of_annotator, unread)


def _decide(study: Study, schema: Schema, ledger: Ledger, attempts: Callable[[str], list[Attempt]]) -> Decision:
    settings = study.training.auto_retrain
    ours = [run for run in runs.list_runs(ledger) if run.recorded_by == "pipeline"]
    ours.sort(key=lambda run: run.run_id, reverse=True)  # ids rise when the clock is put back, times do not
    started = [run for run in ours if run.started_at is not None]
    after = started[0].run_id if started else "none"
    if not all(run.status.has_ended for run in ours):
        return Decision(IN_PROGRESS, after)
    waiting = _interval(settings.min_interval_s, started[0].finished_at if started else None)
    waiting = waiting or _count(settings.update_frequency, _new_annotations(study, schema, ledger, started))
    if waiting is not None:
        return Decision(waiting, after)
    earlier = attempts(after)
    if any(attempt.ended_at is None for attempt in earlier):
        return Decision(IN_PROGRESS, after)
    ended = max((attempt.ended_at for attempt in earlier if attempt.ended_at is not None), default=None)
    return Decision(_interval(settings.min_interval_s, ended), after, f"{after}/{len(earlier) + 1}")


def _interval(min_interval_s: float, ended_at: float | None) -> str | None:
    if ended_at is None:
        return None
    passed = time.time() - ended_at
    # A clock that was put back makes the end lie in the future; beyond an interval that says nothing any more.
    if abs(passed) >= min_interval_s:
        return None
    return f"waiting {math.ceil(min_interval_s - max(passed, 0.0))} more second(s) since the last run"


def _count(update_frequency: int, n_new: int) -> str | None:
    missing = update_frequency - n_new
    return f"waiting for {missing} more annotation(s)" if missing > 0 else None


def _new_annotations(study: Study, schema: Schema, ledger: Ledger, started: list[RunRecord]) -> int:
    of_schema = next((run.run_id for run in started if schema.name in run.schema_names), None)
    if of_schema is not None and answer_counts.run_of_answers(ledger, schema.name) != of_schema:
        # The run ended before it had read an answer. What made it start must not make it start again.
        answer_counts.note_counted_as_trained(ledger, schema.name, of_schema)
    version = hashlib.blake2b(repr(schema).encode(), digest_size=8).hexdigest()
    marks = {
        annotator: f"{version} {mark}"
        for annotator, mark in state_marks(study).items()
        if annotator not in study.machine_annotators
    }

    def read(annotator: str) -> bytes | None:
        try:
            return answer_counts.blob_of(answered_items(study, schema, study.output_dir / annotator / STATE_NAME))
        except UnreadableStateError:
            return None

    return answer_counts.count_new(ledger, schema.name, marks, read)


def _blobs(answers: Answers, hashes: NDArray[np.bytes_]) -> Iterator[tuple[str, bytes]]:
    """Yield each annotator's items as one blob; the rows of an annotator stand together."""
    ends = np.searchsorted(answers.annotator, np.arange(len(answers.annotators)), side="right").tolist()
    for annotator, start, end in zip(answers.annotators, [0, *ends], ends, strict=False):
        yield annotator, hashes[answers.item[start:end]].tobytes()
