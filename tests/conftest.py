"""Fixtures that several rooms share: real training runs are slow, so they are made once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.running import Ran, review_study, train
from training_pipeline.instance import open_instance
from training_pipeline.study.config import load_study


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    """A study of 120 reviews, 90 of them labelled, trained once with the real worker. Tests must not change it."""
    config = review_study(tmp_path_factory.mktemp("trained"))
    with open_instance(load_study(config)) as instance:
        yield train(config, instance=instance)


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the tests away from whatever study and instance the person who runs them works with."""
    for name in ("DAGSTER_HOME", "TRAINING_PIPELINE_CONFIG"):
        monkeypatch.delenv(name, raising=False)
