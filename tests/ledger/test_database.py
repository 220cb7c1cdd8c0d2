from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from tests.ledger.making import PROJECT, ask, execute, locked_by_another_process, make_ledger
from training_pipeline.errors import PipelineError
from training_pipeline.ledger import failures, tables
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.pins import pin, pins
from training_pipeline.ledger.runs import get, list_runs, record


def test_a_new_ledger_has_potatos_tables_and_ours_and_writes_ahead(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    pin(ledger, ["a"])
    assert execute(ledger.path, "PRAGMA journal_mode") == [("wal",)]
    with ledger.read() as connection:
        assert tables.missing(connection) == frozenset()


def test_a_ledger_of_an_earlier_version_gets_what_it_lacks_and_keeps_its_runs(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    run = ask(ledger)
    execute(ledger.path, "ALTER TABLE pipeline_runs DROP COLUMN param_sources")
    with closing(sqlite3.connect(ledger.path)) as connection:
        assert tables.missing(connection) == {"pipeline_runs.param_sources"}
    (kept,) = list_runs(ledger)
    assert (kept.run_id, kept.param_sources) == (run.run_id, {})
    record(ledger, run.run_id, param_sources={"calibrate": "run"})
    assert get(ledger, run.run_id).param_sources == {"calibrate": "run"}


def test_the_journal_mode_of_a_file_that_is_there_stays(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    execute(ledger.path, "CREATE TABLE theirs (x)")
    pin(ledger, ["a"])
    assert execute(ledger.path, "PRAGMA journal_mode") == [("delete",)]


def test_an_exception_leaves_nothing_behind(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)

    def fail_halfway() -> None:
        with ledger.transaction() as connection:
            connection.execute("INSERT INTO pipeline_pins VALUES (?, 'a', '', 0)", (PROJECT,))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_halfway()
    assert pins(ledger) == []


def test_many_threads_and_processes_write_at_once(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    code = (
        "import sys; from pathlib import Path; from training_pipeline.ledger.database import Ledger;"
        "from training_pipeline.ledger.pins import pin; ledger = Ledger(Path(sys.argv[1]), sys.argv[2]);"
        "[pin(ledger, [f'{sys.argv[3]}-{k}']) for k in range(20)]"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", code, str(ledger.path), PROJECT, f"process-{n}"]) for n in range(3)
    ]
    threads = [
        threading.Thread(target=lambda n=n: [pin(ledger, [f"thread-{n}-{k}"]) for k in range(20)]) for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert len(pins(ledger)) == 7 * 20


@pytest.mark.slow
def test_a_lock_held_for_three_seconds_is_waited_for(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    pin(ledger, ["a"])
    with locked_by_another_process(ledger.path, seconds=3):
        began = time.monotonic()
        assert pin(ledger, ["b"]) == 1
        assert 2 < time.monotonic() - began < 6


def test_a_lock_held_too_long_is_told_with_the_file_and_the_mend(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "project.sqlite", PROJECT, busy_timeout=0.1)
    pin(ledger, ["a"])
    with locked_by_another_process(ledger.path, seconds=20), pytest.raises(PipelineError) as refused:
        pin(ledger, ["b"])
    assert refused.value.code == "ledger_busy"
    assert str(ledger.path) in str(refused.value)
    assert "fuser" in str(refused.value)
    assert [p.instance_id for p in pins(ledger)] == ["a"]


def test_between_batches_the_lock_is_free_a_quarter_of_the_time(tmp_path: Path) -> None:
    held: list[tuple[float, float]] = []

    def write(connection: sqlite3.Connection, batch: list[int]) -> None:
        began = time.monotonic()
        time.sleep(0.06)
        held.append((began, time.monotonic()))

    assert make_ledger(tmp_path).write_in_batches(range(5), write, size=2) == 5
    assert [after[0] - before[1] >= 0.02 for before, after in pairwise(held)] == [True, True]


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    ledger.path.write_bytes(b"annotations, surely\n" * 1000)
    with pytest.raises(PipelineError, match=r"project\.sqlite is damaged or no SQLite database") as refused:
        pins(ledger)
    assert refused.value.code == "bad_ledger"


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match=f"The folder {tmp_path}/gone.*does not exist") as refused:
        pins(make_ledger(tmp_path / "gone"))
    assert refused.value.code == "bad_ledger"


def test_a_read_only_file_is_told(tmp_path: Path) -> None:
    path = make_ledger(tmp_path).path
    execute(path, "CREATE TABLE t (x)")
    with (
        closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection,
        pytest.raises(sqlite3.Error) as caught,
    ):
        connection.execute("INSERT INTO t VALUES (1)")
    told = failures.explain(path, caught.value, 1)
    assert told is not None
    assert told.code == "ledger_read_only"
    assert "write access" in str(told)


def test_a_full_disk_is_told_and_changes_nothing(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    pin(ledger, ["a"])

    def write_more_than_fits() -> None:
        with ledger.transaction() as connection:
            # SQLite answers a file that may not grow as it answers a full disk.
            connection.execute("PRAGMA max_page_count = 1")
            connection.execute("INSERT INTO pipeline_pins VALUES (?, ?, '', 0)", (PROJECT, "b" * 1_000_000))

    with pytest.raises(PipelineError, match="is full") as refused:
        write_more_than_fits()
    assert refused.value.code == "disk_full"
    assert [p.instance_id for p in pins(ledger)] == ["a"]


def test_a_defect_of_ours_is_not_dressed_up(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError), make_ledger(tmp_path).transaction() as connection:
        connection.execute("SELECT nothing FROM nowhere")


def test_the_ledger_needs_no_training_library_and_no_dagster() -> None:
    code = (
        "import sys; import training_pipeline.ledger.retention, training_pipeline.ledger.audit;"
        "import training_pipeline.publishing.writeback;"
        "print([m for m in ('numpy', 'scipy', 'sklearn', 'torch', 'dagster', 'pandas') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
