"""What a text model learns from: the train split of one schema, and whether there is enough in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from training_pipeline.bundle.manifest import SchemaSpec
from training_pipeline.bundle.reader import Bundle
from training_pipeline.bundle.row import Target
from training_pipeline.trainers.errors import WorkerError


@dataclass(frozen=True)
class TrainItems:
    """The train split of one schema: texts, what they were answered, and the groups that stay together."""

    texts: list[str]
    targets: list[Target]
    groups: list[str | None]

    def __len__(self) -> int:
        return len(self.texts)


def read_train(bundle: Bundle, schema: SchemaSpec) -> TrainItems:
    """Read the train items that have a label of the schema."""
    items = TrainItems([], [], [])
    for row in bundle.rows("train"):
        target = (row.targets or {}).get(schema.name)
        if target is not None:
            items.texts.append(row.text)
            items.targets.append(target)
            items.groups.append(row.group)
    return items


def refuse_too_little(items: TrainItems, min_instances: int) -> None:
    """Raise WorkerError `validation_failed` for fewer items than `min_instances`, and for texts that are all empty."""
    if len(items) < min_instances:
        raise WorkerError(
            "validation_failed",
            f"Only {len(items)} items in the train split: sklearn-text needs at least {min_instances}.",
            "Annotate more, or lower min_instances; train holds 70 % of labelled items by default.",
        )
    if not any(text.strip() for text in items.texts):
        raise WorkerError(
            "validation_failed",
            f"All {len(items)} texts of the train split are empty.",
            "Look at item_properties.text_key: it names the field that holds the text.",
        )


def labels_to_tell_apart(schema: SchemaSpec, items: TrainItems) -> tuple[str, ...]:
    """Return the labels in the schema's order: those in train, all of a multilabel schema, none of a continuous one.

    Raises WorkerError `validation_failed` where train holds nothing to tell apart.
    """
    if schema.kind == "continuous":
        return ()
    if schema.kind == "multilabel":
        _refuse_same_ticks(schema, items)
        return schema.labels
    used = set(items.targets)
    if len(used) < 2:
        raise _too_few_labels(schema, len(used))
    return tuple(label for label in schema.labels if label in used)


def _refuse_same_ticks(schema: SchemaSpec, items: TrainItems) -> None:
    sets = {frozenset(target) for target in items.targets}  # type: ignore[arg-type]
    ticked = frozenset[Any]().union(*sets)
    if not ticked:
        raise _too_few_labels(schema, 0)
    if len(sets) < 2:
        raise WorkerError(
            "validation_failed",
            f"Schema {schema.name!r} has the same labels on every train item: {', '.join(sorted(ticked))}.",
            "A classifier needs a label that some items of the train split have and others do not.",
        )


def _too_few_labels(schema: SchemaSpec, n: int) -> WorkerError:
    return WorkerError(
        "validation_failed",
        f"Schema {schema.name!r} has {n} distinct label(s) in the data.",
        "A classifier needs two in use among the items of the train split: annotate items of another label.",
    )
