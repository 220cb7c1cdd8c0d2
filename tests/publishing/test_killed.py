"""kill -9 while predictions are published."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ledger.making import execute, make_ledger, wait_for
from tests.publishing.making import next_run, says, shown, write_back
from training_pipeline.ledger import predictions, runs
from training_pipeline.ledger.records import Status
from training_pipeline.ledger.retention import reconcile

CHILD = """
import sys
from pathlib import Path
from tests.ledger.making import make_ledger
from tests.publishing.making import next_run, says, write_back

ledger = make_ledger(Path(sys.argv[1]))
ids = [f"{k:06d}" for k in range(200_000)]
run_id = next_run(ledger, val="ab")
write_back(ledger, known=ids).publish(run_id, (says(item) for item in ids))
print("published", flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("staged", [2, 60_000, 199_999])
def test_a_publication_killed_at_any_moment_leaves_the_old_pre_labels(tmp_path: Path, staged: int) -> None:
    ledger = make_ledger(tmp_path)
    first = next_run(ledger, val="ab")
    write_back(ledger).publish(first, [says("a"), says("b")])
    with subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE) as child:
        wait_for(
            lambda: (
                execute(ledger.path, "SELECT count(*) FROM pipeline_predictions")[0][0] > staged
                or child.poll() is not None
            )
        )
        child.send_signal(signal.SIGKILL)
        assert child.stdout is not None
        assert child.stdout.read() == b"", "it was too quick to be killed"
    whole = len(shown(ledger)) == 200_002
    assert whole or shown(ledger) == {"a": first, "b": first}
    assert execute(ledger.path, "PRAGMA integrity_check") == [("ok",)]

    (interrupted,) = reconcile(ledger)
    assert interrupted.status is Status.INTERRUPTED
    assert (interrupted.writeback is not None) is whole
    assert sum(predictions.count(ledger).values()) == len(shown(ledger))
    assert execute(ledger.path, "SELECT count(*) FROM pipeline_predictions")[0][0] == len(shown(ledger))

    third = next_run(ledger, val="ab")
    write_back(ledger).publish(third, [says("a"), says("b")])
    assert runs.finish(ledger, third, Status.SUCCESS).writeback is not None
    assert {item: run for item, run in shown(ledger).items() if item in "ab"} == {"a": third, "b": third}
