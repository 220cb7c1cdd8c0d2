"""`trainers`: what can be trained with, and with which params."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import click

from training_pipeline.cli.common import config_argument, explained, json_option, print_json, print_table, study_of
from training_pipeline.run_request import PARAM_ORDER, param_sources
from training_pipeline.study.config import Study
from training_pipeline.trainers.params import ParamDescription
from training_pipeline.trainers.registry import TrainerDescription, describe_all


@click.command()
@config_argument
@json_option
@explained
def trainers(config: str | None, *, as_json: bool) -> None:
    """List the trainers; with CONFIG also which schemas of the study each can learn, and what its params are there.

    A param of a run beats trainer_params, and that beats the trainer's default.
    """
    study = study_of(config) if config else None
    described = describe_all()
    if as_json:
        print_json({"param_order": PARAM_ORDER, "trainers": [_document(one, study) for one in described]})
        return
    for one in described:
        click.echo(f"{one.name}: {one.summary}\n  learns {', '.join(one.kinds)}; {one.licence}; {_readiness(one)}")
        if study:
            click.echo(f"  schemas of this study: {', '.join(_schemas(one, study)) or 'none'}")
        print_table("", [_row(param, _in_effect(param, one, study)) for param in one.params])


def _readiness(one: TrainerDescription) -> str:
    if not one.available:
        return "not available in this version"
    return "installed" if one.installed else f"missing: {', '.join(one.missing)}; {one.install}"


def _in_effect(param: ParamDescription, one: TrainerDescription, study: Study | None) -> Mapping[str, Any]:
    """Return what a run that brings nothing of its own uses, and where that comes from."""
    if study is None:
        return {}
    configured = study.training.trainer_params.get(one.name, {})
    source = param_sources(study, one.name, {})[param.name]
    return {"value": configured.get(param.name, param.default), "source": source}


def _row(param: ParamDescription, in_effect: Mapping[str, Any]) -> dict[str, Any]:
    return {"param": param.name, "type": param.type, "default": param.default, **in_effect, "what": param.description}


def _document(one: TrainerDescription, study: Study | None) -> dict[str, Any]:
    params = [{**asdict(param), **_in_effect(param, one, study)} for param in one.params]
    document = {**asdict(one), "params": params, "installed": one.installed}
    return document if study is None else {**document, "schemas": _schemas(one, study)}


def _schemas(one: TrainerDescription, study: Study) -> list[str]:
    return [schema.name for schema in study.schemas if one.learns(schema.kind, schema.annotation_type)]
