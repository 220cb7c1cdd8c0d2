"""The leakage proof on bundles that are right, wrong, or hold the same text twice."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.ledger.making import ask, make_ledger
from training_pipeline.bundle.manifest import ForcedTrain, SchemaSpec, Stats
from training_pipeline.bundle.reader import Bundle
from training_pipeline.bundle.row import Row
from training_pipeline.bundle.writer import BundleWriter
from training_pipeline.leakage import Twin, examine
from training_pipeline.ledger import owners, runs, splits
from training_pipeline.ledger.audit import InTwoSplits
from training_pipeline.ledger.database import Ledger

SPEC = SchemaSpec("s", "radio", "nominal", ("x", "y"), None)


def bundle_of(directory: Path, rows: Iterable[tuple[str, str, str, str | None]]) -> Bundle:
    """Write a bundle of (split, id, text, group) rows."""
    with BundleWriter(directory / "bundle", [SPEC]) as writer:
        for split, item, text, group in rows:
            writer.add(split, Row(item, text, {"s": "x"}, group))
        stats = Stats(
            n_items=0,
            n_annotated=0,
            n_corrected_unlabelled=0,
            forced_train=ForcedTrain(corrected=0, pinned=0),
            n_moved=0,
            warnings=(),
        )
        writer.finish(text_key="text", split_seed=0, aggregation="majority", stats=stats)
    return Bundle.open(directory / "bundle")


def recorded(directory: Path, placed: Iterable[tuple[str, str]]) -> tuple[Ledger, str]:
    ledger = make_ledger(directory)
    run_id = ask(ledger).run_id
    assert runs.take_turn(ledger, run_id, owners.this_process())
    splits.write_run_items(ledger, run_id, placed)
    return ledger, run_id


def test_nothing_is_wrong_with_splits_that_hold(tmp_path: Path) -> None:
    bundle = bundle_of(tmp_path, [("train", "a", "one", None), ("val", "b", "two", None)])
    ledger, run_id = recorded(tmp_path, [("a", "train"), ("b", "val")])
    found = examine(ledger, run_id, bundle)
    assert not found.is_broken
    assert (found.in_two_splits, found.differs_from_ledger, found.twins) == ((), (), ())


def test_a_group_in_two_splits_is_a_fault(tmp_path: Path) -> None:
    bundle = bundle_of(tmp_path, [("train", "a", "one", "g"), ("val", "b", "two", "g"), ("val", "c", "three", "h")])
    ledger, run_id = recorded(tmp_path, [("a", "train"), ("b", "val"), ("c", "val")])
    found = examine(ledger, run_id, bundle)
    assert found.is_broken
    assert found.in_two_splits == (InTwoSplits("group", "g", ("train", "val")),)


def test_a_split_other_than_the_ledgers_is_a_fault(tmp_path: Path) -> None:
    bundle = bundle_of(tmp_path, [("train", "a", "one", None), ("val", "b", "two", None)])
    ledger, run_id = recorded(tmp_path, [("a", "train"), ("b", "train"), ("gone", "val")])
    found = examine(ledger, run_id, bundle)
    assert found.is_broken
    assert found.differs_from_ledger == ("b", "gone")


def test_twins_are_named_but_no_fault(tmp_path: Path) -> None:
    rows = [
        ("train", "a", "The same  Text", None),
        ("train", "b", "the same text", None),
        ("val", "c", "THE SAME\ntext ", None),
        ("val", "d", "only held out", None),
        ("test", "e", "only held out", None),
        ("test", "f", "the same tex", None),
        ("test", "g", "  ", None),
        ("val", "h", "", None),
    ]
    bundle = bundle_of(tmp_path, rows)
    ledger, run_id = recorded(tmp_path, [(item, split) for split, item, _, _ in rows])
    found = examine(ledger, run_id, bundle)
    assert not found.is_broken
    assert found.twins == (Twin("c", "val", "a", "train"), Twin("e", "test", "d", "val"))
