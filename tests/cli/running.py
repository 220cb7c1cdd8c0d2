"""The command line as people use it: as a process, or called here where nothing but its answer counts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.ledger.making import wait_for
from tests.processes import parent_of, processes_naming
from training_pipeline.cli.main import main
from training_pipeline.ledger import runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import RunRecord, Status
from training_pipeline.study.config import load_study

REPOSITORY = Path(__file__).parents[2]
# A shell's background job begins with SIGINT ignored, and under nohup SIGHUP; a command that a person types does not.
AS_IF_TYPED = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
    "from training_pipeline.cli import main; main()"
)
SLOW = {"allowed_modules": ["tests.cli.slow"], "grace_seconds": 5}
"""Settings of a study whose runs may learn with `tests.cli.slow`."""


@dataclass(frozen=True)
class Said:
    """How a command ended and what it said."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


def call(*arguments: str, columns: int = 80, **environment: str) -> Said:
    """Call a command in this process."""
    result = CliRunner().invoke(main, arguments, env={"COLUMNS": str(columns), **environment})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Said(result.exit_code, result.stdout, result.stderr)


def command_line(*arguments: str, **environment: str) -> Said:
    """Run a command in a process of its own."""
    done = subprocess.run(
        command(*arguments), env=surroundings(**environment), capture_output=True, text=True, check=False
    )
    return Said(done.returncode, done.stdout, done.stderr)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "training_pipeline.cli", *arguments]


def surroundings(**environment: str) -> dict[str, str]:
    """Return an environment in which `tests.cli.slow` can be imported."""
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), **environment}


class Going:
    """A `run` command that goes on while the test does something to it."""

    def __init__(self, config: Path, *arguments: str) -> None:
        self.study = load_study(config)
        self.ledger = Ledger(self.study.database, self.study.name)
        known = {run.run_id for run in runs.list_runs(self.ledger)}
        self._err = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the process
        self.process = subprocess.Popen(
            [sys.executable, "-c", AS_IF_TYPED, "run", str(config), "--schema", "sentiment", *arguments, "--json"],
            env=surroundings(),
            stdout=subprocess.PIPE,
            stderr=self._err,
            text=True,
        )
        wait_for(lambda: {run.run_id for run in runs.list_runs(self.ledger)} - known, 60.0)
        (self.run_id,) = {run.run_id for run in runs.list_runs(self.ledger)} - known

    @property
    def run(self) -> RunRecord:
        return runs.get(self.ledger, self.run_id)

    @property
    def err(self) -> str:
        self._err.seek(0)
        return self._err.read()

    def wait_until_it_fits(self) -> None:
        wait_for(self._fits, 60.0)

    def _fits(self) -> bool:
        run = self.run
        return run.status is Status.RUNNING and run.progress is not None and run.progress.step == "fitting"

    def end(self, seconds: float = 120.0) -> Said:
        """Wait for the command to end and return what it said."""
        out, _ = self.process.communicate(timeout=seconds)
        return Said(self.process.returncode, out, self.err)

    @property
    def worker(self) -> int:
        """The process that trains: the child of the leash, which the carrier started."""
        (leash,) = [pid for pid in processes_naming(self.run_id) if parent_of(pid) == self.carrier]
        (worker,) = [pid for pid in processes_naming(self.run_id) if parent_of(pid) == leash]
        return worker

    @property
    def carrier(self) -> int:
        """The process that carries the run out."""
        (pid,) = processes_naming(f"\0{self.study.config_path}\0{self.run_id}\0")
        return pid

    def processes(self) -> list[int]:
        """Every process of the run that lives, but for the command itself."""
        return [pid for pid in processes_naming(self.run_id) if pid != self.process.pid]

    def clean_up(self) -> None:
        self.process.kill()
        self.process.wait()
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)
        self._err.close()


@pytest.fixture
def going() -> Any:
    """Start `run` commands; whatever is left of them when the test ends is killed."""
    started: list[Going] = []

    def start(config: Path, *arguments: str) -> Going:
        started.append(Going(config, *arguments))
        return started[-1]

    yield start
    for one in started:
        one.clean_up()
