"""The leash, with real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from training_pipeline.worker import leash
from training_pipeline.worker.leash import command_on_leash, process_start

SHELL = "/bin/sh"
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs what only Linux has")


def start(script: str, grace: float = 5.0, **bounds: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command_on_leash([SHELL, "-c", script], grace, **bounds), stdout=subprocess.PIPE)


def read_pid(path: Path) -> int:
    deadline = time.monotonic() + 20
    while not (path.exists() and path.read_text().endswith("\n")):
        assert time.monotonic() < deadline, f"{path} was not written"
        time.sleep(0.02)
    return int(path.read_text())


def wait_until_gone(pid: int, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while process_start(pid) is not None:
        assert time.monotonic() < deadline, f"process {pid} is still there"
        time.sleep(0.02)


@pytest.mark.parametrize("status", [0, 1, 4, 137])
def test_it_ends_as_the_command_ended(status: int) -> None:
    assert start(f"exit {status}").wait(timeout=20) == status


def test_a_signal_that_ended_the_command_is_told() -> None:
    assert start("kill -KILL $$").wait(timeout=20) == 137


def test_a_command_that_is_not_there() -> None:
    done = subprocess.run(command_on_leash(["/no/such/program"], 1), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (127, "/no/such/program could not be started: No such file or directory\n")


def test_output_and_input_are_the_command_s_own() -> None:
    done = subprocess.run(command_on_leash(["cat"], 1), input=b"through", capture_output=True, check=True)
    assert done.stdout == b"through"


def test_told_to_stop_it_lets_the_command_end_politely(tmp_path: Path) -> None:
    held = start(
        f"trap 'echo bye > {tmp_path}/bye; exit 4' TERM; echo $$ > {tmp_path}/pid; while :; do sleep 0.05; done"
    )
    read_pid(tmp_path / "pid")
    held.send_signal(signal.SIGTERM)
    assert held.wait(timeout=20) == 4
    assert (tmp_path / "bye").exists()


@linux
def test_what_made_a_session_of_its_own_is_killed_too(tmp_path: Path) -> None:
    left = f"setsid sh -c 'echo $$ > {tmp_path}/left; trap \"\" TERM; sleep 60 & wait; sleep 60' &"
    held = start(f"{left} while [ ! -s {tmp_path}/left ]; do sleep 0.02; done; exit 3")
    assert held.wait(timeout=20) == 3
    wait_until_gone(read_pid(tmp_path / "left"), 0.5)


@linux
def test_a_chain_of_orphans_in_sessions_of_their_own_is_killed_at_a_stop(tmp_path: Path) -> None:
    grandchild = f"setsid sh -c 'echo $$ > {tmp_path}/orphan; sleep 60' &"
    held = start(f'setsid sh -c "{grandchild}" & echo $$ > {tmp_path}/pid; sleep 60', grace=0.2)
    pids = [read_pid(tmp_path / "pid"), read_pid(tmp_path / "orphan")]
    held.send_signal(signal.SIGTERM)
    assert held.wait(timeout=20) == 143
    assert [process_start(pid) for pid in pids] == [None, None]


def test_a_group_that_ignores_the_polite_stop_is_killed_after_the_grace(tmp_path: Path) -> None:
    script = f"trap '' TERM; (trap '' TERM; echo $$ > /dev/null; sh -c 'echo $$ > {tmp_path}/grandchild; sleep 60') & "
    held = start(script + f"echo $$ > {tmp_path}/pid; wait; sleep 60", grace=0.5)
    pids = [read_pid(tmp_path / "pid"), read_pid(tmp_path / "grandchild")]
    told = time.monotonic()
    held.send_signal(signal.SIGTERM)
    assert held.wait(timeout=20) == 137
    assert 0.5 <= time.monotonic() - told < 5
    assert [process_start(pid) for pid in pids] == [None, None]


def test_what_the_command_leaves_running_is_killed(tmp_path: Path) -> None:
    held = start(f"sleep 60 & echo $! > {tmp_path}/left; exit 0")
    assert held.wait(timeout=20) == 0
    wait_until_gone(read_pid(tmp_path / "left"), 5)


@pytest.mark.parametrize("trap", ["", "trap '' TERM;"])
def test_when_the_owner_is_killed_everything_ends(tmp_path: Path, trap: str) -> None:
    command = [SHELL, "-c", f"{trap} sleep 60 & echo $! > {tmp_path}/sleeper; echo $$ > {tmp_path}/pid; wait; sleep 60"]
    program = (
        "import subprocess, sys\n"
        "from training_pipeline.worker.leash import command_on_leash\n"
        f"leash = subprocess.Popen(command_on_leash({command!r}, 0.5))\n"
        f"open({str(tmp_path / 'leash')!r}, 'w').write(f'{{leash.pid}}\\n')\n"
        "leash.wait()\n"
    )
    owner = subprocess.Popen([sys.executable, "-c", program])
    pids = [read_pid(tmp_path / name) for name in ("leash", "pid", "sleeper")]
    owner.kill()  # and not waited for: a zombie owner holds no leash
    for pid in pids:
        wait_until_gone(pid, 10)
    owner.wait()


@linux
def test_when_the_leash_is_killed_the_command_is_too(tmp_path: Path) -> None:
    held = start(f"echo $$ > {tmp_path}/pid; exec sleep 60")
    pid = read_pid(tmp_path / "pid")
    held.kill()
    held.wait()
    wait_until_gone(pid, 5)


def test_an_owner_whose_number_was_used_again_holds_no_leash() -> None:
    command = command_on_leash(["sleep", "60"], 0.2)
    command[4] = f"{os.getpid()}:12345"
    assert subprocess.run(command, timeout=20, check=False).returncode == 143


def test_the_owner_is_named_in_the_command() -> None:
    assert command_on_leash(["true"], 1.5)[1:] == [
        "-I",
        "-S",
        leash.__file__,
        f"{os.getpid()}:{process_start(os.getpid())}",
        "1.5",
        "inf",
        "inf",
        "",
        "true",
    ]
