"""The hashes that tie a model to its card."""

from __future__ import annotations

from pathlib import Path

import pytest

from training_pipeline.worker.artifacts import check_model, model_hashes, write_json
from training_pipeline.worker.errors import WorkerError


@pytest.fixture
def artifacts(tmp_path: Path) -> Path:
    (tmp_path / "model" / "adapter").mkdir(parents=True)
    (tmp_path / "model" / "adapter" / "weights").write_bytes(b"abc")
    write_json(tmp_path / "model_card.json", {"model_files": model_hashes(tmp_path / "model")})
    return tmp_path


def test_hashes_are_sha256_by_path(artifacts: Path) -> None:
    assert model_hashes(artifacts / "model") == {
        "adapter/weights": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    }
    check_model(artifacts)


@pytest.mark.parametrize("change", ["edit", "add", "remove"])
def test_a_changed_model_is_refused_by_file(artifacts: Path, change: str) -> None:
    weights = artifacts / "model" / "adapter" / "weights"
    if change == "remove":
        weights.unlink()
    else:
        (weights if change == "edit" else weights.with_name("more")).write_bytes(b"abd")
    name = "adapter/more" if change == "add" else "adapter/weights"
    with pytest.raises(WorkerError, match=f"is not the one that was saved; changed: {name}"):
        check_model(artifacts)
