"""The registry of trainers."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict

import pytest

from training_pipeline.trainers.errors import WorkerError
from training_pipeline.trainers.registry import TRAINERS, describe, missing_libraries, trainer


@pytest.mark.parametrize("name", TRAINERS)
def test_a_trainer_stands_under_its_own_name_and_describes_itself(name: str) -> None:
    assert trainer(name).name == name
    description = describe(name)
    assert description.kinds
    assert description.licence
    json.dumps(asdict(description), allow_nan=False)


def test_an_unknown_trainer_is_refused_with_those_there_are() -> None:
    with pytest.raises(WorkerError, match=r"no trainer 'sklearn_text'\. Did you mean sklearn-text") as refused:
        trainer("sklearn_text")
    assert refused.value.code == "unknown_trainer"


def test_missing_libraries_are_named() -> None:
    class Far(trainer("sklearn-text")):  # type: ignore[misc]
        libraries = ("json", "a_library_nobody_has")

    assert missing_libraries(Far) == ("a_library_nobody_has",)


def test_describing_imports_no_library() -> None:
    program = (
        "import sys; from training_pipeline.trainers.registry import describe_all; "
        "print([d.installed for d in describe_all() if d.available], {'numpy', 'sklearn', 'scipy'} & set(sys.modules))"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed == f"{[True] * len(TRAINERS)} set()\n"
