"""Reading training data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bundle.test_writer import ROWS, write
from training_pipeline.bundle.errors import BundleError
from training_pipeline.bundle.manifest import FORMAT_VERSION
from training_pipeline.bundle.reader import Bundle


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    write(tmp_path / "bundle", ROWS)
    return tmp_path / "bundle"


def change_manifest(bundle: Path, **fields: object) -> None:
    path = bundle / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def test_the_manifest_comes_back_as_it_was_written(tmp_path: Path) -> None:
    written = write(tmp_path / "bundle", ROWS)
    assert Bundle.open(tmp_path / "bundle").manifest == written


def test_splits_know_their_size_and_absent_ones_are_empty(bundle: Path) -> None:
    opened = Bundle.open(bundle)
    assert {split: opened.n(split) for split in ("train", "val", "test", "holdout")} == {
        "train": 2,
        "val": 1,
        "test": 0,
        "holdout": 0,
    }
    assert list(opened.rows("holdout")) == []


def test_a_changed_file_is_noticed(bundle: Path) -> None:
    Bundle.open(bundle).verify()
    path = bundle / "train.jsonl"
    path.write_bytes(path.read_bytes().replace(b"bad", b"sad"))
    with pytest.raises(BundleError, match="is not what its manifest says"):
        Bundle.open(bundle).verify()


def test_a_missing_file_is_named(bundle: Path) -> None:
    (bundle / "val.jsonl").unlink()
    with pytest.raises(BundleError, match=r"val\.jsonl is missing"):
        Bundle.open(bundle).verify()
    with pytest.raises(BundleError, match=r"val\.jsonl is missing"):
        list(Bundle.open(bundle).rows("val"))


def test_a_torn_row_is_named_by_file_and_line(bundle: Path) -> None:
    path = bundle / "train.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BundleError, match=r"train\.jsonl, line 2, is no row"):
        list(Bundle.open(bundle).rows("train"))


@pytest.mark.parametrize("line", [b"[" * 3000, b'{"instance_id": "\xff"}', b"1" * 5000], ids=["deep", "bytes", "long"])
def test_a_row_that_cannot_be_read_is_named_by_file_and_line(bundle: Path, line: bytes) -> None:
    (bundle / "train.jsonl").write_bytes(line)
    with pytest.raises(BundleError, match=r"train\.jsonl, line 1, is no row"):
        list(Bundle.open(bundle).rows("train"))


def test_a_folder_without_training_data_is_named(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"There is no training data in .*manifest\.json is missing"):
        Bundle.open(tmp_path)


def test_a_newer_format_is_refused(bundle: Path) -> None:
    change_manifest(bundle, v=FORMAT_VERSION + 1)
    with pytest.raises(BundleError, match="is of format 2; this machine reads formats up to 1"):
        Bundle.open(bundle)


@pytest.mark.parametrize("content", ["{", "[" * 3000, "1" * 5000, "[]", '{"v": 1}', '{"v": 1, "stats": 3}'])
def test_a_broken_manifest_is_named(bundle: Path, content: str) -> None:
    (bundle / "manifest.json").write_text(content)
    with pytest.raises(BundleError, match=r"manifest\.json"):
        Bundle.open(bundle)


def test_an_unknown_schema_is_refused_with_those_there_are(bundle: Path) -> None:
    with pytest.raises(BundleError, match="no schema 'moot'; it has: mood"):
        Bundle.open(bundle).manifest.schema("moot")
