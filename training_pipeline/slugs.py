"""A schema's name as Dagster can write it: in asset keys, op names, group names and file names."""

from __future__ import annotations

import hashlib
import re
import unicodedata

_PLAIN = re.compile(r"[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*")
_STEM_LENGTH = 24


def slug(name: str) -> str:
    """Return a name of `[A-Za-z0-9_]` for any schema name, the same for the same name always.

    A plain name stays as it is. Any other becomes a readable stem, two underscores (which no plain name holds, so the
    two sorts never meet) and eight hex digits of the SHA-256 of the name in Unicode's composed form (NFC).
    """
    name = unicodedata.normalize("NFC", name)
    if _PLAIN.fullmatch(name):
        return name
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    stem = "_".join(re.findall(r"[A-Za-z0-9]+", ascii_only))[:_STEM_LENGTH].strip("_") or "schema"
    return f"{stem}__{hashlib.sha256(name.encode()).hexdigest()[:8]}"
