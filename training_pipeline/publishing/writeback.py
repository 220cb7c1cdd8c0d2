"""Write-back: a run's predictions stored, and those that pass the checks shown to annotators as pre-labels."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import orjson

from training_pipeline.errors import PipelineError
from training_pipeline.ledger import runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.fingerprint import take
from training_pipeline.ledger.predictions import Exclusion
from training_pipeline.ledger.records import WritebackReport
from training_pipeline.ledger.staging import Generation, StagedRow, new_generation, save_report
from training_pipeline.publishing import payloads
from training_pipeline.publishing.checks import Checks, KnownItems, WritebackSettings, hidden_schemas, read_guard
from training_pipeline.publishing.predictions_file import Prediction
from training_pipeline.publishing.report import write_report
from training_pipeline.study.schemas import Schema

_ATTEMPTS = 5


@dataclass(frozen=True)
class Retraction:
    """What a retraction removed: `n_retracted` stored predictions, of which `n_taken_down` were shown."""

    run_id: str
    n_retracted: int
    n_taken_down: int


@dataclass(frozen=True)
class WriteBack:
    """Write-back of one study: what it shows (`settings`), its `schemas`, and the `items` it has."""

    ledger: Ledger
    settings: WritebackSettings
    schemas: Sequence[Schema]
    items: KnownItems

    def publish(self, run_id: str, predictions: Iterable[Prediction]) -> WritebackReport:
        """Store a run's predictions, show those that pass the checks, and take down what no longer does.

        The run must be evaluating or have succeeded, its splits written. All of it counts at once, with the report, or
        not at all. A newer run's predictions replace an older one's; where the newest of an item and schema is not
        shown, the older pre-label comes down all the same.
        """
        with self.ledger.read() as connection:
            runs.require_publishable(connection, self.ledger.project, run_id)
        by_name = {schema.name: schema for schema in self.schemas}
        return self._rebuild(run_id, _rows(run_id, predictions, by_name))

    def republish(self) -> WritebackReport:
        """Put what is stored through the checks again, without a new run: at a start, or when a setting changed."""
        checks = self._checks()
        live = Generation(self.ledger, checks.guard.fingerprint.live_generation)
        if not live.is_what_is_shown() or any(checks.decided(row) != row for row in live.rows()):
            return self._rebuild(None, ())
        report = self._report(live, None, n_read=None, checks=checks)
        with self.ledger.transaction() as connection:
            save_report(connection, self.ledger.project, report, None)
        return report

    def _rebuild(
        self, run_id: str | None, rows: Iterable[StagedRow], *, n_read: int | None = None, attempt: int = 1
    ) -> WritebackReport:
        checks = self._checks()
        expected = checks.guard.fingerprint
        with new_generation(self.ledger) as generation:
            n_added = generation.add_new(checks.decided(row) for row in rows)
            n_read = n_added if n_read is None else n_read
            older = _older(generation, live=expected.live_generation, without_run=run_id)
            generation.add_older(checks.decided(row) for row in older)
            report = self._report(generation, run_id, n_read=n_read if run_id else None, checks=checks)
            if generation.go_live(expected, report, run_id):
                return report
            if attempt == _ATTEMPTS:
                raise _never_still(self.ledger)
            own = (row for row in generation.rows() if row.run_id == run_id)
            return self._rebuild(run_id, own, n_read=n_read, attempt=attempt + 1)

    def _checks(self) -> Checks:
        by_name = {schema.name: schema for schema in self.schemas}
        hidden = hidden_schemas(by_name, self.settings)
        with self.ledger.read() as connection:
            guard = read_guard(connection, self.ledger.project)
        return Checks(settings=self.settings, schemas=by_name, hidden=hidden, items=self.items, guard=guard)

    def _report(
        self, generation: Generation, run_id: str | None, *, n_read: int | None, checks: Checks
    ) -> WritebackReport:
        counts = generation.count(run_id, enabled=self.settings.schemas)
        return write_report(
            run_id=run_id,
            settings=self.settings,
            n_read=sum(counts.values()) if n_read is None else n_read,
            n_of_exclusion=counts,
            n_cleared=generation.count_coming_down(),
            warnings=checks.warnings(generation.rows_of(run_id, exclusion=Exclusion.NOT_SHOWABLE)),
        )


def retract(ledger: Ledger, run_id: str) -> Retraction:
    """Remove a run's stored predictions and take its pre-labels down; raises `unknown_run`.

    What the run had replaced does not come back: an older model's word is no better for the newer one's failing.
    """
    runs.get(ledger, run_id)
    for _ in range(_ATTEMPTS):
        with ledger.read() as connection:
            expected = take(connection, ledger.project)
        with new_generation(ledger) as generation:
            everything = _older(generation, live=expected.live_generation, without_run=None)
            n_retracted = sum(row.run_id == run_id for row in everything)
            if not n_retracted:
                return Retraction(run_id, 0, 0)
            generation.add_older(_older(generation, live=expected.live_generation, without_run=run_id))
            n_taken_down = generation.count_coming_down()
            if generation.go_live(expected, None, None):
                return Retraction(run_id, n_retracted, n_taken_down)
    raise _never_still(ledger)


def _rows(run_id: str, predictions: Iterable[Prediction], by_name: Mapping[str, Schema]) -> Iterator[StagedRow]:
    now = time.time()
    for instance_id, schema_name, payload, confidence in predictions:
        schema = by_name.get(schema_name)
        shaped = payloads.checked(schema, payload) if schema else payload
        yield StagedRow(instance_id, schema_name, run_id, orjson.dumps(shaped).decode(), confidence, now, "")


def _older(generation: Generation, *, live: int, without_run: str | None) -> Iterator[StagedRow]:
    return chain(
        generation.stored_before(live=live, without_run=without_run),
        generation.shown_by_the_server(live=live, without_run=without_run),
    )


def _never_still(ledger: Ledger) -> PipelineError:
    return PipelineError(
        "ledger_busy",
        f"Other programs changed {ledger.path} each of the {_ATTEMPTS} times that the pre-labels were about to be"
        " replaced, so they stay as they were. Try again when no other run, publication or review is going on.",
    )
