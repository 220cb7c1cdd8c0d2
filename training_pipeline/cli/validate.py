"""`validate`: does the study's config say what can work?"""

from __future__ import annotations

import sys

import click

from training_pipeline.cli.common import REFUSED, config_argument, config_path, explained, json_option, print_json
from training_pipeline.errors import ConfigError
from training_pipeline.study.config import CONFIG_NAME, load_study, read_yaml


@click.command()
@config_argument
@json_option
@explained
def validate(config: str | None, *, as_json: bool) -> None:
    """Check a study's config and report every problem of its model_training block.

    Exit status: 0 fine, 1 problems, 2 the file cannot be read or is not YAML.
    """
    path = config_path(config)
    read_yaml(path / CONFIG_NAME if path.is_dir() else path)
    try:
        study = load_study(path)
    except ConfigError as error:
        if as_json:
            print_json({"problems": [{"message": str(error)}], "warnings": []})
        click.echo(f"Error: {error}", err=True)
        sys.exit(REFUSED)
    if as_json:
        print_json({"problems": [], "warnings": [{"message": warning} for warning in study.warnings]})
        return
    for warning in study.warnings:
        click.echo(f"Warning: {warning}", err=True)
    schemas = ", ".join(f"{schema.name} ({schema.kind})" for schema in study.schemas)
    click.echo(f"{study.config_path}: fine. Schemas: {schemas}.")
