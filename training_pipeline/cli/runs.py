"""`runs`, `show` and `status`: what the ledger knows."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import click

from training_pipeline.cli.common import (
    config_argument,
    explained,
    json_option,
    ledger_of,
    print_json,
    print_table,
    study_of,
)
from training_pipeline.disk_use import bytes_below, in_words
from training_pipeline.ledger import decisions, predictions, supervisors
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import RunRecord, Status
from training_pipeline.ledger.runs import get, list_runs, position
from training_pipeline.study.config import Study


@click.command()
@config_argument
@json_option
@explained
def runs(config: str | None, *, as_json: bool) -> None:
    """List the runs that the ledger keeps, newest first."""
    study = study_of(config)
    ledger = ledger_of(study)
    found = list_runs(ledger)
    n_shown = predictions.n_shown_of_runs(ledger)
    if as_json:
        print_json({"runs": [run_document(run, n_shown) for run in found]})
    elif found:
        rows = [_row(ledger, run, n_shown) for run in found]
        print_table(study.name, rows, unbroken=("run", "status", "shown"))
    else:
        click.echo("No runs yet. Start one with `training-pipeline run --schema NAME`.")


@click.command()
@click.argument("run_id", metavar="RUN")
@config_argument
@json_option
@explained
def show(run_id: str, config: str | None, *, as_json: bool) -> None:
    """Show one run."""
    ledger = ledger_of(study_of(config))
    run = get(ledger, run_id)
    if as_json:
        print_json(run_document(run, predictions.n_shown_of_runs(ledger)))
    else:
        print_run(ledger, run)


@click.command()
@config_argument
@json_option
@explained
def status(config: str | None, *, as_json: bool) -> None:
    """Say what is going on, and what annotators see."""
    study = study_of(config)
    document = _status(study, ledger_of(study))
    if as_json:
        print_json(document)
        return
    active = document["run"]
    click.echo(f"Run {active['run_id']} is {active['status']}." if active else "No run is in progress.")
    for waiting in document["queue"]:
        asleep = "" if waiting["moves"] else ", until `training-pipeline up` runs"
        click.echo(f"Run {waiting['run_id']}: waiting #{waiting['position']}{asleep}")
    click.echo(f"Automatic runs: {_automatic_runs(document)}")
    click.echo(f"Pre-labels shown: {document['n_shown']} of {document['n_stored']} stored predictions.")
    click.echo(document["how_prelabels_reach_the_screen"])
    if document["runs_bytes"]:
        click.echo(f"Run directories take {in_words(document['runs_bytes'])} in {study.runs_dir}.")


def print_run(ledger: Ledger, run: RunRecord) -> None:
    """Print a run for people."""
    n_shown = predictions.n_shown_of_runs(ledger).get(run.run_id, 0)
    facts = {
        "run": run.run_id,
        "status": run.status,
        "error": run.error,
        "schema": ", ".join(run.schema_names),
        "trainer": f"{run.trainer} on {run.backend}",
        "items": f"train {run.n_train}, val {run.n_val}, test {run.n_test}, predicted only {run.n_unlabeled}",
        "held-out score": _score(run),
        "published at the time": run.writeback.summary if run.writeback else "",
        "shown now": f"{n_shown:,} pre-labels" if run.writeback or n_shown else "",
        "took": _cost(run),
        "training data": run.bundle_digest[:16],
        "artifacts": run.artifact_dir,
        "Dagster run": run.dagster_run_id,
    }
    print_table(f"Run {run.run_id}", [{"": key, " ": value} for key, value in facts.items() if value])
    if run.writeback:
        counts = {key: n for key, n in asdict(run.writeback).items() if key.startswith("n_skipped_") and n}
        rows = [
            {"not published at the time because": k.removeprefix("n_skipped_").replace("_", " "), "n": n}
            for k, n in counts.items()
        ]
        print_table("", rows)
    for warning in (*run.warnings, *(run.writeback.warnings if run.writeback else ())):
        click.echo(f"Warning: {warning}", err=True)


def run_document(run: RunRecord, n_shown: Mapping[str, int]) -> dict[str, Any]:
    """Return a run's record and how many of its pre-labels are shown now, `n_shown` saying that of each run."""
    return {**run.as_json(), "n_shown": n_shown.get(run.run_id, 0)}


def _row(ledger: Ledger, run: RunRecord, n_shown: Mapping[str, int]) -> dict[str, object]:
    waiting = f"waiting #{position(ledger, run.run_id)}" if run.status is Status.QUEUED else run.status
    return {
        "run": run.run_id,
        "status": waiting,
        "schema": ", ".join(run.schema_names),
        "held-out score": _score(run),
        "shown": n_shown.get(run.run_id, 0 if run.writeback else None),
    }


def _score(run: RunRecord) -> str:
    if run.headline is None:
        return f"not scored: {run.not_scored_because}" if run.not_scored_because else ""
    h = run.headline
    interval = f" ({h.low:.3f} to {h.high:.3f})" if h.low is not None and h.high is not None else ""
    caveat = "" if run.comparable else ", not comparable with earlier runs"
    return f"{h.name} {h.value:.3f}{interval} n={h.n}{caveat}"


def _cost(run: RunRecord) -> str:
    if run.cost is None:
        return ""
    memory = f", {run.cost.peak_rss_mb:.0f} MB at most" if run.cost.peak_rss_mb else ""
    return f"{run.cost.wall_seconds:.1f} s{memory}"


def _automatic_runs(document: dict[str, Any]) -> str:
    if not document["auto_retrain"]:
        return "off"
    if document["decided_at"] is None:
        return "nobody has asked yet; `training-pipeline up` does, every few seconds"
    return f"{document['skip_reason'] or 'a run was started'} ({time.time() - document['decided_at']:.0f} seconds ago)"


def _status(study: Study, ledger: Ledger) -> dict[str, Any]:
    found = list_runs(ledger)
    counts = predictions.count(ledger)
    active = next((run.as_json() for run in found if run.status.is_active), None)
    queue = [run for run in reversed(found) if run.status is Status.QUEUED]
    decision = decisions.last(ledger)
    is_up = supervisors.present(ledger) is not None
    return {
        "study": study.name,
        "enabled": study.training.enabled,
        "run": active,
        "queue": [_place(run, position, is_up=is_up) for position, run in enumerate(queue, start=1)],
        "up": is_up,
        "auto_retrain": study.training.enabled and study.training.auto_retrain.enabled,
        "skip_reason": decision and decision.skip_reason,
        "decided_at": decision and decision.decided_at,
        "runs_bytes": bytes_below(study.runs_dir),
        "n_stored": sum(counts.values()),
        "n_shown": counts.get(None, 0),
        "how_prelabels_reach_the_screen": (
            "The annotation server shows them from its next start on."
            if study.training.writeback.schemas
            else "Write-back is not enabled for any schema."
        ),
    }


def _place(run: RunRecord, position: int, *, is_up: bool) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "position": position,
        "waits_in": run.waits_in,
        "moves": is_up or run.waits_in == "process",
    }
