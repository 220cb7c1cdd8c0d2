"""What annotators answered, one compact table a schema.

A study can hold millions of answers, so they are kept as three columns of integers into vocabularies: memory grows by
twelve bytes an answer, however long the items' texts are.
"""

from __future__ import annotations

import gc
import hashlib
from array import array
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from training_pipeline.errors import PipelineError
from training_pipeline.study.config import Study
from training_pipeline.study.decoding import UndecodableAnswerError, Value, decode_labels, decode_spans
from training_pipeline.study.kinds import Kind
from training_pipeline.study.schemas import Schema
from training_pipeline.study.states import UnreadableStateError, UserState, read_state, state_files

__all__ = [
    "AnswerFiles",
    "Answers",
    "LeftOut",
    "Value",
    "annotated_items",
    "answer_files",
    "answered_items",
    "answers_version",
    "read_answers",
]

_FEW_VALUES = frozenset({Kind.NOMINAL, Kind.ORDINAL, Kind.MULTILABEL, Kind.CONTINUOUS})
"""Kinds whose answers repeat, so that each distinct one is decoded once."""


_Entry = TypeVar("_Entry", str, Value)


@dataclass(frozen=True)
class Answers:
    """All human answers to one schema, at most one per annotator and item.

    Row k says that `annotators[annotator[k]]` gave `values[value[k]]` to `items[item[k]]`. `items`, `annotators` and
    `values` hold each entry once and are sorted; rows are sorted by annotator, then item, so that the table does not
    depend on the order in which people worked.
    """

    schema: Schema
    items: list[str]
    annotators: list[str]
    values: list[Value]
    item: NDArray[np.int32]
    annotator: NDArray[np.int32]
    value: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.item)


@dataclass(frozen=True)
class LeftOut:
    """What was not counted as a human answer, and why.

    `unknown_items` are the (annotator, item id) of answers to items that the data does not have.
    """

    unreadable_files: tuple[tuple[Path, str], ...] = ()
    machine_annotators: tuple[str, ...] = ()
    unknown_items: tuple[tuple[str, str], ...] = ()
    n_undecodable: int = 0


@dataclass(frozen=True)
class AnswerFiles:
    """The annotators' files as they are now: whose they are, how many bytes together, and a digest of it all."""

    annotators: tuple[str, ...]
    n_bytes: int
    digest: str


def read_answers(study: Study, schema: Schema, known_ids: Container[str]) -> tuple[Answers, LeftOut]:
    """Return the human answers to a schema on the items of `known_ids`, and what was left out.

    A file that cannot be read is left out and named; PipelineError `bundle_failed` where no file at all can be read.
    """
    table = _Table(schema, known_ids)
    unreadable: list[tuple[Path, str]] = []
    machines: list[str] = []
    paths = state_files(study)
    for path in paths:
        try:
            if not _add_file([table], path, study.machine_annotators):
                machines.append(path.parent.name)
        except UnreadableStateError as error:
            unreadable.append((path, str(error)))
    if paths and len(unreadable) == len(paths):
        listed = "\n".join(f"{path}: {reason}" for path, reason in unreadable)
        raise PipelineError("bundle_failed", f"No annotator's file can be read; mend or restore them:\n{listed}")
    left_out = LeftOut(tuple(unreadable), tuple(machines), tuple(table.unknown_items), table.n_undecodable)
    return table.answers(), left_out


def annotated_items(study: Study, among: Collection[str]) -> set[str]:
    """Return those of some items that a person has answered, whichever the schema, in the files that can be read."""
    tables = [_Table(schema, among) for schema in study.schemas]
    for path in state_files(study) if among else ():
        with suppress(UnreadableStateError):
            _add_file(tables, path, study.machine_annotators)
    return {item for table in tables for item in table.answers().items}


def answered_items(study: Study, schema: Schema, path: Path) -> list[str]:
    """Return the items, whether the data has them or not, to which one annotator's file holds an answer of a person.

    UnreadableStateError where the file cannot be read.
    """
    table = _Table(schema, ())
    _add_file([table], path, study.machine_annotators)
    return [item for _, item in table.unknown_items]


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Keep the garbage collector off: a parsed file holds no cycles, and walking it costs as much as parsing it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@_collector_paused()
def _add_file(tables: Iterable[_Table], path: Path, machines: Container[str]) -> bool:
    """Add one file's answers; false for a machine's. The parsed file ends with the call, before the next is read."""
    state = read_state(path)
    annotator = path.parent.name
    if state.is_machine or annotator in machines:
        return False
    for table in tables:
        table.add(annotator, state)
    return True


def answer_files(study: Study) -> AnswerFiles:
    """Return whose answers there are, with a digest that changes exactly when an annotator or a file's content does.

    A file that cannot be opened counts as an empty one.
    """
    digest = hashlib.sha256()
    annotators: list[str] = []
    n_bytes = 0
    for path in state_files(study):
        try:
            data = path.read_bytes()
        except OSError:
            data = b""
        annotators.append(path.parent.name)
        n_bytes += len(data)
        digest.update(hashlib.sha256(path.parent.name.encode("utf-8", "surrogateescape")).digest())
        digest.update(hashlib.sha256(data).digest())
    return AnswerFiles(tuple(annotators), n_bytes, digest.hexdigest())


def answers_version(study: Study) -> str:
    """Return the digest of all annotators' files."""
    return answer_files(study).digest


class _Table:
    """Gathers answers as columns of codes, each code the place of an entry in its vocabulary."""

    def __init__(self, schema: Schema, known_ids: Container[str]) -> None:
        self.unknown_items: list[tuple[str, str]] = []
        self.n_undecodable = 0
        self._schema = schema
        self._known_ids = known_ids
        self._annotators: list[str] = []
        self._items: dict[str, int] = {}
        self._values: dict[Value, int] = {}
        self._item = array("i")
        self._annotator = array("i")
        self._value = array("i")
        self._repeating = schema.kind in _FEW_VALUES
        self._decoded: dict[tuple[tuple[str, Any], ...], Value | None] = {}

    def add(self, annotator: str, state: UserState) -> None:
        """Add what one annotator answered."""
        n_before = len(self._item)
        for item_id, labels, spans in self._stored(state):
            try:
                value = self._decode(labels, spans)
            except (UndecodableAnswerError, RecursionError):  # nested deeper than Python follows
                self.n_undecodable += 1
                continue
            if value is None:
                continue
            if item_id not in self._known_ids:
                self.unknown_items.append((annotator, item_id))
                continue
            self._item.append(self._items.setdefault(item_id, len(self._items)))
            self._value.append(self._values.setdefault(value, len(self._values)))
        n_added = len(self._item) - n_before
        if n_added:
            self._annotator.extend([len(self._annotators)] * n_added)
            self._annotators.append(annotator)

    def answers(self) -> Answers:
        """Return the rows gathered, in the order that `Answers` promises."""
        items, item = _sorted_vocabulary(list(self._items), self._item)
        values, value = _sorted_vocabulary(list(self._values), self._value)
        annotator = np.array(self._annotator, dtype=np.int32)
        rows = np.lexsort((item, annotator))
        return Answers(self._schema, items, self._annotators, values, item[rows], annotator[rows], value[rows])

    def _stored(self, state: UserState) -> Iterator[tuple[str, Any, Any]]:
        """Yield each item with its labels and spans as stored; only a span schema looks at spans."""
        if self._schema.kind is Kind.SPAN:
            for item_id in dict.fromkeys([*state.labels, *state.spans]):
                yield item_id, state.labels.get(item_id), state.spans.get(item_id)
        else:
            for item_id, labels in state.labels.items():
                yield item_id, labels, None

    def _decode(self, labels: Any, spans: Any) -> Value | None:
        if spans:
            value = decode_spans(_spans_of(spans, self._schema.name))
            if value is not None:
                return value
        named = _labels_of(labels, self._schema.name) if labels else None
        return self._decode_named(named) if named else None

    def _decode_named(self, named: Mapping[str, Any]) -> Value | None:
        """Decode, once each, the labels that can repeat: texts alone, since as keys True and 1 would be one."""
        if not self._repeating:
            return decode_labels(self._schema, named)
        for value in named.values():
            if type(value) is not str:
                return decode_labels(self._schema, named)
        key = tuple(named.items())
        if key not in self._decoded:
            self._decoded[key] = decode_labels(self._schema, named)
        return self._decoded[key]


def _labels_of(stored: Any, schema: str) -> Mapping[str, Any] | None:
    """Return the {name: value} of one schema out of an item's labels, whichever encoding they have."""
    if isinstance(stored, dict):
        named = stored.get(schema)
        if named is not None and not isinstance(named, dict):
            raise UndecodableAnswerError("the labels of a schema are no map of names to values")
        return named
    try:
        return {str(label["name"]): value for label, value in stored if label["schema"] == schema}
    except (TypeError, KeyError, ValueError) as error:
        raise UndecodableAnswerError("the labels of the item are no pairs of label and value") from error


def _spans_of(stored: Any, schema: str) -> list[Mapping[str, Any]]:
    """Return the spans of one schema out of an item's, each alone or in a pair with the text that it covers."""
    try:
        spans = [entry[0] if isinstance(entry, list) else entry for entry in stored]
        return [span for span in spans if span["schema"] == schema]
    except (TypeError, KeyError, IndexError) as error:
        raise UndecodableAnswerError("the spans of the item are no list of spans") from error


def _sorted_vocabulary(entries: list[_Entry], codes: array[int]) -> tuple[list[_Entry], NDArray[np.int32]]:
    """Return the entries sorted, and the codes as places in the sorted list."""
    order = sorted(range(len(entries)), key=entries.__getitem__)
    place = np.empty(len(entries), dtype=np.int32)
    place[order] = np.arange(len(entries), dtype=np.int32)
    return [entries[code] for code in order], place[np.array(codes, dtype=np.int32)]
