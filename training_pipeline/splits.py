"""Stable splits: which items train, and which are held out for good.

Membership depends on the seed, the weights and the item's own id (or group) alone, so it never moves when items come or
go. Only an item that a reviewer corrected or that was pinned leaves its natural split, for train, with its whole group.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from training_pipeline.parquet import coded, codes_of, read_table, strings, write_table

SPLITS = ("train", "val", "test")
"""The names of the splits; a split's code is its place here."""

CAUSES = ("", "corrected", "pinned")
"""Why an item was forced into train; the first says that it was not. A cause's code is its place here."""

_TRAIN = SPLITS.index("train")


Weights: TypeAlias = Mapping[Literal["train", "val", "test"], float] | Mapping[str, float]
"""The weight of each split, in the order in which the study writes them; at least one is above 0."""


class Keyed(Protocol):
    """The items of a study: their ids in any order, and each one's group where the study has `splits_by`."""

    @property
    def ids(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def groups(self) -> Sequence[str] | None: ...  # noqa: D102


@dataclass(frozen=True)
class Membership:
    """Where one item stands: its split, why it was forced there (one of `CAUSES`), and its group."""

    split: str
    natural: str
    cause: str
    group: str | None

    @property
    def is_moved(self) -> bool:
        """Whether the item left val or test for train."""
        return self.split != self.natural


@dataclass(frozen=True)
class StableSplits:
    """The split of every item, items sorted by id.

    Row k: `ids[k]`, whose group is `groups[k]`, is in `SPLITS[split[k]]`. Its id or group alone would put it in
    `SPLITS[natural[k]]`, and `CAUSES[cause[k]]` says why it was forced into train, if it was.
    """

    ids: list[str]
    groups: list[str] | None
    split: NDArray[np.int8]
    natural: NDArray[np.int8]
    cause: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.ids)

    def membership(self, item: str) -> Membership:
        """Return where an item stands; KeyError for an id that the study did not have."""
        k = self._place[item]
        group = None if self.groups is None else self.groups[k]
        return Membership(SPLITS[self.split[k]], SPLITS[self.natural[k]], CAUSES[self.cause[k]], group)

    def members(self, split: str) -> list[str]:
        """Return the ids in a split, sorted."""
        return [self.ids[k] for k in np.flatnonzero(self.split == SPLITS.index(split))]

    @property
    def forced_train(self) -> dict[str, int]:
        """How many items each cause forced into train; those whose id put them there anyway count too."""
        return {CAUSES[code]: int((self.cause == code).sum()) for code in range(1, len(CAUSES))}

    @property
    def n_moved(self) -> int:
        """How many items left val or test for train."""
        return int((self.split != self.natural).sum())

    @cached_property
    def _place(self) -> dict[str, int]:
        return {item: k for k, item in enumerate(self.ids)}


def stable_split(key: str, seed: int, weights: Weights) -> str:
    """Return the split of an id or group value, the same that Potato gives it.

    The first 32 bits of SHA-256 of `seed:key` in UTF-8, as a fraction of the largest such number, fall into the first
    split whose running share of the weights is not below them. The order in which `weights` are written matters.
    """
    return SPLITS[_natural_splits([key], seed, weights)[0]]


def assign(
    index: Keyed,
    seed: int,
    weights: Weights,
    corrected: Collection[str] = (),
    pinned: Collection[str] = (),
) -> StableSplits:
    """Assign every item of a study to a split.

    `corrected` holds the items on which a reviewer's verdict is `correct`, `pinned` those pinned for training that
    somebody has labelled: they are in train, and with groups so is the rest of their group. An item that is both
    counts as corrected. Ids that the study does not have are ignored.
    """
    order = sorted(range(len(index.ids)), key=index.ids.__getitem__)
    ids = [index.ids[k] for k in order]
    groups = None if index.groups is None else [index.groups[k] for k in order]
    keys = ids if groups is None else groups
    natural = _natural_splits(keys, seed, weights)
    cause = np.zeros(len(ids), dtype=np.int8)
    for code, forced in ((CAUSES.index("pinned"), set(pinned)), (CAUSES.index("corrected"), set(corrected))):
        if forced:
            forced_keys = {key for item, key in zip(ids, keys, strict=True) if item in forced}
            cause[[key in forced_keys for key in keys]] = code
    return StableSplits(ids, groups, np.where(cause > 0, np.int8(_TRAIN), natural), natural, cause)


def digest(splits: StableSplits) -> str:
    """Return a SHA-256 over ids and their splits: it changes exactly when membership does."""
    return hashlib.sha256(orjson.dumps(splits.ids) + splits.split.tobytes()).hexdigest()


def save(splits: StableSplits, path: Path) -> None:
    """Write the splits as Parquet, one row an item; the file is whole or not there at all."""
    columns = {
        "item": pa.array(splits.ids, type=pa.string()),
        "split": coded(splits.split, SPLITS),
        "natural_split": coded(splits.natural, SPLITS),
        "cause": coded(splits.cause, CAUSES),
    }
    if splits.groups is not None:
        columns["group"] = pa.array(splits.groups, type=pa.string())
    write_table(pa.table(columns), path)


def load(path: Path) -> StableSplits:
    """Read what `save` wrote."""
    table = read_table(path, "stable splits")
    return StableSplits(
        ids=strings(table, "item"),
        groups=strings(table, "group") if "group" in table.column_names else None,
        split=codes_of(table, "split", SPLITS).astype(np.int8),
        natural=codes_of(table, "natural_split", SPLITS).astype(np.int8),
        cause=codes_of(table, "cause", CAUSES).astype(np.int8),
    )


def _natural_splits(keys: Sequence[str], seed: int, weights: Weights) -> NDArray[np.int8]:
    total = sum(weights.values())
    bounds = np.array(list(accumulate(weight / total for weight in weights.values())))
    seeded = hashlib.sha256(f"{seed}:".encode())
    leading = np.empty(len(keys), dtype=np.uint32)
    for k, key in enumerate(keys):
        sha = seeded.copy()
        sha.update(key.encode())
        leading[k] = int.from_bytes(sha.digest()[:4], "big")
    # The running sum of the weights can end a rounding error below 1.
    first = np.minimum(np.searchsorted(bounds, leading / 0xFFFFFFFF), len(bounds) - 1)
    return np.array([SPLITS.index(name) for name in weights], dtype=np.int8)[first]
