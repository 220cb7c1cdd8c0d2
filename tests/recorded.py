"""The recorded studies, copied for a test that may touch them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "data" / "recorded_studies"


def copy_recorded(name: str, directory: Path) -> Path:
    """Copy `sentiment`, `mixed` or `vision` into `directory` and return the copy's folder."""
    return Path(shutil.copytree(RECORDED / f"{name}_2_12_1", directory / name))


def expected(name: str) -> dict[str, Any]:
    """Return what the server that recorded the study computed for it."""
    answers: dict[str, Any] = json.loads((RECORDED / "expected" / f"{name}_2_12_1.json").read_text())
    return answers
