from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.labels.votes import answers
from training_pipeline.errors import PipelineError
from training_pipeline.labels.agreed import AgreedLabels
from training_pipeline.labels.consensus import agree
from training_pipeline.labels.storage import digest, load, save
from training_pipeline.study.answers import Value
from training_pipeline.study.kinds import Kind

VALUES: dict[Kind, tuple[Value, Value]] = {
    Kind.NOMINAL: ("None", "a, b"),
    Kind.MULTILABEL: (("a", "b"), ()),
    Kind.CONTINUOUS: (0.1, -3.0),
}


def some(kind: Kind) -> AgreedLabels:
    one, other = VALUES[kind]
    votes = [("ü/1", "ann", one), ("ü/1", "bea", one), ("2", "ann", other), ("3", "bea", other)]
    return agree(answers(votes, kind), "majority", {"3": frozenset({"bea"}), "4": frozenset({"bea"})})


@pytest.mark.parametrize("kind", VALUES)
def test_labels_come_back_as_they_were(kind: Kind, tmp_path: Path) -> None:
    saved = some(kind)
    save(saved, tmp_path / "labels.parquet")
    loaded = load(tmp_path / "labels.parquet", saved.schema)
    for field in ("items", "labels", "rules", "reliabilities", "n_corrected_unlabelled"):
        assert getattr(loaded, field) == getattr(saved, field)
    for field in ("label", "rule", "n_answers"):
        assert getattr(loaded, field).tolist() == getattr(saved, field).tolist()
        assert getattr(loaded, field).dtype == getattr(saved, field).dtype
    assert (loaded.posterior is None) == (kind is Kind.CONTINUOUS)
    assert digest(loaded) == digest(saved)
    assert list(tmp_path.iterdir()) == [tmp_path / "labels.parquet"]


def test_the_file_speaks_for_itself(tmp_path: Path) -> None:
    save(some(Kind.NOMINAL), tmp_path / "labels.parquet")
    assert pq.read_table(tmp_path / "labels.parquet").to_pylist() == [
        {"item": "2", "label": "a, b", "posterior": 1.0, "rule": "single", "n_answers": 1},
        {"item": "3", "label": "a, b", "posterior": 1.0, "rule": "corrected", "n_answers": 1},
        {"item": "ü/1", "label": "None", "posterior": 1.0, "rule": "majority", "n_answers": 2},
    ]


def test_no_labels_can_be_saved(tmp_path: Path) -> None:
    nothing = agree(answers([]), "consensus")
    path = tmp_path / "folder of its own" / "labels.parquet"
    save(nothing, path)
    assert len(load(path, nothing.schema)) == 0


def test_digest_changes_with_an_item_or_a_label_and_with_nothing_else() -> None:
    base = some(Kind.NOMINAL)
    assert base.posterior is not None
    assert digest(replace(base, posterior=base.posterior / 2, n_answers=base.n_answers + 1)) == digest(base)
    assert digest(replace(base, labels=["a, b", "None"], label=1 - base.label)) == digest(base)
    assert digest(replace(base, items=["2", "3", "ü/2"])) != digest(base)
    assert digest(replace(base, label=np.roll(base.label, 1))) != digest(base)
    assert digest(replace(base, labels=["None", "a, c"])) != digest(base)


@pytest.mark.parametrize("spoil", [Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:50])])
def test_a_file_that_is_gone_or_torn_is_named(spoil: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "labels.parquet"
    saved = some(Kind.NOMINAL)
    save(saved, path)
    spoil(path)
    with pytest.raises(PipelineError, match=r"agreed labels of schema 's' at .*labels.parquet cannot be read"):
        load(path, saved.schema)


def test_a_place_that_cannot_be_written_is_named_and_what_stood_there_stays(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    with pytest.raises(PipelineError, match=r"labels.parquet cannot be written") as refused:
        save(some(Kind.NOMINAL), tmp_path / "file" / "labels.parquet")
    assert refused.value.code == "not_writable"
    assert (tmp_path / "file").read_text() == "kept"


def test_a_full_disk_is_told_apart_and_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "labels.parquet"
    saved = some(Kind.NOMINAL)
    save(saved, path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(PipelineError, match="No space left for") as refused:
        save(some(Kind.NOMINAL), path)
    assert refused.value.code == "disk_full"
    assert digest(load(path, saved.schema)) == digest(saved)
    assert list(tmp_path.iterdir()) == [path]
