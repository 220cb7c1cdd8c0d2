"""What travels to training machines imports nothing that stays here."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import training_pipeline

ROOT = Path(training_pipeline.__file__).parent
MAY_IMPORT = {"bundle": {"bundle"}, "trainers": {"bundle", "trainers"}, "worker": {"bundle", "trainers", "worker"}}
LIBRARIES = {"trainers": {"numpy", "scipy", "sklearn", "skops"}}


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_the_standard_library_and_the_rooms_below_it(room: str) -> None:
    for path in (ROOT / room).glob("*.py"):
        for name in imported(path):
            package, _, rest = name.partition(".")
            if package == "training_pipeline":
                assert rest.partition(".")[0] in MAY_IMPORT[room], f"{path.name} imports {name}"
            else:
                assert package in sys.stdlib_module_names | LIBRARIES.get(room, set()), f"{path.name} imports {name}"
