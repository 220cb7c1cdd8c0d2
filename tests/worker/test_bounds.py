"""Commands that take too long or too much memory, with real ones."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.worker.test_leash import linux, read_pid, wait_until_gone
from training_pipeline.worker.leash import command_on_leash, process_start

WALL = "Stopped: the run took longer than model_training.max_wall_seconds"
RAM = "Stopped: the run used more memory than model_training.max_ram_mb"
HOG = "import time; hog = bytearray(b'x') * (500 << 20); print('held', flush=True); time.sleep(60)"


class Bounded:
    """A Python program on a leash with bounds, its events in a file that it has made, as a worker does."""

    def __init__(self, directory: Path, program: str, grace: float = 1.0, **bounds: Any) -> None:
        self._events = directory / "events.jsonl"
        self._events.touch()
        self.started = time.monotonic()
        command = command_on_leash([sys.executable, "-c", program], grace, events=self._events, **bounds)
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait(self) -> int:
        """Wait for the end and return the exit status."""
        self.process.communicate(timeout=30)
        self.seconds = time.monotonic() - self.started
        return self.process.returncode

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._events.read_text().splitlines()]


def test_within_its_bounds_a_command_ends_by_itself(tmp_path: Path) -> None:
    ran = Bounded(tmp_path, "print('done')", max_wall_seconds=20, max_ram_mb=500)
    assert ran.wait() == 0
    assert ran.events() == []


def test_a_sleeper_is_stopped_when_its_time_is_over_and_its_last_event_says_why(tmp_path: Path) -> None:
    ran = Bounded(tmp_path, "import time; time.sleep(60)", max_wall_seconds=0.5)
    assert ran.wait() == 128 + signal.SIGTERM
    assert 0.5 <= ran.seconds < 2.5
    (event,) = ran.events()
    assert abs(event.pop("t") - time.time()) < 30
    assert event == {
        "v": 1,
        "event": "error",
        "code": "wall_limit",
        "message": f"{WALL} (0.5).",
        "hint": "Raise it, or train on less.",
    }


def test_one_that_ignores_the_polite_stop_is_gone_after_the_grace(tmp_path: Path) -> None:
    """It holds the interpreter's lock for good, as native code can, so that no thread of its own could end it."""
    program = "import ctypes, signal; signal.signal(15, signal.SIG_IGN); ctypes.PyDLL(None).sleep(60)"
    ran = Bounded(tmp_path, program, max_wall_seconds=0.5, grace=1.0)
    assert ran.wait() == 128 + signal.SIGKILL
    assert 1.5 <= ran.seconds < 0.5 + 1.0 + 2.0
    assert [event["code"] for event in ran.events()] == ["wall_limit"]


def test_the_time_counts_from_the_first_deed(tmp_path: Path) -> None:
    """One that stands by has not begun: its events are not there yet."""
    events = tmp_path / "made_later.jsonl"
    program = f"import time; time.sleep(1.5); open({str(events)!r}, 'a'); time.sleep(60)"
    started = time.monotonic()
    command = command_on_leash([sys.executable, "-c", program], 1.0, max_wall_seconds=0.5, events=events)
    assert subprocess.run(command, timeout=30, check=False).returncode == 128 + signal.SIGTERM
    assert 2.0 <= time.monotonic() - started < 4.0
    assert json.loads(events.read_text())["code"] == "wall_limit"


@linux
def test_half_a_gibibyte_beyond_its_bound_is_killed_at_once(tmp_path: Path) -> None:
    ran = Bounded(tmp_path, HOG, max_ram_mb=300, grace=20.0)
    assert ran.wait() == 128 + signal.SIGKILL or ran.process.returncode == 128 + signal.SIGTERM
    assert ran.seconds < 10
    (event,) = ran.events()
    assert (event["code"], event["message"]) == ("ram_limit", f"{RAM} (300).")
    assert event["hint"] == "Raise it, train on fewer items, or choose a smaller model."


@linux
def test_memory_of_children_in_sessions_of_their_own_counts(tmp_path: Path) -> None:
    child = [sys.executable, "-c", HOG.replace("500", "200")]
    program = (
        "import subprocess, time\n"
        f"hogs = [subprocess.Popen({child!r}, start_new_session=True) for _ in range(2)]\n"
        f"open({str(tmp_path / 'child')!r}, 'w').write(f'{{hogs[0].pid}}\\n')\n"
        "time.sleep(60)"
    )
    ran = Bounded(tmp_path, program, max_ram_mb=320)
    ran.wait()
    assert [event["code"] for event in ran.events()] == ["ram_limit"]
    wait_until_gone(read_pid(tmp_path / "child"), 0.5)


@linux
def test_pages_that_processes_share_count_once(tmp_path: Path) -> None:
    """A fork shares its parent's memory: 300 MiB resident in each, and not much more than that in both."""
    program = (
        "import os, time\n"
        "held = bytearray(b'x') * (300 << 20)\n"
        "child = os.fork()\n"
        "time.sleep(1)\n"
        "os.waitpid(child, 0) if child else None"
    )
    ran = Bounded(tmp_path, program, max_ram_mb=450)
    assert ran.wait() == 0
    assert ran.events() == []


def test_a_full_disk_does_not_keep_the_command_alive(tmp_path: Path) -> None:
    program = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(f'{{os.getpid()}}\\n'); time.sleep(60)"
    command = command_on_leash([sys.executable, "-c", program], 1.0, max_wall_seconds=1.5, events="/dev/full")
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 128 + signal.SIGTERM
    assert done.stderr == f"{WALL} (1.5). /dev/full could not be told: No space left on device\n"
    assert process_start(read_pid(tmp_path / "pid")) is None


@pytest.mark.parametrize("bounds", [{"max_wall_seconds": 1e9}, {"max_ram_mb": 1e9}])
def test_a_bound_that_is_far_away_costs_nothing(tmp_path: Path, bounds: dict[str, float]) -> None:
    ran = Bounded(tmp_path, "print('done')", **bounds)
    assert ran.wait() == 0
    assert ran.seconds < 5
