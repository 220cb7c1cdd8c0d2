"""`audit`: is there leakage, from the ledger and the bundles alone?"""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

import click

from training_pipeline.bundle.reader import Bundle
from training_pipeline.cli.common import (
    REFUSED,
    config_argument,
    explained,
    json_option,
    ledger_of,
    print_json,
    print_table,
    study_of,
)
from training_pipeline.leakage import BundleLeakage, examine
from training_pipeline.ledger.audit import published_in_train
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import Status
from training_pipeline.ledger.runs import list_runs
from training_pipeline.run_directory import RunDirectory
from training_pipeline.study.config import Study


@click.command()
@config_argument
@json_option
@explained
def audit(config: str | None, *, as_json: bool) -> None:
    """Prove that nothing shown or scored was trained on.

    No published pre-label's item is in train of any run kept, and no item or group of a run stands in two splits: exit
    status 1 names those that are. Identical texts in two splits are listed as a warning.
    """
    study = study_of(config)
    ledger = ledger_of(study)
    shown = published_in_train(ledger)
    by_run = dict(_by_run(study, ledger))
    broken = bool(shown) or any(found.is_broken for found in by_run.values())
    if as_json:
        print_json(
            {
                "leakage": broken,
                "published_in_train": [row._asdict() for row in shown],
                "runs": {run_id: _document(found) for run_id, found in by_run.items()},
            }
        )
    else:
        print_table("Pre-labels on train items", [row._asdict() for row in shown])
        for run_id, found in by_run.items():
            _print_run(run_id, found)
        click.echo("Leakage was found." if broken else f"No leakage: {len(by_run)} runs examined.")
    if broken:
        sys.exit(REFUSED)


def _by_run(study: Study, ledger: Ledger) -> list[tuple[str, BundleLeakage]]:
    found = []
    for run in list_runs(ledger):
        directory = RunDirectory(study.runs_dir / run.run_id)
        if run.recorded_by == "pipeline" and run.status is Status.SUCCESS and directory.bundle.is_dir():
            found.append((run.run_id, examine(ledger, run.run_id, Bundle.open(directory.bundle))))
    return found


def _document(found: BundleLeakage) -> dict[str, Any]:
    return {
        "in_two_splits": [row._asdict() for row in found.in_two_splits],
        "differs_from_ledger": found.differs_from_ledger,
        "identical_texts": [asdict(twin) for twin in found.twins],
    }


def _print_run(run_id: str, found: BundleLeakage) -> None:
    print_table(f"{run_id}: in two splits", [row._asdict() for row in found.in_two_splits])
    print_table(f"{run_id}: not as the ledger says", [{"item": item} for item in found.differs_from_ledger])
    if found.twins:
        click.echo(
            f"Warning: {len(found.twins)} held-out items of {run_id} have the same text as an item of another split; "
            "splits_by keeps such items together.",
            err=True,
        )
        print_table(f"{run_id}: identical texts", [asdict(twin) for twin in found.twins])
