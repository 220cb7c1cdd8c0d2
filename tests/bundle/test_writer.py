"""Writing training data."""

from __future__ import annotations

import itertools
import json
import os
import random
from pathlib import Path

import pytest

from training_pipeline.bundle.errors import BundleError
from training_pipeline.bundle.manifest import Manifest, SchemaSpec, Stats
from training_pipeline.bundle.reader import Bundle
from training_pipeline.bundle.row import Row
from training_pipeline.bundle.writer import BundleWriter

MOOD = SchemaSpec("mood", "radio", "nominal", ("good", "bad"))
TOPICS = SchemaSpec("topics", "multiselect", "multilabel", ("price", "taste"))
ROWS = [
    ("train", Row("b", "second", {"mood": "bad"}, "g1")),
    ("train", Row("a", "first", {"mood": "good"})),
    ("val", Row("d", "fourth", {"mood": "mixed"})),
    ("unlabeled", Row("c", "third")),
]


def write(directory: Path, rows: list[tuple[str, Row]], schema: SchemaSpec = MOOD, *, seed: int = 0) -> Manifest:
    with BundleWriter(directory, [schema]) as writer:
        for split, row in rows:
            writer.add(split, row)
        return writer.finish(
            text_key="text", split_seed=seed, aggregation="consensus", stats=Stats(n_items=len(rows), n_annotated=3)
        )


def test_each_split_is_sorted_by_id_whatever_order_rows_came_in(tmp_path: Path) -> None:
    ids = [f"{k:05d}" for k in range(25_000)]
    random.Random(1).shuffle(ids)
    write(tmp_path / "bundle", [("train", Row(i, f"text of {i}", {"mood": "good"})) for i in ids])
    read = list(Bundle.open(tmp_path / "bundle").rows("train"))
    assert [row.instance_id for row in read] == sorted(ids)
    assert all(row.text == f"text of {row.instance_id}" for row in read)


def test_lines_have_the_fields_of_the_format(tmp_path: Path) -> None:
    write(tmp_path / "bundle", ROWS)
    lines = (tmp_path / "bundle" / "train.jsonl").read_text().splitlines()
    assert json.loads(lines[1]) == {"instance_id": "b", "text": "second", "targets": {"mood": "bad"}, "group": "g1"}
    unlabeled = json.loads((tmp_path / "bundle" / "unlabeled.jsonl").read_text())
    assert unlabeled == {"instance_id": "c", "text": "third"}


def test_labels_are_the_options_then_those_that_only_the_data_has(tmp_path: Path) -> None:
    manifest = write(tmp_path / "bundle", ROWS)
    assert manifest.schemas[0].labels == ("good", "bad", "mixed")
    assert manifest.labels == {"mood": ("bad", "good", "mixed")}
    assert json.loads((tmp_path / "bundle" / "labels.json").read_text()) == {"mood": ["bad", "good", "mixed"]}
    assert manifest.stats.splits == {"train": 2, "val": 1, "test": 0, "unlabeled": 1}


def test_labels_of_several_ticks_count_one_by_one(tmp_path: Path) -> None:
    rows = [("train", Row("a", "x", {"topics": ("taste", "smell")})), ("train", Row("b", "y", {"topics": ()}))]
    manifest = write(tmp_path / "bundle", rows, TOPICS)
    assert manifest.labels == {"topics": ("smell", "taste")}
    assert [row.targets for row in Bundle.open(tmp_path / "bundle").rows("train")] == [
        {"topics": ("taste", "smell")},
        {"topics": ()},
    ]


def test_the_digest_stays_when_only_order_place_seed_and_counts_change(tmp_path: Path) -> None:
    digests = {
        write(tmp_path / f"run-{k}" / "bundle", list(rows), seed=k).digest
        for k, rows in enumerate(itertools.permutations(ROWS))
    }
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("rows", "schema"),
    [
        ([("train", Row("b", "second", {"mood": "good"}, "g1")), *ROWS[1:]], MOOD),
        ([("train", Row("b", "Second", {"mood": "bad"}, "g1")), *ROWS[1:]], MOOD),
        ([("train", Row("b", "second", {"mood": "bad"}, "g2")), *ROWS[1:]], MOOD),
        ([("test", ROWS[0][1]), *ROWS[1:]], MOOD),
        (ROWS[:-1], MOOD),
        (ROWS, SchemaSpec("mood", "radio", "nominal", ("bad", "good"))),
        (ROWS, SchemaSpec("mood", "likert", "ordinal", ("good", "bad"))),
    ],
)
def test_the_digest_changes_with_the_data(tmp_path: Path, rows: list[tuple[str, Row]], schema: SchemaSpec) -> None:
    assert write(tmp_path / "one", ROWS).digest != write(tmp_path / "two", rows, schema).digest


@pytest.mark.parametrize(
    "name",
    ["a/b c", "\u2028", "line\nbreak", '"quoted"', "😀 ไทย", "x" * 10_000, "cut \ud83d", "None", "007"],
)
def test_ids_texts_and_labels_come_back_as_they_were(tmp_path: Path, name: str) -> None:
    row = Row(name, f"NaN\r\n{name}\x00", {"mood": name}, name)
    write(tmp_path / "bundle", [("train", row)])
    bundle = Bundle.open(tmp_path / "bundle")
    assert list(bundle.rows("train")) == [row]
    assert bundle.manifest.labels["mood"] == (name,)
    bundle.verify()


@pytest.mark.parametrize(
    ("split", "row", "why"),
    [
        ("train", Row("b", "again", {"mood": "bad"}), "'b' was added twice, to train and to train"),
        ("val", Row("b", "again", {"mood": "bad"}), "'b' was added twice, to train and to val"),
        ("dev", Row("z", "x", {"mood": "bad"}), "no split 'dev'; the splits are train, val, test, unlabeled"),
        ("train", Row("z", "x"), "'z' of train has no targets"),
        ("unlabeled", Row("z", "x", {"mood": "bad"}), "'z' of unlabeled has targets"),
        ("train", Row("z", "x", {"mood": float("nan")}), "'z' cannot be written"),
    ],
)
def test_a_wrong_row_is_refused_and_nothing_is_left(tmp_path: Path, split: str, row: Row, why: str) -> None:
    with pytest.raises(BundleError, match=why):
        write(tmp_path / "bundle", [ROWS[0], (split, row)])
    assert list(tmp_path.iterdir()) == []


def test_nothing_stands_at_the_directory_before_it_is_whole(tmp_path: Path) -> None:
    with BundleWriter(tmp_path / "bundle", [MOOD]) as writer:
        writer.add(*ROWS[0])
        assert not (tmp_path / "bundle").exists()
    assert list(tmp_path.iterdir()) == []


def test_a_bundle_is_never_written_over(tmp_path: Path) -> None:
    write(tmp_path / "bundle", ROWS)
    before = (tmp_path / "bundle" / "manifest.json").read_bytes()
    with pytest.raises(BundleError, match="is there already"):
        write(tmp_path / "bundle", ROWS[:1])
    assert (tmp_path / "bundle" / "manifest.json").read_bytes() == before


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write(tmp_path / "bundle", ROWS)
    assert list(tmp_path.iterdir()) == []
