"""A study under `training-pipeline up`, as a person has it: processes, the UI's GraphQL, the command line."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from tests.processes import processes_naming
from tests.running import SHOWN, review_answers, review_study, reviews
from training_pipeline.ledger import runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import RunRecord, Status
from training_pipeline.study.config import load_study

DEAF = {"vectorizer_kwargs": {"token_pattern": "(x+x+)+y"}}
"""Params of a run whose fit never ends and never yields: a pattern that backtracks for years, in C, on rows of x."""

_AGREE: Mapping[Status, frozenset[str]] = {
    Status.QUEUED: frozenset({"NOT_STARTED", "QUEUED", "STARTING", "STARTED"}),
    Status.BUILDING: frozenset({"STARTED", "CANCELING"}),
    Status.RUNNING: frozenset({"STARTED", "CANCELING"}),
    Status.EVALUATING: frozenset({"STARTED", "CANCELING"}),
    Status.SUCCESS: frozenset({"STARTED", "CANCELING", "SUCCESS"}),
    Status.ERROR: frozenset({"STARTED", "FAILURE"}),
    Status.CANCELLED: frozenset({"QUEUED", "STARTED", "CANCELING", "CANCELED"}),
    Status.INTERRUPTED: frozenset({"STARTED", "FAILURE"}),
}
"""Which statuses of Dagster go with each of the ledger, as docs/runs.md has it."""

_LAUNCH = """mutation($p: ExecutionParams!) { launchRun(executionParams: $p) {
  __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message stack } } }"""
_TERMINATE = "mutation($r: String!) { terminateRun(runId: $r) { __typename } }"
_RUNS = "{ runsOrError { ... on Runs { results { runId status } } } }"


def slow_study(directory: Path, **training: Any) -> Path:
    """Write a study that learns from 90 reviews, and on which a run with DEAF params never ends."""
    rows_of_x = [{"id": f"x{k}", "text": "x" * (50 + k)} for k in range(8)]
    answers = review_answers(90)
    for answered in answers.values():
        answered.update({item["id"]: {"sentiment": "positive"} for item in rows_of_x})
    settings = {"writeback": SHOWN, "grace_seconds": 1, **training}
    return review_study(directory, items=reviews(120) + rows_of_x, answers=answers, training=settings)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Up:
    """One `training-pipeline up`."""

    def __init__(self, config: Path) -> None:
        self.config = config
        self.port = free_port()
        study = load_study(config)
        self.study = study
        self.ledger = Ledger(study.database, study.name)
        self.said = config.parent / "up.txt"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> Self:
        """Start it as a script does in the background: with SIGINT ignored; wait until it says that it is up."""
        command = [sys.executable, "-m", "training_pipeline.cli", "up", str(self.config), "--port", str(self.port)]
        with self.said.open("wb") as out:
            self.process = subprocess.Popen(
                ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        wait_until(lambda: "Dagster's UI" in self.said.read_text() or self.process_ended, 120)
        assert not self.process_ended, self.said.read_text()
        return self

    @property
    def process_ended(self) -> bool:
        assert self.process is not None
        return self.process.poll() is not None

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send it a signal, wait for its end, and return its exit status."""
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(60)

    def close(self) -> None:
        """End it by force with all that was started on its study, where a test did not come to its end."""
        if self.process is not None and self.process.poll() is None:
            self.stop(signal.SIGKILL)
        for pid in processes_naming(str(self.config.parent)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def graphql(self, query: str, **variables: Any) -> Any:
        body = json.dumps({"query": query, "variables": variables}).encode()
        url = f"http://127.0.0.1:{self.port}/dagster/graphql"
        asked = urllib.request.Request(url, body, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(asked, timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            return json.load(error)["data"]

    def launch(self, params: Mapping[str, Any] | None = None) -> str:
        """Start a run in the UI; returns its id of the ledger, or the sentence that it was refused with."""
        job = {
            "repositoryLocationName": "training_pipeline",
            "repositoryName": "__repository__",
            "jobName": "train_sentiment",
        }
        config = {"params": dict(params or {})}
        answer = self.graphql(_LAUNCH, p={"selector": job, "runConfigData": config})["launchRun"]
        if answer["__typename"] != "LaunchRunSuccess":
            assert answer["stack"] == []
            return str(answer["message"])
        (run,) = [run for run in runs.list_runs(self.ledger) if run.dagster_run_id == answer["run"]["runId"]]
        return run.run_id

    def terminate(self, run_id: str) -> str:
        """Press Terminate for a run in the UI."""
        answer = self.graphql(_TERMINATE, r=self.run(run_id).dagster_run_id)
        return str(answer["terminateRun"]["__typename"])

    def command(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command of the command line on this study."""
        return subprocess.Popen(
            [sys.executable, "-m", "training_pipeline.cli", arguments[0], *arguments[1:]],
            env={**os.environ, "TRAINING_PIPELINE_CONFIG": str(self.config)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, run_id: str) -> RunRecord:
        return runs.get(self.ledger, run_id)

    def wait_for(self, run_id: str, *statuses: Status, seconds: float = 60) -> RunRecord:
        """Wait until a run has one of the statuses; ledger and Dagster must agree all the while."""
        wait_until(lambda: self.agree() and self.run(run_id).status in statuses, seconds)
        return self.run(run_id)

    def agree(self) -> bool:
        """Assert that ledger and Dagster agree on every run that both have."""
        before = {run.dagster_run_id: run.status for run in runs.list_runs(self.ledger)}
        of_dagster = {run["runId"]: run["status"] for run in self.graphql(_RUNS)["runsOrError"]["results"]}
        after = {run.dagster_run_id: run.status for run in runs.list_runs(self.ledger)}
        for dagster_run_id, status in before.items():
            if dagster_run_id in of_dagster and dagster_run_id in after:
                # It may have gone on between the two looks.
                allowed = _AGREE[status] | _AGREE[after[dagster_run_id]]
                assert of_dagster[dagster_run_id] in allowed, (status, of_dagster[dagster_run_id])
        return True


def wait_until(condition: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.1)


def descendants(pid: int) -> list[int]:
    """Return the ids of the processes below a process, itself first."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parent = int((folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
            children.setdefault(parent, []).append(int(folder.name))
    found: Sequence[int] = [pid]
    everything: list[int] = []
    while found:
        everything += found
        found = [child for one in found for child in children.get(one, [])]
    return everything
