"""Typed reading of a config: a key that is missing or of the wrong type is refused by its full path."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from training_pipeline.errors import ConfigError


@dataclass(frozen=True)
class Section:
    """One mapping of the config, and where it stands in it (`item_properties`, `annotation_schemes[2]`)."""

    values: Mapping[str, Any]
    path: str = ""

    def key(self, name: str) -> str:
        """Return the full path of one key."""
        return f"{self.path}.{name}" if self.path else name

    def __contains__(self, name: str) -> bool:
        return self.values.get(name) is not None

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text that is not empty; without a default the key must be there."""
        value = self.values.get(name)
        if value is None:
            if default is None:
                raise ConfigError(f"{self.key(name)} is missing; give it a text")
            return default
        if not isinstance(value, str) or not value:
            raise ConfigError(f"{self.key(name)} must be a text that is not empty, not {value!r}")
        return value

    def flag(self, name: str) -> bool:
        """Return a truth value, false where the key is left out."""
        value = self.values.get(name, False)
        if not isinstance(value, bool):
            raise ConfigError(f"{self.key(name)} must be true or false, not {value!r}")
        return value

    def number(self, name: str) -> float | None:
        """Return a finite number, or None where the key is left out."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ConfigError(f"{self.key(name)} must be a finite number, not {value!r}")
        return float(value)

    def whole_number(self, name: str, default: int | None = None) -> int:
        """Return a whole number of at least 1; without a default the key must be there."""
        value = self.values.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ConfigError(f"{self.key(name)} must be a whole number of at least 1, not {value!r}")
        return value

    def section(self, name: str) -> Section:
        """Return the mapping under a key, an empty one where the key is left out."""
        return self._section(self.values.get(name, {}), self.key(name))

    def entries(self, name: str) -> Iterator[tuple[str, Any]]:
        """Yield the full path and the value of each entry of the list under a key, none where it is left out."""
        value = self.values.get(name)
        if value is None:
            return
        if not isinstance(value, list):
            raise ConfigError(f"{self.key(name)} must be a list, not {value!r}")
        for position, entry in enumerate(value):
            yield f"{self.key(name)}[{position}]", entry

    def sections(self, name: str) -> Iterator[Section]:
        """Yield each entry of the list under a key, which must be mappings."""
        for path, entry in self.entries(name):
            yield self._section(entry, path)

    @staticmethod
    def _section(value: Any, path: str) -> Section:
        if value is None:
            return Section({}, path)
        if not isinstance(value, dict):
            raise ConfigError(f"{path} must be a mapping of keys to values, not {value!r}")
        return Section(value, path)
