"""`training-pipeline COMMAND ...`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from training_pipeline import __version__
from training_pipeline.cli.audit import audit
from training_pipeline.cli.cancel import cancel
from training_pipeline.cli.check import check
from training_pipeline.cli.provenance import provenance
from training_pipeline.cli.publish import publish, retract
from training_pipeline.cli.run import run
from training_pipeline.cli.runs import runs, show, status
from training_pipeline.cli.trainers import trainers
from training_pipeline.cli.up import up
from training_pipeline.cli.validate import validate
from training_pipeline.study.config import TRAINING_VARIABLE


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="training-pipeline")
@click.option(
    "--training",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file that replaces the model_training block. Left out: training.yaml beside the config.",
)
def main(training: Path | None) -> None:
    """Train on an annotation study, score honestly, and show pre-labels that can be traced.

    CONFIG is the study's YAML file, or its folder; left out, it is TRAINING_PIPELINE_CONFIG, else ./config.yaml. With
    --json a command prints one JSON document on stdout. Exit status: 0 done, 1 refused or failed, 2 wrong usage or
    unreadable config, 130 interrupted.
    """
    if training is not None:
        # The processes that a command starts read the study too.
        os.environ[TRAINING_VARIABLE] = str(training.absolute())


for command in (validate, check, trainers, run, cancel, runs, show, status, publish, retract, audit, provenance, up):
    main.add_command(command)
