"""`run`: one training run, from its request to its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import yaml

from training_pipeline.cli.common import (
    INTERRUPTED,
    REFUSED,
    config_argument,
    err,
    explained,
    json_option,
    ledger_of,
    print_json,
    study_of,
    tell_warnings,
)
from training_pipeline.cli.following import follow
from training_pipeline.cli.runs import print_run, run_document
from training_pipeline.errors import PipelineError
from training_pipeline.ledger import predictions, retention, runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.owners import this_process
from training_pipeline.ledger.records import RunRecord, Status
from training_pipeline.run_directory import RunDirectory
from training_pipeline.run_request import RunRequest, resolve
from training_pipeline.study.config import Study

_MARGIN_SECONDS = 10.0


@click.command()
@config_argument
@click.option("--schema", required=True, help="The schema to learn.")
@click.option("--trainer", help="Left out: auto_retrain.trainer, else the first that fits the schema.")
@click.option("--backend", help="Left out: model_training.backend.")
@click.option("--param", "params", multiple=True, metavar="K=V", help="A param of the trainer; V is read as YAML.")
@click.option("--params-file", type=click.Path(exists=True, dir_okay=False), help="A YAML map of params.")
@click.option("--no-queue", is_flag=True, help="Refuse instead of waiting while another run goes.")
@json_option
@explained
def run(
    config: str | None,
    *,
    schema: str,
    trainer: str | None,
    backend: str | None,
    params: tuple[str, ...],
    params_file: str | None,
    no_queue: bool,
    as_json: bool,
) -> None:
    """Train on a schema, score on held-out items, and publish pre-labels.

    While another run of the study goes it waits its turn. Ctrl-C cancels it.
    """
    study = study_of(config)
    request = resolve(study, schema, trainer, backend, _params(params, params_file))
    ledger = ledger_of(study)
    retention.reconcile(ledger)
    tell_warnings(study)
    _let_every_stop_be_a_ctrl_c()
    asked = _ask_for(study, ledger, request, may_wait=not no_queue)
    ended = _carry_out(study, ledger, asked)
    if as_json:
        print_json(run_document(ended, predictions.n_shown_of_runs(ledger)))
    else:
        print_run(ledger, ended)
    if ended.status is not Status.SUCCESS:
        click.echo(f"Error: {ended.error}", err=True)
        sys.exit(INTERRUPTED if ended.status is Status.CANCELLED else REFUSED)


def _let_every_stop_be_a_ctrl_c() -> None:
    """Cancel the run when this process is told to end or its terminal goes; under nohup the latter means nothing.

    A SIGTERM counts even where it was ignored before: the run's own process would inherit that, and never stop.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.default_int_handler)


def _params(given: tuple[str, ...], file: str | None) -> dict[str, Any]:
    params: dict[str, Any] = {}
    if file is not None:
        read = _yaml(_text(file), file)
        if not isinstance(read, dict):
            raise click.UsageError(f"{file} must hold a map of params.")
        params |= read
    for pair in given:
        name, equals, value = pair.partition("=")
        if not (name and equals):
            raise click.UsageError(f"--param {pair!r} is not of the form K=V.")
        params[name] = _yaml(value, f"--param {name}")
    return params


def _text(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{file} is not UTF-8: {error.reason} at byte {error.start}.") from error


def _yaml(text: str, where: str) -> Any:
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        # Dates that do not exist, numbers of thousands of digits, and depth are no YAML errors to the reader.
        raise click.UsageError(f"{where} is not YAML: {error}") from error


def _ask_for(study: Study, ledger: Ledger, request: RunRequest, *, may_wait: bool) -> RunRecord:
    return runs.request(
        ledger,
        trainer=request.trainer,
        schema_names=[request.schema.name],
        kinds=[request.schema.kind],
        backend=request.backend,
        trigger="manual",
        owner=this_process(),
        queue_max=study.training.queue_max,
        may_wait=may_wait,
        requested_params=request.requested_params,
    )


def _carry_out(study: Study, ledger: Ledger, asked: RunRecord) -> RunRecord:
    """Run the process that does the work, tell how it goes, and return the run as it ended."""
    directory = RunDirectory(study.runs_dir / asked.run_id)
    cancelled = False
    with _open_log(ledger, asked, directory) as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "training_pipeline.jobs.carry_out", str(study.config_path), asked.run_id],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            # A Ctrl-C in the terminal is for this process alone, which passes it on once.
            start_new_session=True,
        )
        try:
            follow(ledger, asked.run_id, lambda: process.poll() is None)
        except KeyboardInterrupt:
            cancelled = True
            err.print("Cancelling ...")
            process.send_signal(signal.SIGTERM)
            _wait_or_kill(process, study.training.grace_seconds + _MARGIN_SECONDS)
    return _ended(ledger, asked.run_id, directory, cancelled=cancelled)


def _open_log(ledger: Ledger, asked: RunRecord, directory: RunDirectory) -> Any:
    try:
        directory.path.mkdir(parents=True)
        return directory.log.open("wb")
    except OSError as error:
        message = f"The run's directory {directory.path} cannot be made: {error.strerror}."
        runs.finish(ledger, asked.run_id, Status.ERROR, error=message, error_code="run_directory")
        raise PipelineError("run_directory", message) from error


def _wait_or_kill(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(seconds)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _ended(ledger: Ledger, run_id: str, directory: RunDirectory, *, cancelled: bool) -> RunRecord:
    run = runs.get(ledger, run_id)
    if run.status.has_ended:
        return run
    if cancelled:
        # The process went before it could say so itself: it was still starting, or it had to be killed.
        return runs.finish(ledger, run_id, Status.CANCELLED, error="Cancelled.", error_code="cancelled")
    if run.status is Status.QUEUED:
        message = f"The run's process ended before its turn came; {directory.log} says why."
        return runs.finish(ledger, run_id, Status.ERROR, error=message, error_code="not_started")
    retention.reconcile(ledger)
    return runs.get(ledger, run_id)
