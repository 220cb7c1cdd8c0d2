"""Which module may import which: what travels stays light, and nothing but the graph knows Dagster."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
HEAVY = {"torch", "transformers", "tensorflow", "sklearn", "pandas", "crowdkit", "dagster", "skops"}


@pytest.mark.slow
def test_the_contracts_hold() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([str(linter), "--no-cache"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


def imported_by(statement: str) -> set[str]:
    code = f"{statement}\nimport sys; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {module.partition(".")[0] for module in done.stdout.split()}


@pytest.mark.parametrize(
    "module", ["training_pipeline.cli", "training_pipeline.ledger.runs", "training_pipeline.publishing.writeback"]
)
def test_it_imports_nothing_heavy(module: str) -> None:
    assert not imported_by(f"import {module}") & HEAVY


@pytest.mark.parametrize("module", ["bundle.reader", "bundle.writer", "trainers.registry", "worker.spec", "worker.run"])
def test_what_travels_imports_the_standard_library_alone(module: str) -> None:
    bare = imported_by("")
    extra = imported_by(f"import training_pipeline.{module}") - bare - {"training_pipeline"}
    assert extra <= set(sys.stdlib_module_names)
