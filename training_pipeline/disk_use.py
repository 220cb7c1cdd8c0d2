"""How much disk the study's runs take."""

from __future__ import annotations

import os
from pathlib import Path


def bytes_below(directory: Path) -> int:
    """Return the bytes of all files below a directory, as they lie on the disk; links are not followed."""
    return sum(_of_file(Path(folder) / name) for folder, _, names in os.walk(directory) for name in names)


def in_words(n_bytes: int) -> str:
    """Return a size for people: `812 kB`, `1.4 GB`."""
    size = float(n_bytes)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def _of_file(path: Path) -> int:
    try:
        return path.lstat().st_blocks * 512
    except FileNotFoundError:
        return 0  # a run that goes has just removed it
