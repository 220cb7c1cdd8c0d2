"""`training-pipeline COMMAND ...`."""

from __future__ import annotations

import click

from training_pipeline import __version__
from training_pipeline.cli.audit import audit
from training_pipeline.cli.cancel import cancel
from training_pipeline.cli.provenance import provenance
from training_pipeline.cli.publish import publish, retract
from training_pipeline.cli.run import run
from training_pipeline.cli.runs import runs, show, status
from training_pipeline.cli.trainers import trainers
from training_pipeline.cli.up import up
from training_pipeline.cli.validate import validate


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="training-pipeline")
def main() -> None:
    """Train on an annotation study, score honestly, and show pre-labels that can be traced.

    CONFIG is the study's YAML file, or its folder; left out, it is TRAINING_PIPELINE_CONFIG, else ./config.yaml. With
    --json a command prints one JSON document on stdout. Exit status: 0 done, 1 refused or failed, 2 wrong usage or
    unreadable config, 130 interrupted.
    """


for command in (validate, trainers, run, cancel, runs, show, status, publish, retract, audit, provenance, up):
    main.add_command(command)
