"""Everything a study needs running, as one: Dagster's code server and daemon, and the web app.

Each is a process in a session of its own, so that a Ctrl-C in the terminal reaches the supervisor alone, which then
ends them in an order that leaves no run behind: the daemon first (nothing new starts), then the rest.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import NoReturn

import yaml
from dagster import DagsterInstance
from dagster._core.storage.dagster_run import RunsFilter
from dagster._grpc.client import DagsterGrpcClient

from training_pipeline.errors import PipelineError
from training_pipeline.instance import dagster_home
from training_pipeline.ledger.database import Ledger
from training_pipeline.left_over_runs import IN_PROGRESS, close_left_over_runs
from training_pipeline.study.config import Study
from training_pipeline.worker.leash import command_on_leash

_READY_SECONDS = 60.0
_STOP_SECONDS = 20.0
_GRACE_SECONDS = 15.0


class _Stopped(Exception):  # noqa: N818 - not an error: somebody asked us to stop
    pass


def serve(study: Study, port: int, say: Callable[[str], None]) -> None:
    """Run everything for `study` until Ctrl-C or SIGTERM; the UI is on `port` of the loopback address.

    Raises `PipelineError` when the port is taken, or when a part does not come up or dies.
    """
    _refuse_taken_port(port)
    for number in (signal.SIGINT, signal.SIGTERM):
        # Set, not inherited: a process started in the background by a script begins with SIGINT ignored.
        signal.signal(number, _stop)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tp-")))
        home = dagster_home(study)
        environment = {**os.environ, "DAGSTER_HOME": str(home), "TRAINING_PIPELINE_CONFIG": str(study.config_path)}
        instance = stack.enter_context(DagsterInstance.from_config(str(home)))
        close_left_over_runs(instance, Ledger(study.database, study.name))
        parts = _Parts(home / "logs", environment)
        stack.callback(parts.stop, instance)
        try:
            _start(parts, study, folder, port)
            say(f"Dagster's UI for {study.name!r}: http://127.0.0.1:{port}/dagster/ (Ctrl-C stops everything)")
            parts.watch()
        except _Stopped:
            say("Stopping ...")


def _start(parts: _Parts, study: Study, folder: Path, port: int) -> None:
    code_socket, workspace = folder / "code.sock", folder / "workspace.yaml"
    code_server = [sys.executable, "-m", "dagster", "code-server", "start", "--use-python-environment-entry-point"]
    location = ["--module-name", "training_pipeline.code_location", "--location-name", "training_pipeline"]
    parts.start("code-server", [*code_server, *location, "--socket", str(code_socket)])
    client = DagsterGrpcClient(socket=str(code_socket))
    parts.wait_until("code-server", lambda: _answers(client))
    server = {"socket": str(code_socket), "location_name": "training_pipeline"}
    workspace.write_text(yaml.safe_dump({"load_from": [{"grpc_server": server}]}), encoding="utf-8")
    parts.start("daemon", [sys.executable, "-m", "dagster._daemon", "run", "-w", str(workspace)])
    serve_module = "training_pipeline.api.serve"
    parts.start("web", [sys.executable, "-m", serve_module, str(study.config_path), str(workspace), str(port)])
    parts.wait_until("web", lambda: _listens(port))


class _Parts:
    """The processes, by name, in the order they were started."""

    def __init__(self, logs: Path, environment: dict[str, str]) -> None:
        self._logs = logs
        self._environment = environment
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        logs.mkdir(parents=True, exist_ok=True)

    def start(self, name: str, command: list[str]) -> None:
        with (self._logs / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                # On a leash, so that it ends even where this process is killed and cannot end it.
                command_on_leash(command, _GRACE_SECONDS),
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def wait_until(self, name: str, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _READY_SECONDS
        while not ready():
            if self._processes[name].poll() is not None or time.monotonic() > deadline:
                raise PipelineError("not_up", f"The {name} did not come up; {self._logs / name}.log says why.")
            time.sleep(0.1)

    def watch(self) -> NoReturn:
        while True:
            for name, process in self._processes.items():
                if process.poll() is not None:
                    raise PipelineError("not_up", f"The {name} ended by itself; {self._logs / name}.log says why.")
            time.sleep(0.5)

    def stop(self, instance: DagsterInstance) -> None:
        self._end("daemon")
        _end_runs(instance)
        self._end("web", "code-server")

    def _end(self, *names: str) -> None:
        processes = [self._processes[name] for name in names if name in self._processes]
        for process in processes:
            if process.poll() is None:
                process.terminate()
        deadline = time.monotonic() + _STOP_SECONDS
        for process in processes:
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _end_runs(instance: DagsterInstance) -> None:
    running = instance.get_runs(RunsFilter(statuses=IN_PROGRESS))
    for run in running:
        instance.run_launcher.terminate(run.run_id)
    deadline = time.monotonic() + _STOP_SECONDS
    while running and time.monotonic() < deadline:
        time.sleep(0.2)
        running = instance.get_runs(RunsFilter(statuses=IN_PROGRESS))


def _refuse_taken_port(port: int) -> None:
    if _listens(port):
        raise PipelineError("port_taken", f"Port {port} is taken by another program. Choose another one with --port.")


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _answers(client: DagsterGrpcClient) -> bool:
    from dagster._core.errors import DagsterUserCodeUnreachableError  # noqa: PLC0415 - private: kept where it is used

    try:
        client.ping("")
    except DagsterUserCodeUnreachableError:
        return False
    return True


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise _Stopped
