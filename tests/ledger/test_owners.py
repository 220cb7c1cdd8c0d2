from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

from tests.ledger.making import dead_owner
from training_pipeline.ledger.owners import is_gone, this_process


def test_this_process_lives() -> None:
    assert this_process().pid == os.getpid()
    assert not is_gone(this_process())


def test_a_process_that_ended_is_gone() -> None:
    assert is_gone(dead_owner())


def test_a_process_id_used_again_is_not_the_process() -> None:
    assert is_gone(replace(this_process(), started="1"))


def test_after_a_reboot_all_are_gone() -> None:
    assert is_gone(replace(this_process(), boot_id="an earlier boot"))


def test_a_process_on_another_host_counts_as_alive() -> None:
    assert not is_gone(replace(dead_owner(), host="gpu-server"))


def test_a_zombie_is_gone() -> None:
    code = "import time; time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code]) as child:
        owner = replace(this_process(), pid=child.pid, started=_start_of(child.pid))
        assert not is_gone(owner)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and nobody has collected it
        assert is_gone(owner)


def _start_of(pid: int) -> str:
    with open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123
        return stat.read().rpartition(")")[2].split()[19]
