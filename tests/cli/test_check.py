"""`check` as people and scripts meet it."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import call
from tests.studies import make_study
from training_pipeline import machine
from training_pipeline.trainers.registry import NAMES

SSH = {"backends": {"gpu": {"type": "ssh", "host": "gpu"}}}


def test_this_machine(tmp_path: Path) -> None:
    said = call("check", "local", str(make_study(tmp_path)))
    assert said.status == 0
    first = said.out.splitlines()[0]
    assert first.startswith("local: this machine, ")
    if machine.torch_device() in (None, "cpu"):
        cores = machine.cores()
        assert first == f"local: this machine, CPU, {cores} {'core' if cores == 1 else 'cores'}"
    assert f"Memory: {machine.memory().total_mb} MiB" in said.out
    assert "MiB free in " in said.out
    assert all(name in said.out for name in NAMES)


def test_json_is_one_document(tmp_path: Path) -> None:
    document = call("check", "local", str(make_study(tmp_path)), "--json").document
    assert (document["backend"], document["type"], document["usable"]) == ("local", "local", True)
    assert set(document["facts"]) == {
        "device",
        "cores",
        "memory",
        "gpus",
        "runs_dir",
        "free_disk_mb",
        "trainers",
    }
    assert document["facts"]["runs_dir"] == str(tmp_path / "annotation_output" / "training" / "runs")
    assert [one["trainer"] for one in document["facts"]["trainers"]] == list(NAMES)


def test_a_backend_of_another_type_is_not_available_yet(tmp_path: Path) -> None:
    said = call("check", "gpu", str(make_study(tmp_path, training=SSH)))
    assert (said.status, said.out) == (1, "gpu: ssh, not tried\n")
    assert said.err == ("Not usable: Backends of type ssh are not available in this version: runs go to local.\n")


def test_an_unknown_backend_is_refused(tmp_path: Path) -> None:
    said = call("check", "gpv", str(make_study(tmp_path, training=SSH)), "--json")
    assert (said.status, said.document["code"]) == (1, "unknown_backend")
    assert said.document["error"].endswith("has no backend 'gpv'. Did you mean gpu?")
