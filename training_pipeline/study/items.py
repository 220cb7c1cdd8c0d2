"""The items of a study, streamed, and the index of all their ids."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training_pipeline.errors import ConfigError
from training_pipeline.study import jsontext
from training_pipeline.study.config import Study
from training_pipeline.study.files import DataFile
from training_pipeline.study.records import bad_items, place, read_records

RUNTIME_ITEMS_NAME = "runtime_items.jsonl"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to annotate. `fields` is the whole record; `text` is empty where the record has none."""

    id: str
    text: str
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class ItemIndex:
    """All items without their texts.

    `ids` are in file order, each once. `groups[k]` is the `splits_by` value of `ids[k]`; None where the study does not
    split by a field. `supplied` holds the (item id, schema name) pairs whose pre-label came with the data.
    """

    ids: list[str]
    groups: list[str] | None
    supplied: frozenset[tuple[str, str]]
    n_empty_texts: int

    def __len__(self) -> int:
        return len(self.ids)


def iter_items(study: Study) -> Iterator[Item]:
    """Yield every item in file order, holding their ids but no item.

    PipelineError `bad_items`, with file and line, where an id is missing, empty, or stands twice in all files together.
    """
    text_key = study.text_key
    for item_id, record in _identified(study):
        yield Item(item_id, _text_of(item_id, record, text_key), record)


def read_index(study: Study) -> ItemIndex:
    """Return the index of all items, from one pass over the files; refuses what `iter_items` refuses.

    An item without the `splits_by` field is refused too: without its group it could stand on both sides of a split.
    """
    splits_by = study.training.splits_by
    ids: list[str] = []
    groups: list[str] = []
    kept: dict[str, str] = {}
    supplied = _Supplied(study)
    n_empty_texts = 0
    for item_id, record in _identified(study):
        ids.append(item_id)
        if not _text_of(item_id, record, study.text_key):
            n_empty_texts += 1
        if splits_by is not None:
            group = _group(item_id, record, splits_by)
            groups.append(kept.setdefault(group, group))
        supplied.see(item_id, record)
    return ItemIndex(ids, None if splits_by is None else groups, frozenset(supplied.pairs), n_empty_texts)


def item_files(study: Study) -> tuple[DataFile, ...]:
    """Return the files that hold the items: those of the config, and the server's own of items added while it ran."""
    added = _runtime_file(study)
    return (*study.data_files, added) if added.path.is_file() else study.data_files


def _runtime_file(study: Study) -> DataFile:
    return DataFile(study.output_dir / RUNTIME_ITEMS_NAME)


def _identified(study: Study) -> Iterator[tuple[str, dict[str, Any]]]:
    seen: set[str] = set()
    id_key = study.id_key
    for file, number, record in _records(study):
        try:
            item_id = _id(record.get(id_key))
        except RecursionError as error:
            raise bad_items(
                _place(file, number), f"{id_key!r} is nested too deep; an id is a text or a number"
            ) from error
        if not item_id:
            raise bad_items(_place(file, number), f"the item has no {id_key!r}; every item needs an id of its own")
        if item_id in seen:
            where, first = _place(file, number), _first_place(study, item_id)
            raise bad_items(where, f"the id {item_id!r:.200} stands at {first} already; give each item its own")
        seen.add(item_id)
        yield item_id, record


def _records(study: Study) -> Iterator[tuple[DataFile, int, dict[str, Any]]]:
    runtime_file = _runtime_file(study)
    for file in item_files(study):
        added = file == runtime_file
        for number, record in read_records(file.path, file.encoding):
            if type(record) is not dict:
                raise bad_items(
                    _place(file, number), f"an item must be an object of fields, not {reprlib.repr(record)}"
                )
            yield file, number, _added(study, file, number, record) if added else record


def _added(study: Study, file: DataFile, number: int, record: dict[str, Any]) -> dict[str, Any]:
    """Return the item of a record {id, data} in the server's file of items added while it ran."""
    item = record.get("data")
    if not isinstance(item, dict) or _is_missing(record.get("id")):
        raise bad_items(_place(file, number), "not a record of an item added at run time; it needs an id and data")
    return {**item, study.id_key: record["id"]}


def _place(file: DataFile, number: int) -> str:
    return place(file.path, number, file.encoding)


def _first_place(study: Study, item_id: str) -> str:
    """Return where an id stands first, by reading again: keeping every place would cost more than the rare error."""
    places = ((file, number) for file, number, record in _records(study) if _id(record.get(study.id_key)) == item_id)
    return _place(*next(places))


def _id(value: object) -> str:
    """Return an id as text, as the server makes it; empty where there is none."""
    if type(value) is str:
        return value
    return "" if _is_missing(value) else str(value)


def _text_of(item_id: str, record: Mapping[str, Any], text_key: str) -> str:
    try:
        return _text(record.get(text_key))
    except RecursionError as error:
        raise bad_items(f"item {item_id!r:.200}", f"{text_key!r} is nested too deep to be a text") from error


def _text(value: object) -> str:
    """Return the text to learn from: a list (turns, a pair) a line each, any other value spelled as JSON does."""
    if type(value) is str:
        return value
    if _is_missing(value):
        return ""
    if isinstance(value, list):
        return "\n".join(_text(part) for part in value)
    return jsontext.spelled(value) if isinstance(value, dict) else str(value)


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _group(item_id: str, record: Mapping[str, Any], splits_by: str) -> str:
    value = record.get(splits_by)
    if _is_missing(value) or value == "":
        raise bad_items(
            f"item {item_id!r:.200}",
            f"has no {splits_by!r}, the field of model_training.splits_by; fill it in, or split by another field",
        )
    try:
        return str(value)
    except RecursionError as error:
        raise bad_items(f"item {item_id!r:.200}", f"{splits_by!r} is nested too deep to be a group") from error


class _Supplied:
    """Gathers the pairs whose pre-label came with the data: in the item's own field, else in the predictions file."""

    def __init__(self, study: Study) -> None:
        self.pairs: set[tuple[str, str]] = set()
        self._field = study.prelabel_field
        self._schemas = [schema.name for schema in study.schemas]
        self._in_file = _read_predictions(study.predictions_file)

    def see(self, item_id: str, record: Mapping[str, Any]) -> None:
        """Take note of one item."""
        payloads = record.get(self._field)
        if payloads is None:
            payloads = self._in_file.get(item_id)
        if isinstance(payloads, Mapping):
            self.pairs.update((item_id, name) for name in self._schemas if payloads.get(name) is not None)


def _read_predictions(path: Path | None) -> Mapping[str, Any]:
    """Return {item id: {schema: payload}} of a predictions file, whichever of its two forms it has."""
    if path is None:
        return {}
    try:
        whole = jsontext.loads(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"pre_annotation.predictions_file: {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"pre_annotation.predictions_file: {path} is not JSON: {error}") from error
    if isinstance(whole, dict):
        return whole
    if isinstance(whole, list) and all(isinstance(entry, dict) for entry in whole):
        return dict(_listed(whole))
    raise ConfigError(f"pre_annotation.predictions_file: {path} must hold an object by item id, or a list of objects")


def _listed(entries: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    for entry in entries:
        yield _id(entry.get("id", entry.get("instance_id"))), entry.get("predictions")
