"""What every command does alike: which study it is about, and how results and refusals are told."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import click
import orjson
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from training_pipeline.errors import ConfigError, PipelineError
from training_pipeline.failures import explain
from training_pipeline.ledger import retention
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.owners import is_gone
from training_pipeline.ledger.runs import list_runs
from training_pipeline.study.config import CONFIG_NAME, Study, load_study
from training_pipeline.study.problems import InvalidStudyError

P = ParamSpec("P")
R = TypeVar("R")

REFUSED, USAGE, INTERRUPTED = 1, 2, 130

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

out = Console()
err = Console(stderr=True, highlight=False)

config_argument = click.argument("config", required=False, type=click.Path())
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")


def explained(command: Callable[P, R]) -> Callable[P, R]:
    """Turn our own errors into a sentence on stderr, with --json also a document on stdout, and an exit status."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            sys.exit(INTERRUPTED)
        except Exception as error:
            explained = explain(error)
            if explained is None:
                raise
            if kwargs.get("as_json"):
                print_json({"error": str(explained), "code": explained.code})
            click.echo(f"Error: {visible(str(explained))}", err=True)
            sys.exit(_exit_status(explained))

    return wrapped


def _exit_status(error: PipelineError) -> int:
    """A config that says what cannot work is refused; one that cannot be read is a wrong argument."""
    is_unreadable = isinstance(error, ConfigError) and not isinstance(error, InvalidStudyError)
    return USAGE if is_unreadable else REFUSED


def config_path(config: str | None) -> Path:
    """Return the config, or its folder, that a command is about."""
    return Path(config or os.environ.get("TRAINING_PIPELINE_CONFIG") or CONFIG_NAME)


def study_of(config: str | None) -> Study:
    """Load the study that a command is about."""
    return load_study(config_path(config))


def tell_warnings(study: Study) -> None:
    """Say on stderr what the study's config probably does not mean."""
    for warning in study.warnings:
        click.echo(f"Warning: {visible(warning.in_one_line())}", err=True)


def ledger_of(study: Study) -> Ledger:
    """Return the study's ledger, without runs that seem to go on although their process is gone."""
    ledger = Ledger(study.database, study.name)
    owners = [run.owner for run in list_runs(ledger) if not run.status.has_ended]
    if any(owner is not None and is_gone(owner) for owner in owners):
        retention.reconcile(ledger)
    return ledger


def print_json(document: Any) -> None:
    """Print one document on stdout."""
    click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())


def print_table(title: str, rows: Sequence[Mapping[str, object]], unbroken: Collection[str] = ()) -> None:
    """Print rows of like keys as a table, title, names and cells as they are: nothing in them is markup.

    Where the terminal is narrow, cells are broken into lines, but for those of the columns in `unbroken`.
    """
    if not rows:
        return
    table = Table(title=_plain(title, "bold"), title_justify="left", header_style="bold", box=SIMPLE_HEAD)
    table.show_header = any(key.strip() for key in rows[0])
    for key in rows[0]:
        table.add_column(_plain(key), overflow="fold", no_wrap=key in unbroken)
    for row in rows:
        table.add_row(*(_plain(cell) for cell in row.values()))
    out.print(table, markup=False)


def visible(text: str) -> str:
    """Return a text whose control characters, which could steer the terminal, are shown as escapes."""
    return _UNPRINTABLE.sub(lambda found: ascii(found.group())[1:-1], text)


def _plain(cell: object, style: str = "") -> Any:
    from rich.text import Text  # noqa: PLC0415 - only tables need it

    if cell is None:
        return Text("")
    return Text(f"{cell:.3f}" if isinstance(cell, float) else visible(str(cell)), style)
