"""The product against Potato's own training: `python -m benchmarks.against_potato POTATO [ROUNDS]`.

POTATO is the program of a Potato 2.12.1. On the same study each side trains once a round, in turn: 320 items of which
240 are labelled, and 10,000 that all are, by three annotators. Seconds go from the request to the moment when the
predictions are in the ledger; the peer's server is up by then, and has its memory counted, as ours has all processes.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from benchmarks.measure import Watch, cpu_of, run
from benchmarks.study import API_KEY, SCHEMA, make_study

_CASES = {"320 items, 240 labelled": (320, 240), "10,000 items, all labelled": (10_000, 10_000)}
_POLL_SECONDS = 0.05
_START_SECONDS = 120


class Taken(NamedTuple):
    """What one training took: seconds, processor seconds and MiB of all processes, and how many predictions came."""

    seconds: float
    cpu: float
    mib: float
    n_predictions: int


def ours(config: Path) -> Taken:
    finished = run([sys.executable, "-m", "training_pipeline.cli", "run", str(config), "--schema", SCHEMA, "--json"])
    told = json.loads(finished.stdout)
    seconds, peak = told["finished_at"] - finished.start, finished.watch.peak()
    return Taken(seconds, finished.cpu, peak.together, told["writeback"]["n_written"])


def theirs(program: str, config: Path) -> Taken:
    with _server(program, config) as (address, pid), httpx.Client(base_url=address, timeout=60) as client:
        client.headers["X-API-Key"] = API_KEY
        with Watch(pid) as watch:
            start, cpu = time.time(), cpu_of(pid)
            asked = client.post("/admin/training/api/runs", json={"trainer": "sklearn-text", "schemas": [SCHEMA]})
            run_id = asked.raise_for_status().json()["run_id"]
            report = _wait(client, run_id)
            end = time.time()
        return Taken(end - start, cpu_of(pid) - cpu, watch.peak(start, end).together, report["n_written"])


def _wait(client: httpx.Client, run_id: str) -> dict[str, Any]:
    while True:
        status = client.get("/admin/training/api/status").raise_for_status().json()
        if status["state"] == "error":
            raise RuntimeError(f"the peer's run failed: {status['errors']}")
        report: dict[str, Any] = status.get("writeback") or {}
        # The state is "success" before the predictions are in the ledger; the report comes with them.
        if status["state"] == "success" and report.get("run_id") == run_id:
            return report
        time.sleep(_POLL_SECONDS)


@contextmanager
def _server(program: str, config: Path) -> Iterator[tuple[str, int]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [program, "start", config.name, "-p", str(port), "--host", "127.0.0.1"]
    with (config.parent / "server.log").open("wb") as log:
        server = subprocess.Popen(command, cwd=config.parent, stdout=log, stderr=log)
    try:
        _wait_until_up(f"http://127.0.0.1:{port}")
        yield f"http://127.0.0.1:{port}", server.pid
    finally:
        server.terminate()
        server.wait()


def _wait_until_up(address: str) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            httpx.get(address, timeout=30, follow_redirects=True)
        except httpx.TransportError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
        else:
            return


def _compare(name: str, sizes: tuple[int, int], program: str, rounds: int) -> None:
    sides: dict[str, Callable[[Path], Taken]] = {"Potato": lambda config: theirs(program, config), "ours": ours}
    taken: dict[str, list[Taken]] = {side: [] for side in sides}
    with tempfile.TemporaryDirectory() as folder:
        fresh = make_study(Path(folder) / "fresh", *sizes)
        for number in range(rounds):
            for side, train in sides.items():
                copy = Path(folder) / f"{side}-{number}"
                shutil.copytree(fresh.parent, copy)
                taken[side].append(train(copy / fresh.name))
    print(f"{name}, best of {rounds}")
    best = {side: min(tries) for side, tries in taken.items()}
    for side, result in best.items():
        print(
            f"  {side:<8}{result.seconds:>8.2f} s {result.cpu:>8.2f} s of processor {result.mib:>8,.0f} MiB "
            f"{result.n_predictions:>8,} predictions"
        )
    peer, product = best["Potato"], best["ours"]
    print(
        f"  ours is {peer.seconds / product.seconds:.1f} times as fast, with {product.cpu / peer.cpu:.2f} times the "
        f"processor time and {product.mib / peer.mib:.2f} times the memory"
    )


def main(program: str, rounds: int = 3) -> None:
    for name, sizes in _CASES.items():
        _compare(name, sizes, program, rounds)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:3]))
