from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.labels.votes import DATA, read_csv
from training_pipeline.splits import CAUSES, SPLITS, Membership, StableSplits, assign, digest, load, save, stable_split

DEFAULT = {"train": 0.7, "val": 0.15, "test": 0.15}

PUBLISHED = {
    "mr-00017": ("test", "train"),
    "mr-00043": ("train", "test"),
    "mr-00127": ("train", "val"),
    "mr-00154": ("train", "train"),
    "mr-00161": ("test", "train"),
    "mr-00175": ("test", "train"),
    "mr-00244": ("train", "val"),
    "mr-00263": ("val", "train"),
    "mr-00293": ("train", "train"),
    "mr-00327": ("train", "train"),
    "1": ("test", "val"),
    "2": ("train", "train"),
    "item_1": ("train", "train"),
    "item_2": ("train", "train"),
    "a": ("train", "train"),
    "b": ("test", "test"),
    "Ünïcode-1": ("train", "train"),
    "img/0001.jpg": ("val", "train"),
    "007": ("train", "test"),
    "x" * 40: ("val", "train"),
}
"""Id to its split at seeds 0 and 7, as a Potato 2.12.1 server assigned them."""


@dataclass(frozen=True)
class Index:
    ids: list[str]
    groups: list[str] | None = None


def split_of(splits: StableSplits) -> dict[str, str]:
    return {item: SPLITS[code] for item, code in zip(splits.ids, splits.split, strict=True)}


@pytest.mark.parametrize("item", PUBLISHED)
def test_membership_is_potatos(item: str) -> None:
    assert (stable_split(item, 0, DEFAULT), stable_split(item, 7, DEFAULT)) == PUBLISHED[item]


@pytest.mark.parametrize("seed", [0, 7])
def test_recorded_studies_keep_their_membership(seed: int) -> None:
    rows = read_csv(DATA / "recorded_sentiment" / "splits.csv")
    assert len(rows) == 403
    splits = assign(Index([row["id"] for row in rows]), seed, DEFAULT)
    assert split_of(splits) == {row["id"]: row[f"seed_{seed}"] for row in rows}


def test_ten_thousand_ids_fall_as_potatos_did() -> None:
    splits = assign(Index([str(k) for k in range(10_000)]), 0, DEFAULT)
    assert Counter(split_of(splits).values()) == {"train": 7021, "val": 1491, "test": 1488}


def test_order_of_the_weights_matters_and_their_scale_does_not() -> None:
    # The fraction of "1" at seed 0 is 0.934, that of mr-00263 is 0.768 and that of mr-00017 is 0.851.
    assert [stable_split(i, 0, {"test": 0.8, "train": 0.1, "val": 0.1}) for i in ("mr-00263", "mr-00017", "1")] == [
        "test",
        "train",
        "val",
    ]
    assert stable_split("1", 0, {"train": 14, "val": 3, "test": 3}) == "test"
    assert stable_split("1", 0, {"val": 0, "test": 0, "train": 1}) == "train"


def test_a_fraction_on_the_bound_belongs_below_it() -> None:
    fraction = int(hashlib.sha256(b"0:1").hexdigest()[:8], 16) / 0xFFFFFFFF
    assert stable_split("1", 0, {"train": fraction, "val": 1 - fraction}) == "train"
    assert stable_split("1", 0, {"train": fraction - 1e-9, "val": 1 - fraction + 1e-9}) == "val"


@settings(deadline=None)
@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), unique=True, max_size=20),
    st.integers(0, 2**31),
    st.permutations(["train", "val", "test"]),
)
def test_a_thousand_more_items_move_none(ids: list[str], seed: int, order: list[str]) -> None:
    weights = {name: DEFAULT[name] for name in order}
    before = split_of(assign(Index(ids), seed, weights))
    more = [item for item in (f"more {k}" for k in range(1000)) if item not in before]
    after = split_of(assign(Index([*more[:500], *reversed(ids), *more[500:]]), seed, weights))
    assert {item: after[item] for item in ids} == before
    assert before == {item: stable_split(item, seed, weights) for item in ids}


def test_items_are_sorted_by_id() -> None:
    splits = assign(Index(["b", "a", "1"], ["gb", "ga", "g1"]), 0, DEFAULT)
    assert splits.ids == ["1", "a", "b"]
    assert splits.groups == ["g1", "ga", "gb"]


def test_corrected_and_pinned_items_go_to_train_and_nothing_else_moves() -> None:
    index = Index(["1", "2", "a", "b", "img/0001.jpg"])
    splits = assign(index, 0, DEFAULT, corrected={"1", "2", "gone"}, pinned={"1", "img/0001.jpg"})
    assert split_of(splits) == {"1": "train", "2": "train", "a": "train", "b": "test", "img/0001.jpg": "train"}
    assert splits.forced_train == {"corrected": 2, "pinned": 1}
    assert splits.n_moved == 2, "2 is in train by its own id"
    assert [CAUSES[code] for code in splits.cause] == ["corrected", "corrected", "", "", "pinned"]
    assert splits.members("test") == ["b"]
    assert [SPLITS[code] for code in splits.natural] == ["test", "train", "train", "test", "val"]


def test_a_group_stays_together_and_is_forced_together() -> None:
    index = Index(["x1", "x2", "y1", "y2"], ["1", "1", "b", "b"])
    assert split_of(assign(index, 7, DEFAULT)) == {"x1": "val", "x2": "val", "y1": "test", "y2": "test"}
    forced = assign(index, 7, DEFAULT, corrected={"x2"})
    assert split_of(forced) == {"x1": "train", "x2": "train", "y1": "test", "y2": "test"}
    assert forced.forced_train == {"corrected": 2, "pinned": 0}
    assert forced.n_moved == 2


def test_where_one_item_stands() -> None:
    splits = assign(Index(["y", "x"], ["b", "a"]), 0, DEFAULT, corrected={"x"}, pinned={"y"})
    assert splits.membership("y") == Membership("train", "test", "pinned", "b")
    assert splits.membership("y").is_moved
    assert splits.membership("x") == Membership("train", "train", "corrected", "a")
    assert not splits.membership("x").is_moved
    assert assign(Index(["b"]), 0, DEFAULT).membership("b") == Membership("test", "test", "", None)
    with pytest.raises(KeyError):
        splits.membership("a")


@pytest.mark.parametrize("groups", [None, ["g", "g", "h"]])
def test_splits_come_back_as_they_were(groups: list[str] | None, tmp_path: Path) -> None:
    saved = assign(Index(["a", "b/1", "😀"], groups), 0, DEFAULT, pinned={"b/1"})
    save(saved, tmp_path / "splits.parquet")
    loaded = load(tmp_path / "splits.parquet")
    assert (loaded.ids, loaded.groups) == (saved.ids, saved.groups)
    for field in ("split", "natural", "cause"):
        assert getattr(loaded, field).tolist() == getattr(saved, field).tolist()
    assert digest(loaded) == digest(saved)


def test_digest_changes_with_membership_and_with_nothing_else() -> None:
    base = assign(Index(["a", "b"]), 0, DEFAULT)
    assert digest(assign(Index(["b", "a"]), 0, DEFAULT, pinned={"a"})) == digest(base), "a is in train anyway"
    assert digest(assign(Index(["a", "b"]), 0, DEFAULT, pinned={"b"})) != digest(base)
    assert digest(replace(base, ids=["a", "c"])) != digest(base)


def test_an_empty_study_has_empty_splits(tmp_path: Path) -> None:
    splits = assign(Index([]), 0, DEFAULT)
    assert (len(splits), splits.n_moved, splits.members("val")) == (0, 0, [])
