"""The leakage proof: that no score and no pre-label rests on an item that a model learned from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from training_pipeline.bundle.manifest import LABELLED_SPLITS
from training_pipeline.bundle.reader import Bundle
from training_pipeline.ledger.audit import InTwoSplits, Placement, differs_from_ledger, in_two_splits
from training_pipeline.ledger.database import Ledger


@dataclass(frozen=True)
class Twin:
    """A held-out item whose text also stands in another split, under another id."""

    instance_id: str
    split: str
    twin_id: str
    twin_split: str


@dataclass(frozen=True)
class BundleLeakage:
    """What is wrong with one run's training data, and what cannot be helped.

    `in_two_splits` and `differs_from_ledger` (ids) are faults. `twins` are identical texts under two ids in two
    splits: hashing ids cannot keep them together, `splits_by` can.
    """

    in_two_splits: tuple[InTwoSplits, ...]
    differs_from_ledger: tuple[str, ...]
    twins: tuple[Twin, ...]

    @property
    def is_broken(self) -> bool:
        """Whether a score from this training data means nothing."""
        return bool(self.in_two_splits or self.differs_from_ledger)


def examine(ledger: Ledger, run_id: str, bundle: Bundle) -> BundleLeakage:
    """Examine a run's training data, from the ledger and the bundle alone.

    Holds an id and sixteen bytes of digest per item.
    """
    placements = list(_placements(bundle))
    return BundleLeakage(
        in_two_splits=tuple(in_two_splits(placements)),
        differs_from_ledger=tuple(differs_from_ledger(ledger, run_id, placements)),
        twins=tuple(_twins(bundle)),
    )


def _placements(bundle: Bundle) -> Iterator[Placement]:
    for split in LABELLED_SPLITS:
        for row in bundle.rows(split):
            yield Placement(row.instance_id, split, row.group)


def _twins(bundle: Bundle) -> Iterator[Twin]:
    """Yield the held-out items that have a twin in train or, of two held-out twins in different splits, the second."""
    first: dict[bytes, tuple[str, str]] = {}
    for split in LABELLED_SPLITS:  # train comes first, so that a twin in train is the one that is named
        for row in bundle.rows(split):
            text = " ".join(row.text.casefold().split())
            if not text:
                continue
            twin_id, twin_split = first.setdefault(_digest(text), (row.instance_id, split))
            if twin_split != split:
                yield Twin(row.instance_id, split, twin_id, twin_split)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
