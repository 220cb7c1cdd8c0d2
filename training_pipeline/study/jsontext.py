"""JSON as other programs write it."""

from __future__ import annotations

import json
from typing import Any

import orjson


def loads(data: bytes | str) -> Any:
    """Return the value of one JSON document; ValueError where it is none.

    Python's own writer leaves NaN, Infinity and halves of surrogate pairs in files, which the fast strict parser
    refuses; they are read all the same, a lone half as `?` because no file could hold it again.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        value = json.loads(data)
        return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def canonical(value: Any) -> str:
    """Return the one spelling of a JSON value: keys sorted, no spaces."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
