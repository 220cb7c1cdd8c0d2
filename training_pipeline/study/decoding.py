"""One annotator's stored labels on one item, decoded to the answer that they mean.

What is stored under one schema is a map of label name to value. Where the answer stands in it depends on the annotation
type: in the names that are ticked, in the value of one field, or in a packed text.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from training_pipeline.study import jsontext
from training_pipeline.study.kinds import Kind
from training_pipeline.study.schemas import Schema

Value: TypeAlias = str | float | tuple[str, ...]
"""A decoded answer: nominal, ordinal and text a string; multilabel the sorted names ticked; continuous a finite number;
everything else its canonical JSON (sorted keys, no spaces), which is `"[]"` for "looked and found nothing"."""

FREE_RESPONSE = "free_response"

_VALUE_FIELD: Mapping[str, str] = {
    "select": "select-one",
    "triage": "decision",
    "pairwise": "selection",
    "conjoint": "{schema}",
}
"""Where the value, not the name, is the answer: the label name by annotation type."""

_PACKED_FIELD: Mapping[str, str] = {"hierarchical_multiselect": "selected_labels", "card_sort": "{schema}"}
"""Where the value is several names in one text: the label name by annotation type."""


class UndecodableAnswerError(ValueError):
    """What is stored cannot be what the schema's annotators were asked for."""


def decode_labels(schema: Schema, stored: Mapping[str, Any]) -> Value | None:
    """Return the answer in {label name: value}, None where it is no answer.

    UndecodableAnswerError where it is something that this schema cannot have collected.
    """
    named = _without_free_response(schema, stored)
    if schema.kind in (Kind.NOMINAL, Kind.ORDINAL):
        return _one_name(schema, named)
    if schema.kind is Kind.MULTILABEL:
        return tuple(sorted(set(_names(schema, named)))) or None
    if schema.kind is Kind.CONTINUOUS:
        return _number(named)
    if schema.kind is Kind.TEXT:
        return _text(named)
    return _object(named)


def decode_spans(stored: Iterable[Mapping[str, Any]]) -> str | None:
    """Return the spans as canonical JSON of [{end, name, start}], sorted by place and each once; None for no spans.

    Ids are left out because the server makes them at random.
    """
    spans = {(_offset(span, "start"), _offset(span, "end"), _span_name(span)) for span in stored}
    if not spans:
        return None
    return jsontext.canonical([{"start": start, "end": end, "name": name} for start, end, name in sorted(spans)])


def _without_free_response(schema: Schema, stored: Mapping[str, Any]) -> Mapping[str, Any]:
    if FREE_RESPONSE not in stored or FREE_RESPONSE in schema.options:
        return stored
    return {name: value for name, value in stored.items() if name != FREE_RESPONSE}


def _is_false(value: object) -> bool:
    """Say whether a writer meant "not ticked": null, an empty text, false, 0 or the text false."""
    return value is None or value in ("", False, 0, "false")


def _is_true(value: object) -> bool:
    return value is True or value == "true"


def _filled(named: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields that somebody has written into. Zero and the text false are something written."""
    return {name: value for name, value in named.items() if value is not None and value is not False and value != ""}


def _one_name(schema: Schema, named: Mapping[str, Any]) -> str | None:
    names = _names(schema, named)
    if len(names) > 1:
        raise UndecodableAnswerError(f"{len(names)} answers to a single choice")
    return names[0] if names else None


def _names(schema: Schema, named: Mapping[str, Any]) -> Sequence[str]:
    """Return the names chosen. A value that repeats its name is a tick whatever the name says, `false` included."""
    packed = _PACKED_FIELD.get(schema.annotation_type, "").format(schema=schema.name)
    if packed and packed in named:
        return _unpack(named[packed], schema.options)
    field = _VALUE_FIELD.get(schema.annotation_type, "").format(schema=schema.name)
    if field and field in named:
        return _value_name(named[field], schema.options)
    return [name for name, value in named.items() if value == name or not _is_false(value)]


def _value_name(value: object, options: Sequence[str]) -> Sequence[str]:
    if isinstance(value, str) and value in options:
        return [value]
    if _is_false(value):
        return []
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise UndecodableAnswerError(f"{value!r:.60} is no name of an option")
    return [str(value)]


def _unpack(packed: object, options: Sequence[str]) -> Sequence[str]:
    """Return the names that a browser joined with commas.

    The text is read as a row of the schema's own options, longest first, so that an option with a comma in its name
    stays whole; a text that is no such row (an option has been renamed) is cut at every comma.
    """
    if isinstance(packed, list):
        return [str(name) for name in packed]
    if not isinstance(packed, str):
        raise UndecodableAnswerError("the joined names are no text")
    if packed.lstrip()[:1] in ("{", "["):
        raise UndecodableAnswerError("the answer is a structure, not joined names")
    row = _row_of_options(packed, options)
    if row is not None:
        return row
    return [name.strip() for name in packed.split(",") if name.strip()]


def _row_of_options(packed: str, options: Sequence[str]) -> Sequence[str] | None:
    by_length = sorted(options, key=len, reverse=True)
    rows: dict[int, list[str]] = {len(packed) + 1: []}
    for start in range(len(packed) - 1, -1, -1):
        for option in by_length:
            end = start + len(option)
            if packed.startswith(option, start) and packed[end : end + 1] in ("", ",") and end + 1 in rows:
                rows[start] = [option, *rows[end + 1]]
                break
    return rows.get(0)


def _number(named: Mapping[str, Any]) -> float | None:
    """Return the one number stored: a value, or a ticked name that is a number. Zero is a number here, not a no."""
    given = {name: value for name, value in _filled(named).items() if value != "false"}
    if not given:
        return None
    if len(given) > 1:
        raise UndecodableAnswerError(f"{len(given)} numbers where one was asked for")
    ((name, value),) = given.items()
    written = name if _is_true(value) else value
    try:
        number = float(written)
    except (TypeError, ValueError, OverflowError) as error:
        raise UndecodableAnswerError(f"{written!r:.60} is no number") from error
    if not math.isfinite(number):
        raise UndecodableAnswerError(f"{written!r:.60} is no finite number")
    return number


def _text(named: Mapping[str, Any]) -> str | None:
    """Return the text written; of several boxes, canonical JSON of the filled ones by name."""
    given = _filled(named)
    if len(given) > 1:
        return jsontext.canonical({name: str(value) for name, value in given.items()})
    return next((str(value) for value in given.values()), None)


def _object(named: Mapping[str, Any]) -> str | None:
    """Return an answer that is a structure as canonical JSON: the packed `_data`, or the whole map of names to values.

    Scalars are spelled as the browser spells them, so that 6 and "6" are one answer.
    """
    if "_data" in named:
        return _unpack_data(named["_data"])
    given = _filled(named)
    if not given:
        return None
    return _canonical({name: value if isinstance(value, str) else _canonical(value) for name, value in given.items()})


def _unpack_data(data: object) -> str | None:
    if data is None or data == "":
        return None
    if not isinstance(data, str | bytes):
        return _canonical(data)
    try:
        return _canonical(jsontext.loads(data))
    except ValueError as error:
        raise UndecodableAnswerError("the stored objects are not JSON") from error


def _canonical(value: object) -> str:
    try:
        return jsontext.canonical(value)
    except ValueError as error:
        raise UndecodableAnswerError("the stored objects hold a number that is not finite") from error


def _offset(span: Mapping[str, Any], key: str) -> int:
    value = span.get(key)
    if isinstance(value, bool) or not isinstance(value, int):
        raise UndecodableAnswerError(f"a span's {key} is {value!r:.60}, not a whole number")
    return value


def _span_name(span: Mapping[str, Any]) -> str:
    name = span.get("name") or span.get("label")
    if not isinstance(name, str):
        raise UndecodableAnswerError(f"a span's name is {name!r:.60}, not a text")
    return name
