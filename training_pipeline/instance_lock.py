"""One supervisor for one Dagster home: two daemons would start each other's runs."""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from io import TextIOWrapper
from pathlib import Path

from training_pipeline.errors import PipelineError
from training_pipeline.ledger.owners import Owner, is_gone, this_process

_SECONDS_TO_WAIT = 30.0


@contextmanager
def lock_home(home: Path) -> Iterator[int]:
    """Hold the home's lock, and give the file descriptor that holds it.

    Processes that inherit the descriptor hold the lock too: after a supervisor was killed it is free when the last of
    its parts has ended, which is waited for. Raises `already_up` while another supervisor lives.
    """
    with (home / "up.lock").open("a+", encoding="utf-8") as file:
        deadline = time.monotonic() + _SECONDS_TO_WAIT
        while not _try(file):
            holder = _holder(file)
            if (holder is not None and not is_gone(holder)) or time.monotonic() > deadline:
                who = f" (process {holder.pid} on {holder.host})" if holder else ""
                raise PipelineError(
                    "already_up",
                    f"`training-pipeline up` runs already with the Dagster home {home}{who}. Stop it first, or give"
                    " this study a home of its own with DAGSTER_HOME.",
                )
            time.sleep(0.2)
        file.truncate(0)
        file.write(json.dumps(asdict(this_process())))
        file.flush()
        yield file.fileno()


def _try(file: TextIOWrapper) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(file: TextIOWrapper) -> Owner | None:
    file.seek(0)
    text = file.read()
    return Owner(**json.loads(text)) if text else None
