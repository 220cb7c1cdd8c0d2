"""`up`: everything a study needs running."""

from __future__ import annotations

from contextlib import suppress

import click

from training_pipeline.cli.common import config_argument, explained, study_of, tell_warnings


@click.command()
@config_argument
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True, help="Port of the UI.")
@explained
def up(config: str | None, *, port: int) -> None:
    """Run Dagster's daemon and UI for a study; Ctrl-C stops all of it.

    The UI has no login yet, so it listens on this machine's loopback address only.
    """
    from training_pipeline.supervisor import serve  # noqa: PLC0415 - Dagster takes a second to import

    study = study_of(config)
    tell_warnings(study)
    serve(study, port, _say)


def _say(sentence: str) -> None:
    with suppress(OSError):  # the terminal is gone; what is to be done is done all the same
        click.echo(sentence)
