"""`check`: try a backend before a run depends on it."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

import click

from training_pipeline.backend_check import BackendCheck, LocalFacts, check_backend
from training_pipeline.cli.common import (
    REFUSED,
    config_argument,
    explained,
    json_option,
    print_json,
    print_table,
    study_of,
)


@click.command()
@click.argument("backend")
@config_argument
@json_option
@explained
def check(backend: str, config: str | None, *, as_json: bool) -> None:
    """Try a backend: its device, memory, GPUs, disk, and the packages that trainers lack there.

    Exit status: 0 a run may go there, 1 it may not.
    """
    checked = check_backend(study_of(config), backend)
    if as_json:
        print_json(_document(checked))
    else:
        _print(checked)
    if not checked.usable:
        sys.exit(REFUSED)


def _document(checked: BackendCheck) -> dict[str, Any]:
    document = {**asdict(checked), "usable": checked.usable}
    if checked.facts is not None:
        document["facts"]["runs_dir"] = str(checked.facts.runs_dir)
    return document


def _print(checked: BackendCheck) -> None:
    click.echo(checked.summary)
    if checked.facts is not None:
        _print_facts(checked.facts)
    for warning in checked.warnings:
        click.echo(f"Warning: {warning}", err=True)
    for problem in checked.problems:
        click.echo(f"Not usable: {problem}", err=True)


def _print_facts(facts: LocalFacts) -> None:
    free = "" if facts.memory.available_mb is None else f", {facts.memory.available_mb} MiB available"
    click.echo(f"Memory: {facts.memory.total_mb} MiB{free}")
    for gpu in facts.gpus:
        click.echo(f"GPU {gpu.index}: {gpu.name}, {gpu.memory_free_mb} of {gpu.memory_total_mb} MiB free")
    click.echo(f"Disk: {facts.free_disk_mb} MiB free in {facts.runs_dir}")
    rows = [
        {
            "trainer": one.trainer,
            "packages": f"missing: {', '.join(one.missing)}" if one.missing else "all here",
            "": "" if one.available else "in a later version",
        }
        for one in facts.trainers
    ]
    print_table("", rows)
