"""Everything a study needs running, as one: Dagster's code server and daemon, and the web app.

Each is a process on a leash, in a session of its own. So a Ctrl-C in the terminal reaches the supervisor alone, which
then ends them in an order that leaves no run behind: the daemon first (nothing new starts), then the runs, then the
rest. And where the supervisor itself is killed, its leashes end everything.
"""

from __future__ import annotations

import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import NoReturn

import yaml
from dagster._grpc.client import DagsterGrpcClient
from sqlalchemy.exc import SQLAlchemyError

from training_pipeline.draining import drain
from training_pipeline.errors import PipelineError
from training_pipeline.instance import dagster_home, open_instance
from training_pipeline.instance_lock import lock_home
from training_pipeline.ledger import supervisors
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.owners import this_process
from training_pipeline.parts import Parts
from training_pipeline.publishing.study_writeback import write_back
from training_pipeline.reconciling import reconcile, reconcile_at_start
from training_pipeline.study.config import Study
from training_pipeline.study.items import read_index

LOGS = "output"
"""The folder of the parts' output in Dagster's home; not `logs`, which Dagster deletes where telemetry is off."""

_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SECONDS_BETWEEN_LOOKS = 0.2
_SECONDS_BETWEEN_RECONCILIATIONS = 2.0


class _Stopped(Exception):  # noqa: N818 - not an error: somebody asked us to stop
    pass


def serve(study: Study, port: int, say: Callable[[str], None]) -> None:
    """Run everything for `study` until Ctrl-C, SIGTERM or SIGHUP; the UI is on `port` of the loopback address.

    Raises `PipelineError` when the port is taken, when another `up` uses the same Dagster home, or when a part does
    not come up or dies: then all the others are stopped too.
    """
    try:
        with ExitStack() as stack:
            stack.callback(_listen_to_signals(_stop))
            _Supervisor(study, port, say, stack).run()
    except _Stopped:
        say("Stopped.")


class _Supervisor:
    def __init__(self, study: Study, port: int, say: Callable[[str], None], stack: ExitStack) -> None:
        self._study = study
        self._port = port
        self._say = say
        self._home = dagster_home(study)
        self._home.mkdir(parents=True, exist_ok=True)
        self._ledger = Ledger(study.database, study.name)
        self._lock = stack.enter_context(lock_home(self._home))
        _refuse_taken_port(port)
        self._folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tp-")))
        self._instance = stack.enter_context(open_instance(study))
        self._parts = Parts(
            logs=self._home / LOGS,
            environment={"DAGSTER_HOME": str(self._home), "TRAINING_PIPELINE_CONFIG": str(study.config_path)},
            held=(self._lock,),
        )

    def run(self) -> NoReturn:
        for sentence in reconcile_at_start(self._instance, self._study, self._ledger):
            self._say(sentence)
        _republish(self._study, self._ledger, self._say)
        me = this_process()
        supervisors.come(self._ledger, me)
        try:
            self._start()
            self._say(
                f"Dagster's UI for {self._study.name!r}: http://127.0.0.1:{self._port}/dagster/"
                " (Ctrl-C stops everything)"
            )
            self._watch()
        finally:
            _listen_to_signals(_stop_on)
            self._say("Stopping ...")
            self._stop_parts()
            supervisors.leave(self._ledger, me)

    def _start(self) -> None:
        started = time.time()
        code_socket, workspace = self._folder / "code.sock", self._folder / "workspace.yaml"
        code_server = [sys.executable, "-m", "dagster", "code-server", "start", "--use-python-environment-entry-point"]
        location = ["--module-name", "training_pipeline.code_location", "--location-name", "training_pipeline"]
        self._parts.start("code-server", [*code_server, *location, "--socket", str(code_socket)])
        client = DagsterGrpcClient(socket=str(code_socket))
        self._parts.wait_until("code-server", lambda: _answers(client))
        server = {"socket": str(code_socket), "location_name": "training_pipeline"}
        workspace.write_text(yaml.safe_dump({"load_from": [{"grpc_server": server}]}), encoding="utf-8")
        self._parts.start("daemon", [sys.executable, "-m", "dagster._daemon", "run", "-w", str(workspace)])
        serving = [sys.executable, "-m", "training_pipeline.api.serve", str(self._study.config_path)]
        self._parts.start("web", [*serving, str(workspace), str(self._port)])
        self._parts.wait_until("web", lambda: _listens(self._port))
        self._parts.wait_until("daemon", lambda: self._daemon_works_since(started))

    def _daemon_works_since(self, moment: float) -> bool:
        beats = self._instance.get_daemon_heartbeats()
        required = self._instance.get_required_daemon_types()
        return all(kind in beats and beats[kind].timestamp >= moment for kind in required)

    def _watch(self) -> NoReturn:
        told: str | None = None
        while True:
            told = self._reconcile(told)
            until = time.monotonic() + _SECONDS_BETWEEN_RECONCILIATIONS
            while time.monotonic() < until:
                self._parts.require_all()
                time.sleep(_SECONDS_BETWEEN_LOOKS)

    def _reconcile(self, told: str | None) -> str | None:
        """Reconcile; what is in the way (a locked file, a full disk) is said once, and the next time tries again."""
        try:
            for sentence in reconcile(self._instance, self._study, self._ledger):
                self._say(sentence)
        except (PipelineError, OSError, SQLAlchemyError) as obstacle:
            if str(obstacle) != told:
                self._say(f"The runs could not be looked at: {obstacle}")
            return str(obstacle)
        return None

    def _stop_parts(self) -> None:
        self._parts.end("daemon")
        drain(self._instance, self._study, self._ledger)
        self._parts.end("web", "code-server")
        self._reconcile(None)


def _republish(study: Study, ledger: Ledger, say: Callable[[str], None]) -> None:
    """Put what is stored through the checks again: settings, verdicts or items may have changed since."""
    if not (study.training.enabled and study.database.exists()):
        return
    try:
        report = write_back(study, ledger, read_index(study)).republish()
    except PipelineError as obstacle:
        say(f"The pre-labels stay as they were: {obstacle}")
        return
    if report.n_superseded_cleared:
        say(report.summary)


def _listen_to_signals(handler: Callable[[int, FrameType | None], None]) -> Callable[[], None]:
    """Set the handler of the signals that stop us, and return what sets the earlier ones again.

    Set, not inherited: a process that a script starts in the background begins with SIGINT ignored. Under nohup a
    SIGHUP is to be ignored, and stays so.
    """
    before = {number: signal.getsignal(number) for number in _STOPPING}
    for number, earlier in before.items():
        if not (number == signal.SIGHUP and earlier is signal.SIG_IGN):
            signal.signal(number, handler)

    def restore() -> None:
        for number, earlier in before.items():
            signal.signal(number, earlier)

    return restore


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise _Stopped


def _stop_on(_number: int, _frame: FrameType | None) -> None:
    """Go on stopping: it has begun, and is bounded."""


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
