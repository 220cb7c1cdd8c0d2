"""From the 25th new annotation to new pre-labels: `python -m benchmarks.latency [ROUNDS]`.

A study of 320 items whose runs start by themselves, under a real `up`. An annotator's file is written anew with 25
more answers, as the server does on a save, and the clock stops when the ledger has the new run's predictions.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import yaml

from benchmarks.stages import Stage, stages
from benchmarks.study import SCHEMA, item_id, make_study
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import RunRecord, Status
from training_pipeline.ledger.runs import list_runs
from training_pipeline.study.config import Study, load_study

_N_ITEMS, _N_LABELLED, _N_NEW = 320, 150, 25
_AUTO_RETRAIN = {"enabled": True, "trainer": "sklearn-text", "schemas": [SCHEMA], "min_interval_s": 0}
_WAIT_SECONDS = 120


def _grow(state: Path, n_labelled: int) -> None:
    """Let one annotator answer the items up to `n_labelled`, in one save."""
    whole = orjson.loads(state.read_bytes())
    for k in range(n_labelled - _N_NEW, n_labelled):
        item = item_id(k)
        whole["instance_id_to_label_to_value"][item] = [[{"schema": SCHEMA, "name": "neutral"}, "neutral"]]
    partial = state.with_suffix(".partial")
    partial.write_bytes(orjson.dumps(whole))
    partial.replace(state)


def _await_run(ledger: Ledger, n_runs: int) -> RunRecord:
    deadline = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < deadline:
        found = list_runs(ledger)
        if len(found) >= n_runs and found[0].status.has_ended:
            if found[0].status is not Status.SUCCESS:
                raise RuntimeError(f"the run failed: {found[0].error}")
            return found[0]
        time.sleep(0.05)
    raise TimeoutError(f"there are {len(list_runs(ledger))} runs, not {n_runs}, after {_WAIT_SECONDS} seconds")


@contextmanager
def _up(study: Study) -> Iterator[None]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "training_pipeline.cli", "up", str(study.config_path), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        while "http://" not in process.stdout.readline():
            if process.poll() is not None:
                raise RuntimeError("`up` did not come up")
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def _told(saved: float, run: RunRecord, parts: list[Stage]) -> str:
    assert run.started_at is not None
    assert run.finished_at is not None
    lines = [
        f"{run.finished_at - saved:6.2f} s from the save to the pre-labels",
        f"{run.created_at - saved:6.2f} s until the sensor had asked for a run",
        f"{run.started_at - run.created_at:6.2f} s until the run had its process and its turn",
        *(f"{part.seconds:6.2f} s {part.name}" for part in parts if part.seconds >= 0.01),
    ]
    return "\n".join(lines)


def main(rounds: int = 3) -> None:
    with tempfile.TemporaryDirectory() as folder:
        config = make_study(Path(folder) / "study", _N_ITEMS, _N_LABELLED)
        whole = yaml.safe_load(config.read_text())
        whole["model_training"]["auto_retrain"] = {**_AUTO_RETRAIN, "update_frequency": _N_NEW}
        config.write_text(yaml.safe_dump(whole, sort_keys=False))
        study = load_study(config)
        ledger = Ledger(study.database, study.name)
        state = min(study.output_dir.glob("*/user_state.json"))
        with _up(study):
            _await_run(ledger, 1)
            for number in range(1, rounds + 1):
                time.sleep(6)  # the sensor comes by every five seconds: begin at no particular moment of its round
                _grow(state, _N_LABELLED + number * _N_NEW)
                saved = time.time()
                run = _await_run(ledger, number + 1)
                assert run.started_at is not None
                assert run.finished_at is not None
                parts = stages(config, run.started_at, run.finished_at, run.run_id, run.dagster_run_id)
                print(f"round {number}\n{_told(saved, run, parts)}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
