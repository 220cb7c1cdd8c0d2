"""How a wrong value is told: the same words for a trainer's params and for the rest of a study's config."""

from __future__ import annotations

import difflib
import re
import reprlib
from collections.abc import Iterable

_EXPONENT_WITHOUT_POINT = re.compile(r"[-+]?\d+[eE][-+]?\d+")
_WORDS_FOR_TRUTH = frozenset({"true", "false", "yes", "no", "on", "off"})


def shown(value: object) -> str:
    """Return a value as a message quotes it: short, whatever it is."""
    return _SHORT.repr(value)


def near_miss(name: object, known: Iterable[str]) -> str:
    """Return `Did you mean retain_runs?` for a name that is nearly one of those known, else an empty text."""
    near = difflib.get_close_matches(str(name)[:80], list(known), n=1)
    return f"Did you mean {near[0]}?" if near else ""


def number_mend(value: object) -> str:
    """Return how to write a value that should have been a number, where that can be told."""
    if not isinstance(value, str):
        return ""
    if _EXPONENT_WITHOUT_POINT.fullmatch(value.strip()):
        mantissa, exponent = value.strip().lower().split("e")
        return f"YAML takes {value} for a text; write {mantissa}.0e{exponent}."
    try:
        float(value)
    except ValueError:
        return ""
    return "Take the quotes away."


def truth_mend(value: object) -> str:
    """Return how to write a value that should have been true or false, where that can be told."""
    written = isinstance(value, str) and value.strip().lower() in _WORDS_FOR_TRUTH
    return "Take the quotes away." if written else ""


def text_mend(value: object) -> str:
    """Return how to write a value that should have been a text, where that can be told."""
    if isinstance(value, bool):
        return "Unquoted, YAML reads yes, no, on and off as true or false: put the text in quotes."
    return "Put it in quotes." if isinstance(value, int | float) else ""


_SHORT = reprlib.Repr()
_SHORT.maxlevel = 2
_SHORT.maxlist = _SHORT.maxdict = _SHORT.maxset = _SHORT.maxtuple = 4
_SHORT.maxstring = _SHORT.maxother = 60
