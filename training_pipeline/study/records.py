"""The records of a data file, one by one, each with its place in the file."""

from __future__ import annotations

import codecs
import csv
import itertools
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from training_pipeline.errors import PipelineError
from training_pipeline.study import jsontext

Numbered: TypeAlias = tuple[int, Any]
"""A record and its number: of the line that it begins on, from 1; of the row in parquet, and of the record in a .json
array, which have no lines to count while reading."""


def read_records(path: Path, encoding: str) -> Iterator[Numbered]:
    """Yield the records of one file as plain values, in file order.

    PipelineError `bad_items`, with file and line, where the file cannot be read to its end.
    """
    try:
        yield from _READERS[path.suffix.lower()](path, encoding)
    except OSError as error:
        raise bad_items(str(path), f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        line = _undecodable_line(path, encoding)
        raise bad_items(
            f"{path}, line {line}", f"not {encoding}: {error.reason}; give the file's encoding in data_files"
        ) from error


def place(path: Path, number: int, encoding: str) -> str:
    """Return where a record stands, for people: the file, and the line or row."""
    if path.suffix.lower() == ".parquet":
        return f"{path}, row {number}"
    if path.suffix.lower() == ".json":
        text = path.read_text(encoding=_bom_aware(encoding))
        if _is_array(text):
            try:
                return f"{path}, line {_line_of_element(text, number)}"
            except RecursionError:
                return f"{path}, item {number}"
    return f"{path}, line {number}"


def bad_items(where: str, what: str) -> PipelineError:
    """Return the error about items that cannot be used."""
    return PipelineError("bad_items", f"{where}: {what}")


def _bom_aware(encoding: str) -> str:
    return "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding


def _read_json_lines(path: Path, encoding: str) -> Iterator[Numbered]:
    if codecs.lookup(encoding).name in ("utf-8", "utf-8-sig"):
        with path.open("rb") as raw:
            first = next(raw, b"").removeprefix(codecs.BOM_UTF8)
            yield from _parse_lines(path, itertools.chain((first,), raw))
    else:
        with path.open(encoding=encoding, newline="\n") as decoded:
            yield from _parse_lines(path, decoded)


def _parse_lines(path: Path, lines: Iterable[bytes | str]) -> Iterator[Numbered]:
    for number, line in enumerate(lines, start=1):
        if line.isspace() or not line:
            continue
        try:
            yield number, jsontext.loads(line)
        except json.JSONDecodeError as error:
            raise bad_items(f"{path}, line {number}", f"not JSON: {error.msg}, column {error.colno}") from error


def _read_json(path: Path, encoding: str) -> Iterator[Numbered]:
    """An array, one object, or JSON lines: whatever the file turns out to hold."""
    text = path.read_text(encoding=_bom_aware(encoding))
    try:
        whole = jsontext.loads(text)
    except json.JSONDecodeError as error:
        if _is_array(text):
            raise bad_items(f"{path}, line {error.lineno}", f"not JSON: {error.msg}, column {error.colno}") from error
        yield from _parse_lines(path, text.split("\n"))
        return
    yield from enumerate(whole if isinstance(whole, list) else [whole], start=1)


def _is_array(text: str) -> bool:
    return text.lstrip()[:1] == "["


def _line_of_element(text: str, number: int) -> int:
    """Return the line on which the numbered element of a JSON array begins."""
    decoder = json.JSONDecoder()
    start = _next_element(text, text.index("[") + 1)
    for _ in range(number - 1):
        _, end = decoder.raw_decode(text, start)
        start = _next_element(text, end)
    return text.count("\n", 0, start) + 1


def _next_element(text: str, position: int) -> int:
    while text[position] in ", \t\r\n":
        position += 1
    return position


def _read_csv(path: Path, encoding: str) -> Iterator[Numbered]:
    yield from _read_cells(path, encoding, ",")


def _read_tsv(path: Path, encoding: str) -> Iterator[Numbered]:
    yield from _read_cells(path, encoding, "\t")


def _read_cells(path: Path, encoding: str, delimiter: str) -> Iterator[Numbered]:
    """Rows under the names of the first; every cell the text that stands there, a missing one empty."""
    csv.field_size_limit(sys.maxsize)
    with path.open(encoding=_bom_aware(encoding), newline="") as file:
        rows = csv.reader(file, delimiter=delimiter)
        line = 0
        try:
            header = next(rows, [])
            line = rows.line_num
            if len(set(header)) < len(header):
                twice = next(name for name in header if header.count(name) > 1)
                raise bad_items(f"{path}, line 1", f"two columns are named {twice!r}")
            for cells in rows:
                if len(cells) > len(header):
                    raise bad_items(
                        f"{path}, line {line + 1}",
                        f"{len(cells)} cells under {len(header)} names; is a quote or a {delimiter!r} out of place?",
                    )
                if cells:
                    yield line + 1, dict(itertools.zip_longest(header, cells, fillvalue=""))
                line = rows.line_num
        except csv.Error as error:
            raise bad_items(f"{path}, line {line + 1}", f"cannot be read as cells: {error}") from error


def _read_parquet(path: Path, encoding: str) -> Iterator[Numbered]:  # noqa: ARG001 (parquet says its own encoding)
    import pyarrow as pa  # noqa: PLC0415  a tenth of a second, which every command would wait for
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with pq.ParquetFile(path) as file:
            rows = (row for batch in file.iter_batches() for row in batch.to_pylist())
            yield from enumerate(rows, start=1)
    except pa.ArrowException as error:
        raise bad_items(str(path), f"not parquet: {error}") from error
    except (ValueError, OverflowError) as error:
        raise bad_items(str(path), f"holds a value that cannot be read: {error}") from error


def _undecodable_line(path: Path, encoding: str) -> int:
    """Return the first line whose bytes are not of that encoding. Decoded from the start, for states and marks."""
    decoder = codecs.getincrementaldecoder(encoding)()
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                decoder.decode(line)
            except UnicodeDecodeError:
                return number
    return number


_READERS = {
    ".json": _read_json,
    ".jsonl": _read_json_lines,
    ".csv": _read_csv,
    ".tsv": _read_tsv,
    ".parquet": _read_parquet,
}
