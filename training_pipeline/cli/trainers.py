"""`trainers`: what can be trained with, and with which params."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from training_pipeline.cli.common import config_argument, explained, json_option, print_json, print_table, study_of
from training_pipeline.study.config import Study
from training_pipeline.trainers.registry import TrainerDescription, describe_all


@click.command()
@config_argument
@json_option
@explained
def trainers(config: str | None, *, as_json: bool) -> None:
    """List the trainers; with CONFIG also which schemas of the study each can learn."""
    study = study_of(config) if config else None
    described = describe_all()
    if as_json:
        print_json({"trainers": [_document(one, study) for one in described]})
        return
    for one in described:
        installed = "installed" if one.installed else f"missing: {', '.join(one.missing)}; {one.install}"
        click.echo(f"{one.name}: {one.summary}\n  learns {', '.join(one.kinds)}; {one.licence}; {installed}")
        if study:
            click.echo(f"  schemas of this study: {', '.join(_schemas(one, study)) or 'none'}")
        params = [{"param": p.name, "type": p.type, "default": p.default, "what": p.description} for p in one.params]
        print_table("", params)


def _document(one: TrainerDescription, study: Study | None) -> dict[str, Any]:
    document = {**asdict(one), "installed": one.installed}
    return document if study is None else {**document, "schemas": _schemas(one, study)}


def _schemas(one: TrainerDescription, study: Study) -> list[str]:
    return [schema.name for schema in study.schemas if schema.kind in one.kinds]
