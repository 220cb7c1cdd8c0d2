"""A YAML file as values, and where in the file each of them stands.

Read with PyYAML's safe loader, as the annotation server reads it, so that both see the same values: in YAML 1.1 an
unquoted `no` is false and 1:30 is ninety. The composer is our own, because PyYAML's recurses, expands nothing but
keeps no count of what aliases stand for, and drops a key that is written twice without a word.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError

from training_pipeline.errors import ConfigError

if TYPE_CHECKING:
    from yaml import SafeLoader
else:
    SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast where PyYAML came with libyaml

MAX_DEPTH = 50
MAX_VALUES = 200_000
"""What a file may hold: a few seconds of reading. Aliases count as often as they are used."""

KeyPath: TypeAlias = tuple[Hashable, ...]
"""Keys of mappings and positions in lists, from the top of a file."""

Child: TypeAlias = tuple[yaml.Mark, yaml.Node]

_BARE_KEY = re.compile(r"[\w-]+")


@dataclass(frozen=True)
class Place:
    """Where something stands in a file: line and column, from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class Duplicate:
    """A key that one mapping has twice; the value at `last` is the one that counts."""

    path: KeyPath
    first: Place
    last: Place


@dataclass(frozen=True)
class Document:
    """One YAML file that holds a mapping."""

    path: Path
    values: dict[str, Any]
    duplicates: tuple[Duplicate, ...] = ()
    root: yaml.Node | None = field(default=None, repr=False, compare=False)
    _children: dict[int, dict[str, Child]] = field(default_factory=dict, repr=False, compare=False)

    def place(self, path: KeyPath) -> Place:
        """Return where a key or an entry of a list is written; of one that is not there, where its parent is."""
        node, place = self.root, Place(1, 1)
        for step in path:
            found = self._child(node, step)
            if found is None:
                break
            mark, node = found
            place = _place(mark)
        return place

    def _child(self, node: yaml.Node | None, step: Hashable) -> Child | None:
        if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and 0 <= step < len(node.value):
            child = node.value[step]
            return child.start_mark, child
        if isinstance(node, yaml.MappingNode):
            if id(node) not in self._children:
                self._children[id(node)] = _by_key(node)
            return self._children[id(node)].get(str(step))
        return None


def read_document(path: Path) -> Document:
    """Read a YAML file. ConfigError, with line and column, where it is not YAML or does not hold a mapping."""
    text = _read_text(path)
    unreadable = yaml.reader.Reader.NON_PRINTABLE.search(text)
    if unreadable:
        where = _place_after(text[: unreadable.start()])
        raise ConfigError(f"{path}, {where}: not YAML: it holds the control character {unreadable.group()!r}")
    loader = _Loader(text)
    try:
        composed = _Composer(loader)
        root = composed.document()
        values = None if root is None else loader.construct_document(root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ConfigError(f"{path}{where}: not YAML: {error.problem or error.context}") from error
    finally:
        loader.dispose()
    if not isinstance(values, dict):
        raise ConfigError(f"{path}, line 1: must hold a mapping of keys to values, not {_type_name(values)}")
    return Document(path, values, tuple(composed.duplicates), root)


def format_path(path: KeyPath) -> str:
    """Return a path as people write it: `annotation_schemes[2].labels`, `backends."gpu.lab".host`."""
    written = ""
    for step in path:
        if isinstance(step, int) and not isinstance(step, bool):
            written += f"[{step}]"
            continue
        key = step if isinstance(step, str) else str(step)
        key = key if _BARE_KEY.fullmatch(key) else _quoted(key)
        written += f".{key}" if written else key
    return written


class _Loader(SafeLoader):
    """Values that cannot be (a thirteenth month, half a surrogate pair) are errors with a mark."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 - PyYAML's signature
        try:
            value = super().construct_object(node, deep)
            if isinstance(value, str):
                value.encode()
            elif isinstance(value, int) and value.bit_length() >= 64:
                raise ConstructorError(None, None, "this number is too large", node.start_mark)
        except ValueError as error:
            reason = f"this value cannot be: {error}; put a text in quotes"
            raise ConstructorError(None, None, reason, node.start_mark) from error
        except (LookupError, AttributeError, TypeError) as error:
            # What PyYAML raises where a text does not fit the tag written before it.
            reason = "this value does not fit its tag; leave the tag out"
            raise ConstructorError(None, None, reason, node.start_mark) from error
        return value


@dataclass
class _Open:
    """A list or mapping that is being read. `size` counts its values, those behind aliases too."""

    node: yaml.CollectionNode
    anchor: str | None
    size: int = 1
    key: yaml.Node | None = None
    keys: dict[tuple[str, str], yaml.Mark] = field(default_factory=dict)


class _Composer:
    """Makes nodes of a file's events, without recursion, and refuses what could take for ever."""

    def __init__(self, loader: _Loader) -> None:
        self._loader = loader
        self._anchors: dict[str, tuple[yaml.Node, int]] = {}
        self._open: list[_Open] = []
        self._n_values = 0
        self.duplicates: list[Duplicate] = []

    def document(self) -> yaml.Node | None:
        """Return the top of the file, None where the file is empty."""
        root: yaml.Node | None = None
        for event in self._events():
            if isinstance(event, yaml.DocumentStartEvent):
                self._refuse_second(event, root)
            elif isinstance(event, yaml.NodeEvent):
                node = self._node(event)
                root = root or node
            elif isinstance(event, yaml.CollectionEndEvent):
                self._close()
        return root

    @staticmethod
    def _refuse_second(event: Any, first: yaml.Node | None) -> None:
        if first is not None:
            raise ComposerError(None, None, "a second document begins here; keep one", event.start_mark)

    def _events(self) -> Iterator[Any]:
        while self._loader.check_event():
            yield self._loader.get_event()  # type: ignore[no-untyped-call]

    def _node(self, event: Any) -> yaml.Node:
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        node = self._new_node(event)
        is_collection = isinstance(node, yaml.CollectionNode)
        if event.anchor is not None:
            # Of size 0 until it is closed: an alias to it in between would never end.
            self._anchors[event.anchor] = (node, 0 if is_collection else 1)
        self._attach(node, event.start_mark, 0 if is_collection else 1)
        if isinstance(node, yaml.CollectionNode):
            if len(self._open) == MAX_DEPTH:
                raise ComposerError(None, None, f"nested more than {MAX_DEPTH} deep", event.start_mark)
            self._open.append(_Open(node, event.anchor))
        return node

    def _new_node(self, event: Any) -> yaml.Node:
        kind = {
            yaml.ScalarEvent: yaml.ScalarNode,
            yaml.SequenceStartEvent: yaml.SequenceNode,
            yaml.MappingStartEvent: yaml.MappingNode,
        }[type(event)]
        value = getattr(event, "value", None)
        tag = event.tag
        if tag is None or tag == "!":
            tag = self._loader.resolve(kind, value, event.implicit)  # type: ignore[no-untyped-call]
        node: yaml.Node = kind(tag, [] if value is None else value, event.start_mark, event.end_mark)
        return node

    def _alias(self, event: Any) -> yaml.Node:
        if event.anchor not in self._anchors:
            raise ComposerError(None, None, f"nothing is called &{event.anchor} before this", event.start_mark)
        node, size = self._anchors[event.anchor]
        if size == 0:
            raise ComposerError(None, None, f"*{event.anchor} stands inside what it stands for", event.start_mark)
        self._attach(node, event.start_mark, size)
        return node

    def _attach(self, node: yaml.Node, mark: yaml.Mark, size: int) -> None:
        """Put a node into the list or mapping that is open; `size` is 0 of one whose own values are still to come."""
        self._n_values += 1
        if not self._open:
            return
        parent = self._open[-1]
        self._count(parent, size, mark)
        if isinstance(parent.node, yaml.SequenceNode):
            parent.node.value.append(node)
        elif parent.key is None:
            parent.key = node
            self._note_key(parent, node, mark)
        else:
            parent.node.value.append((parent.key, node))
            parent.key = None

    def _count(self, parent: _Open, size: int, mark: yaml.Mark) -> None:
        parent.size += size
        if max(parent.size, self._n_values) > MAX_VALUES:
            reason = f"the file holds more than {MAX_VALUES:,} values, counting aliases; keep items in data files"
            raise ComposerError(None, None, reason, mark)

    def _close(self) -> None:
        closed = self._open.pop()
        if closed.anchor is not None:
            self._anchors[closed.anchor] = (closed.node, closed.size)
        if self._open:
            self._count(self._open[-1], closed.size, closed.node.start_mark)

    def _note_key(self, parent: _Open, key: yaml.Node, mark: yaml.Mark) -> None:
        if not isinstance(key, yaml.ScalarNode) or key.tag == "tag:yaml.org,2002:merge":
            return
        written = (key.tag, key.value)
        if written in parent.keys:
            path = (*self._path(), key.value)
            self.duplicates.append(Duplicate(path, _place(parent.keys[written]), _place(mark)))
        parent.keys[written] = mark

    def _path(self) -> KeyPath:
        """Return the path of the mapping that is open innermost."""
        steps: list[Hashable] = []
        for outer in self._open[:-1]:
            if isinstance(outer.node, yaml.SequenceNode):
                steps.append(len(outer.node.value) - 1)
            else:
                # Attached with its key already: the pair is the last one.
                steps.append(outer.node.value[-1][0].value if outer.node.value else "")
        return tuple(steps)


def _by_key(node: yaml.MappingNode) -> dict[str, Child]:
    """Return what stands under each key: of a key written twice the last, and a mapping's own before merged ones."""
    return {_as_step(key): (key.start_mark, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)}


def _as_step(key: yaml.ScalarNode) -> str:
    if key.tag == "tag:yaml.org,2002:bool":
        return str(key.value.lower() in ("yes", "true", "on"))
    return str(key.value)


def _place(mark: yaml.Mark) -> Place:
    return Place(mark.line + 1, mark.column + 1)


def _read_text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig")
        raise ConfigError(f"{path}, {_place_after(before)}: not UTF-8: {error.reason}") from error


def _place_after(before: str) -> str:
    """Return the line and column, from 1, that follow a text."""
    return f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"


def _type_name(value: object) -> str:
    names: Mapping[type, str] = {type(None): "nothing", list: "a list", str: "a text"}
    return names.get(type(value), f"a value like {value!r}")


def _quoted(key: str) -> str:
    return '"' + key.encode("unicode_escape").decode().replace('"', '\\"') + '"'
