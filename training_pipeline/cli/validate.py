"""`validate`: does the study's config say what can work?"""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

import click

from training_pipeline.cli.common import REFUSED, config_argument, config_path, explained, json_option, print_json
from training_pipeline.study.block_schema import block_schema
from training_pipeline.study.config import CheckedStudy, check_study
from training_pipeline.study.problems import Problem


@click.command()
@config_argument
@click.option("--strict", is_flag=True, help="Warnings are failures too.")
@click.option(
    "--schema", "print_schema", is_flag=True, help="Print the JSON Schema of the block, for editors, instead."
)
@json_option
@explained
def validate(config: str | None, *, strict: bool, print_schema: bool, as_json: bool) -> None:
    """Check a study's config and report every problem of it at once, each with its key, its place and its mend.

    Exit status: 0 fine, 1 problems, 2 the file cannot be read or is not YAML. Items and answers are not read.
    """
    if print_schema:
        print_json(block_schema())
        return
    checked = check_study(config_path(config))
    report = checked.report
    if as_json:
        print_json(
            {"problems": list(map(_document, report.problems)), "warnings": list(map(_document, report.warnings))}
        )
    else:
        _print(checked)
    if report.problems or (strict and report.warnings):
        sys.exit(REFUSED)


def _document(problem: Problem) -> dict[str, Any]:
    return {**asdict(problem), "file": str(problem.file)}


def _print(checked: CheckedStudy) -> None:
    for warning in checked.report.warnings:
        click.echo(f"Warning: {warning}\n", err=True)
    if checked.study is None:
        click.echo(checked.report.describe(), err=True)
        return
    schemas = ", ".join(f"{schema.name} ({schema.kind})" for schema in checked.study.schemas)
    click.echo(f"{checked.config_path}: fine. Schemas: {schemas}.")
