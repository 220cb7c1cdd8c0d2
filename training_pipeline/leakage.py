"""The leakage proof: that no score and no pre-label rests on an item that a model learned from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from training_pipeline.bundle.manifest import LABELLED_SPLITS
from training_pipeline.bundle.reader import Bundle
from training_pipeline.bundle.row import Row
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
    placements: list[Placement] = []
    twins: list[Twin] = []
    seen = _Texts()
    for split in LABELLED_SPLITS:  # train comes first, so that a twin in train is the one that is named
        for row in bundle.rows(split):
            placements.append(Placement(row.instance_id, split, row.group))
            twin = seen.twin_of(row, split)
            if twin is not None:
                twins.append(twin)
    return BundleLeakage(
        in_two_splits=tuple(in_two_splits(placements)),
        differs_from_ledger=tuple(differs_from_ledger(ledger, run_id, placements)),
        twins=tuple(twins),
    )


class _Texts:
    """The texts seen so far, case and spaces aside, each with the item and the split where it stood first."""

    def __init__(self) -> None:
        self._first: dict[bytes, tuple[str, str]] = {}

    def twin_of(self, row: Row, split: str) -> Twin | None:
        """Take note of a row, and return it as a twin where another split held its text before."""
        text = " ".join(row.text.casefold().split())
        if not text:
            return None
        twin_id, twin_split = self._first.setdefault(_digest(text), (row.instance_id, split))
        return None if twin_split == split else Twin(row.instance_id, split, twin_id, twin_split)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
