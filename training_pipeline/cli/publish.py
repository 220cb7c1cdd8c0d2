"""`publish` and `retract`: what annotators see, without a new run."""

from __future__ import annotations

from dataclasses import asdict

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
from training_pipeline.ledger.records import WritebackReport
from training_pipeline.publishing.study_writeback import write_back
from training_pipeline.publishing.writeback import retract as retract_run
from training_pipeline.study.items import read_index


@click.command()
@config_argument
@json_option
@explained
def publish(config: str | None, *, as_json: bool) -> None:
    """Put the stored predictions through the four checks again, as at a start, and show those that pass."""
    study = study_of(config)
    report = write_back(study, ledger_of(study), read_index(study)).republish()
    if as_json:
        print_json(asdict(report))
        return
    print_report(report)


@click.command()
@click.argument("run_id", metavar="RUN")
@config_argument
@json_option
@explained
def retract(run_id: str, config: str | None, *, as_json: bool) -> None:
    """Remove a run's stored predictions and take its pre-labels down."""
    study = study_of(config)
    retraction = retract_run(ledger_of(study), run_id)
    if as_json:
        print_json({"run_id": run_id, "retracted": retraction.n_retracted, "taken_down": retraction.n_taken_down})
        return
    click.echo(
        f"Removed {retraction.n_retracted} predictions of run {run_id}; {retraction.n_taken_down} of them were shown "
        "to annotators. A server that is running shows what it has read until it is started again."
    )


def print_report(report: WritebackReport) -> None:
    """Print what a publication did, for people."""
    click.echo(report.summary)
    counts = {key.removeprefix("n_").replace("_", " "): n for key, n in asdict(report).items() if key.startswith("n_")}
    print_table("Write-back", [{"predictions": key, "count": n} for key, n in counts.items() if n])
    for warning in report.warnings:
        click.echo(f"Warning: {warning}", err=True)
