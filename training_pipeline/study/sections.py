"""Typed reading of a config: a key that is missing or of the wrong type is noted, and reading goes on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from training_pipeline.study.document import KeyPath, format_path
from training_pipeline.study.problems import Findings
from training_pipeline.trainers.wording import number_mend, shown, text_mend, truth_mend


@dataclass(frozen=True)
class Section:
    """One mapping of the config, and where it stands in it (`item_properties`, `annotation_schemes[2]`).

    What is wrong goes to `findings`; the reader gets a value that it can go on with and that nothing may be built on.
    """

    values: Mapping[Any, Any]
    findings: Findings
    path: KeyPath = ()

    def key(self, name: str) -> str:
        """Return the full path of one key, as people write it."""
        return format_path((*self.path, name))

    def add(self, name: str, message: str, hint: str = "") -> None:
        """Note a problem of one key."""
        self.findings.add((*self.path, name), message, hint)

    def __contains__(self, name: str) -> bool:
        return self.values.get(name) is not None

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text that is not empty; without a default the key must be there."""
        value = self.values.get(name)
        if value is None:
            if default is None:
                self.add(name, "Is missing.", "Give it a text.")
            return default or ""
        if not isinstance(value, str) or not value:
            self.add(name, f"Must be a text that is not empty, not {shown(value)}.", text_mend(value))
            return default or ""
        return value

    def flag(self, name: str) -> bool:
        """Return a truth value, false where the key is left out."""
        value = self.values.get(name, False)
        if not isinstance(value, bool):
            self.add(name, f"Must be true or false, not {shown(value)}.", truth_mend(value))
            return False
        return value

    def number(self, name: str) -> float | None:
        """Return a finite number, or None where the key is left out."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            self.add(name, f"Must be a finite number, not {shown(value)}.", number_mend(value))
            return None
        return float(value)

    def whole_number(self, name: str, most: int, default: int | None = None) -> int:
        """Return a whole number from 1 to `most`; without a default the key must be there."""
        value = self.values.get(name, default)
        if value is None:
            self.add(name, "Is missing.", f"Give it a whole number from 1 to {most}.")
        elif isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            self.add(name, f"Must be a whole number from 1 to {most}, not {shown(value)}.", number_mend(value))
        else:
            return value
        return 1

    def section(self, name: str) -> Section:
        """Return the mapping under a key, an empty one where the key is left out."""
        return self._section(self.values.get(name, {}), (*self.path, name))

    def entries(self, name: str) -> Iterator[tuple[KeyPath, Any]]:
        """Yield the full path and the value of each entry of the list under a key, none where it is left out."""
        value = self.values.get(name)
        if value is None:
            return
        if not isinstance(value, list):
            self.add(name, f"Must be a list, not {shown(value)}.", _list_mend(value))
            return
        for position, entry in enumerate(value):
            yield (*self.path, name, position), entry

    def sections(self, name: str) -> Iterator[Section]:
        """Yield each entry of the list under a key that is a mapping, as all must be."""
        for path, entry in self.entries(name):
            if entry is None or not isinstance(entry, dict):
                self.findings.add(path, f"Must be a mapping of keys to values, not {shown(entry)}.")
            else:
                yield Section(entry, self.findings, path)

    def _section(self, value: Any, path: KeyPath) -> Section:
        if value is not None and not isinstance(value, dict):
            self.findings.add(path, f"Must be a mapping of keys to values, not {shown(value)}.")
        return Section(value if isinstance(value, dict) else {}, self.findings, path)


def _list_mend(value: object) -> str:
    is_one = isinstance(value, str) and value and "," not in value
    return f"Write [{shown(value)}]." if is_one else ""
