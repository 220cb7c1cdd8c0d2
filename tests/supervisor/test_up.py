"""A study under `up`: its queue, cancelling, its end, and what is left when parts of it are killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import processes_naming
from tests.supervisor.up import DEAF, Up, descendants, slow_study, wait_until
from training_pipeline.ledger import runs
from training_pipeline.ledger.records import RunRecord, Status

pytestmark = pytest.mark.slow

ENDED = (Status.SUCCESS, Status.ERROR, Status.CANCELLED, Status.INTERRUPTED)


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    one = Up(slow_study(tmp_path_factory.mktemp("up"), queue_max=2)).start()
    yield one
    one.stop()
    one.close()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Up]:
    """An `up` that the test itself ends."""
    one = Up(slow_study(tmp_path)).start()
    yield one
    one.close()


def test_runs_of_the_ui_and_of_the_command_line_stand_in_one_line(up: Up) -> None:
    first = up.launch()
    up.wait_for(first, Status.BUILDING, Status.RUNNING)
    typed = up.command("run", "--schema", "sentiment", "--json")
    wait_until(lambda: _n_waiting(up) == 1, 30)
    last = up.launch()
    assert up.launch() == (
        f"Run {first} is {up.run(first).status} and 2 more wait, which is all that model_training.queue_max (2)"
        " allows. Ask again later, or raise it."
    )
    assert up.launch({"nope": 1}).startswith("sklearn-text does not take nope. It takes ")
    assert up.wait_for(last, *ENDED).status is Status.SUCCESS
    assert typed.wait(30) == 0
    ended = sorted((run.finished_at or 0, run.run_id) for run in _runs(up) if run.status is Status.SUCCESS)
    ids = [run_id for _, run_id in ended]
    assert ids == sorted(ids)


def test_a_fit_that_never_yields_is_cancelled_within_the_grace_and_two_seconds(up: Up) -> None:
    deaf, following = up.launch(DEAF), up.launch()
    up.wait_for(deaf, Status.RUNNING)
    time.sleep(2)  # it is in its pattern now
    in_queue = up.launch()
    assert up.terminate(in_queue) == "TerminateRunSuccess"
    assert up.run(in_queue).status is Status.CANCELLED
    started = time.monotonic()
    cancel = up.command("cancel", deaf)
    up.wait_for(deaf, *ENDED, seconds=10)
    command_starts = 1.5
    assert time.monotonic() - started < 1 + 2 + command_starts
    assert cancel.wait(10) == 0
    assert up.run(deaf).status is Status.CANCELLED
    assert processes_naming(f"{deaf}/spec.json") == []
    assert up.wait_for(following, *ENDED).status is Status.SUCCESS
    again = up.command("cancel", deaf, "--json")
    assert again.wait(10) == 1
    assert '"already_ended"' in again.communicate()[0]


def test_terminate_in_the_ui_cancels_a_run_whoever_started_it(up: Up) -> None:
    typed = up.command("run", "--schema", "sentiment", "--param", f"vectorizer_kwargs={DEAF['vectorizer_kwargs']}")
    wait_until(lambda: any(run.status is Status.RUNNING for run in _runs(up)), 30)
    (going,) = [run for run in _runs(up) if run.status is Status.RUNNING]
    assert up.terminate(going.run_id) == "TerminateRunSuccess"
    assert up.wait_for(going.run_id, *ENDED, seconds=10).status is Status.CANCELLED
    assert typed.wait(10) == 130


def test_a_run_whose_schema_left_the_config_while_it_waited_fails_and_the_next_one_starts(up: Up) -> None:
    deaf = up.launch(DEAF)
    up.wait_for(deaf, Status.RUNNING)
    waiting = up.launch()
    whole = up.config.read_text()
    up.config.write_text(whole.replace("sentiment", "mood"))
    up.command("cancel", deaf).wait(20)
    wait_until(lambda: up.run(waiting).status in ENDED, 60)
    ended = up.run(waiting)
    assert (ended.status, ended.error_code) == (Status.ERROR, "invalid_when_dequeued")
    up.config.write_text(whole)
    assert up.wait_for(up.launch(), *ENDED).status is Status.SUCCESS


def test_a_stop_ends_everything_in_seconds_and_interrupts_what_goes(own: Up) -> None:
    going, waiting = own.launch(DEAF), own.launch()
    own.wait_for(going, Status.RUNNING)
    started = time.monotonic()
    assert own.stop(signal.SIGINT) == 0
    assert time.monotonic() - started < 30  # five on an idle machine
    assert processes_naming(str(own.config.parent)) == []
    ended = own.run(going)
    assert (ended.status, ended.error_code) == (Status.INTERRUPTED, "interrupted")
    assert ended.error.startswith("`training-pipeline up` was stopped while the run was going")
    assert own.run(waiting).waits_in == "dagster"
    own.start()
    assert own.wait_for(waiting, *ENDED).status is Status.SUCCESS


def test_when_the_supervisor_is_killed_nothing_of_it_is_left_and_the_queue_is(own: Up) -> None:
    going, waiting = own.launch(DEAF), own.launch()
    own.wait_for(going, Status.RUNNING)
    own.stop(signal.SIGKILL)
    own.start()  # it waits until what was left has ended
    assert own.run(going).status is Status.INTERRUPTED
    assert processes_naming(f"{going}/spec.json") == []
    assert own.wait_for(waiting, *ENDED).status is Status.SUCCESS
    assert own.agree()


@pytest.mark.parametrize("part", ["dagster._daemon", "training_pipeline.api.serve"])
def test_when_a_part_dies_it_says_which_and_stops_all(own: Up, part: str) -> None:
    assert own.process is not None
    below = set(descendants(own.process.pid))
    (pid, *_) = [pid for pid in processes_naming(part) if pid in below and pid not in processes_naming("leash.py")]
    os.kill(pid, signal.SIGKILL)
    assert own.process.wait(30) == 1
    said = own.said.read_text()
    name = "daemon" if "daemon" in part else "web"
    assert f"The {name} ended by itself; {own.study.task_dir}/.dagster/output/{name}.log says why." in said
    assert processes_naming(str(own.config.parent)) == []


def test_a_second_up_on_the_same_home_is_refused(up: Up) -> None:
    second = up.command("up", "--port", "1")
    assert second.wait(30) == 1
    assert "`training-pipeline up` runs already with the Dagster home" in second.communicate()[1]


def _runs(up: Up) -> list[RunRecord]:
    return runs.list_runs(up.ledger)


def _n_waiting(up: Up) -> int:
    return sum(run.status is Status.QUEUED for run in _runs(up))
