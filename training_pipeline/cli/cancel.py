"""`cancel`: a run that waits or goes is ended."""

from __future__ import annotations

import click

from training_pipeline.cli.common import config_argument, explained, json_option, ledger_of, print_json, study_of
from training_pipeline.stopping import cancel as cancel_run


@click.command()
@click.argument("run_id", metavar="RUN")
@config_argument
@json_option
@explained
def cancel(run_id: str, config: str | None, *, as_json: bool) -> None:
    """Cancel a run that waits or goes, and wait until nothing of it is left.

    The training process is told to stop, and killed after grace_seconds. A run that is publishing finishes.
    """
    study = study_of(config)
    ended = cancel_run(ledger_of(study), run_id, study.training.grace_seconds)
    if as_json:
        print_json(ended.as_json())
    else:
        click.echo(f"Run {run_id} is {ended.status}.")
