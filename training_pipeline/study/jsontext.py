"""JSON as other programs write it."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

_DIGITS = re.compile(r"\d{4301}")


def loads(data: bytes | str) -> Any:
    """Return the value of one JSON document; json.JSONDecodeError, or UnicodeDecodeError, where it is none.

    Python's own writer leaves NaN, Infinity and halves of surrogate pairs in files, which the fast strict parser
    refuses; they are read all the same, a lone half as `?` because no file could hold it again. What Python has no
    room for, a number of more than 4,300 digits or a value nested about a thousand deep, is refused as no JSON.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _loads_tolerantly(data if isinstance(data, str) else data.decode(json.detect_encoding(data)))


def _loads_tolerantly(text: str) -> Any:
    try:
        value = json.loads(text)
        return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError:
        raise json.JSONDecodeError("nested too deep", text, 0) from None
    except ValueError as error:
        digits = _DIGITS.search(text)
        if isinstance(error, json.JSONDecodeError) or digits is None:
            raise
        raise json.JSONDecodeError("a number of more than 4,300 digits", text, digits.start()) from None


def canonical(value: Any) -> str:
    """Return the one spelling of a JSON value: keys sorted, no spaces.

    ValueError where it holds a number that is not finite; RecursionError where it is nested too deep.
    """
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def spelled(value: Any) -> str:
    """Return a value of a data file as JSON, as `canonical` does; NaN as NaN, and a date and the like as its text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
