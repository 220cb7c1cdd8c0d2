"""A real Potato server, run as a program on a study, and an annotator who looks at its pages."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

START_SECONDS = 60


def potato_program() -> str:
    """Return the server's program; skips where there is none, except in CI, which must have it."""
    program = os.environ.get("POTATO_BIN") or shutil.which("potato")
    if program and Path(program).exists():
        return program
    if os.environ.get("CI"):
        pytest.fail("CI must run the tests against a real Potato server: make test sets POTATO_BIN")
    pytest.skip("no Potato server here: `make test` installs one, or set POTATO_BIN")


@contextmanager
def potato(config: Path) -> Iterator[str]:
    """Run the server on a study and give its address; it is stopped, and has closed its files, at the end."""
    program = potato_program()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log_path = config.parent / "server.log"
    with log_path.open("ab") as log:
        server = subprocess.Popen(
            [program, "start", config.name, "-p", str(port), "--host", "127.0.0.1"],
            cwd=config.parent,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        _wait_until_up(f"http://127.0.0.1:{port}", server, log_path)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait_until_up(address: str, server: subprocess.Popen[bytes], log_path: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            httpx.get(address, timeout=5)
        except httpx.TransportError:
            assert server.poll() is None, log_path.read_text(errors="replace")[-3000:]
            assert time.monotonic() < deadline, log_path.read_text(errors="replace")[-3000:]
            time.sleep(0.2)
        else:
            return


class Annotator:
    """Somebody who logs in and looks at items, as the browser does."""

    def __init__(self, address: str, name: str) -> None:
        self._client = httpx.Client(base_url=address, follow_redirects=True, timeout=30)
        self._client.post("/auth", data={"email": name, "action": "login"}).raise_for_status()

    def look_at(self, place: int) -> dict[str, Any]:
        """Go to the item at a place of the queue and return what the server says of it."""
        self._client.post("/annotate", json={"action": "go_to", "go_to": place}).raise_for_status()
        answer: dict[str, Any] = self._client.get("/api/current_instance").raise_for_status().json()
        return answer

    def page(self) -> str:
        """Return the page of the item looked at."""
        return self._client.get("/annotate").raise_for_status().text

    def prelabels(self) -> dict[str, dict[str, Any]]:
        """Return {item id: {schema: payload}} of every item that shows a pre-label."""
        first = self.look_at(0)
        shown = [first, *(self.look_at(place) for place in range(1, first["total_instances"]))]
        return {seen["instance_id"]: seen["data"]["predictions"] for seen in shown if seen["data"].get("predictions")}
