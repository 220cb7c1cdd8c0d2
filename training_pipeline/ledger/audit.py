"""Proof that no score and no pre-label rests on an item that a model learned from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from training_pipeline.ledger import splits
from training_pipeline.ledger.database import Ledger


class PublishedTrainItem(NamedTuple):
    """A pre-label of `shown_run_id` on an item that is in train of `train_run_id`."""

    instance_id: str
    schema_name: str
    shown_run_id: str
    train_run_id: str


class Placement(NamedTuple):
    """Where one row of a run's training data stands."""

    instance_id: str
    split: str
    group: str | None = None


class InTwoSplits(NamedTuple):
    """An item or a group (`what`) that stands in several splits of one run."""

    what: str
    key: str
    splits: tuple[str, ...]


def published_in_train(ledger: Ledger) -> list[PublishedTrainItem]:
    """Return every pre-label shown whose item is in train of any run that the ledger keeps, by item; none is right."""
    found: list[PublishedTrainItem] = []
    with ledger.read() as connection:
        for run_id in splits.runs_with_items(connection, ledger.project):
            rows = connection.execute(
                "SELECT shown.instance_id, shown.schema_name, shown.run_id, item.run_id"
                " FROM training_predictions AS shown JOIN training_run_items AS item"
                " ON item.project = shown.project AND item.instance_id = shown.instance_id AND item.run_id = ?2"
                " WHERE shown.project = ?1 AND item.split = 'train'",
                (ledger.project, run_id),
            )
            found.extend(PublishedTrainItem(*row) for row in rows)
    return sorted(found)


def in_two_splits(placements: Iterable[Placement]) -> list[InTwoSplits]:
    """Return the items and groups of one run's training data that stand in more than one split; none is right."""
    first: dict[str, dict[str, str]] = {"item": {}, "group": {}}
    several: dict[tuple[str, str], set[str]] = {}
    for placement in placements:
        for what, key in (("item", placement.instance_id), ("group", placement.group)):
            if key is not None and first[what].setdefault(key, placement.split) != placement.split:
                several.setdefault((what, key), {first[what][key]}).add(placement.split)
    return [InTwoSplits(what, key, tuple(sorted(found))) for (what, key), found in sorted(several.items())]


def differs_from_ledger(ledger: Ledger, run_id: str, placements: Iterable[Placement]) -> list[str]:
    """Return the ids whose split in the run's training data is not the one that the ledger has for it, sorted.

    `placements` are the run's train, val and test rows; an id that only one of the two sides has is among those
    returned.
    """
    recorded = {item.instance_id: item.split for item in splits.run_items(ledger, run_id)}
    differing = {row.instance_id for row in placements if recorded.pop(row.instance_id, None) != row.split}
    return sorted(differing | recorded.keys())
