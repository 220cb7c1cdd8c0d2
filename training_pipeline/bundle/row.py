"""One item of the training data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from training_pipeline.bundle.files import json_line

Target: TypeAlias = str | float | tuple[str, ...]
"""An agreed label: a string for a choice or text, the names ticked for a multilabel schema, a finite number."""


@dataclass(frozen=True, slots=True)
class Row:
    """An item: its text and, unless it is there to be predicted only, the agreed label per schema.

    `group` is the value that keeps items in one split together, where the study has such a field.
    """

    instance_id: str
    text: str
    targets: Mapping[str, Target] | None = None
    group: str | None = None


def row_to_line(row: Row) -> bytes:
    """Return the row as a line of its split file. Raises ValueError for a target that is not finite."""
    record: dict[str, Any] = {"instance_id": row.instance_id, "text": row.text}
    if row.targets is not None:
        record["targets"] = row.targets
    if row.group is not None:
        record["group"] = row.group
    return json_line(record)


def row_from_record(record: Mapping[str, Any]) -> Row:
    """Return the row that a line of a split file holds. Raises KeyError for a line without its id or text."""
    targets = record.get("targets")
    if targets is not None:
        targets = {name: tuple(value) if isinstance(value, list) else value for name, value in targets.items()}
    return Row(record["instance_id"], record["text"], targets, record.get("group"))
