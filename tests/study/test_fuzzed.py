"""Any YAML at all gives a report or a refusal with its place, never another error, and in bounded time."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.studies import SENTIMENT, make_study
from training_pipeline.errors import ConfigError
from training_pipeline.study.backends import BACKEND_MODELS
from training_pipeline.study.config import check_study
from training_pipeline.study.problems import MOST, Report
from training_pipeline.study.tiling import TilingConfig
from training_pipeline.study.training import AutoRetrainConfig, TrainingConfig, WritebackConfig
from training_pipeline.trainers import registry
from training_pipeline.trainers.params import describe_params

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=8)
    | st.dates()
    | st.binary(max_size=4)
    | st.sampled_from(["train", "sentiment", "sklearn-text", "ssh", "auto", "none", "2e-5", "yes", "macro_f1 >= 1"])
)
JUNK = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SCALARS, inner, max_size=3),
    max_leaves=8,
)


def key_paths() -> Iterator[tuple[str, ...]]:
    """Yield every key there is: of the block, its sections, each type of backend, each trainer's params."""
    for name in TrainingConfig.model_fields:
        yield ("model_training", name)
    for section, model in (
        ("writeback", WritebackConfig),
        ("auto_retrain", AutoRetrainConfig),
        ("tiling", TilingConfig),
    ):
        yield from (("model_training", section, key) for key in model.model_fields)
    for backend_type, backend in BACKEND_MODELS.items():
        yield from (("model_training", "backends", f"a {backend_type}", key) for key in backend.model_fields)
    for trainer in registry.NAMES:
        for param in describe_params(registry.params_class(trainer)):
            path = ("model_training", "trainer_params", trainer, param.name)
            yield path
            yield from ((*path, nested.name) for nested in param.params)
    for key in ("annotation_task_name", "task_dir", "output_annotation_dir", "data_files", "data_directory"):
        yield (key,)
    yield from (("item_properties", "id_key"), ("pre_annotation", "enabled"), ("pre_annotation", "field"))
    yield from (("ai_support", "holdout", "fraction"), ("machine_annotators", "annotators"), ("annotation_schemes",))


KEYS = tuple(key_paths())
ONE_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def with_value(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Return the keys above a value, as a config of their own; a backend is of the type that its name says."""
    for key in reversed(path):
        value = {key: value}
        if key.startswith("a ") and "type" not in value[key]:
            value[key]["type"] = key.removeprefix("a ")
    whole: dict[str, Any] = value
    return whole


def report(directory: Path, text: str | bytes) -> Report | None:
    """Return the report on a config, None where it is refused as no YAML; anything else that is raised is a failure."""
    path = directory / "config.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    started = time.process_time()
    found, refusal = None, ""
    try:
        found = check_study(path).report
    except ConfigError as error:
        refusal = str(error)
    assert time.process_time() - started < 10
    if found is None:
        assert refusal.startswith(str(path))
        return None
    for problem in (*found.problems, *found.warnings):
        assert problem.path
        assert problem.message.endswith((".", "?"))
        assert problem.line is not None
        str(problem).encode()
    return found


@ONE_FOLDER
@given(path=st.sampled_from(KEYS), value=JUNK)
def test_junk_at_a_key(tmp_path: Path, path: tuple[str, ...], value: Any) -> None:
    make_study(tmp_path)
    config = yaml.safe_load((tmp_path / "config.yaml").read_text()) | with_value(path, value)
    report(tmp_path, yaml.safe_dump(config, allow_unicode=True))


@ONE_FOLDER
@given(block=st.dictionaries(st.sampled_from([*TrainingConfig.model_fields]) | SCALARS, JUNK, max_size=6))
def test_a_block_of_junk(tmp_path: Path, block: dict[Any, Any]) -> None:
    make_study(tmp_path)
    config = yaml.safe_load((tmp_path / "config.yaml").read_text()) | {"model_training": block}
    report(tmp_path, yaml.safe_dump(config, allow_unicode=True))


@settings(ONE_FOLDER, max_examples=30)
@given(scheme=st.dictionaries(st.sampled_from(["name", "labels", "size", "taxonomy", "min_value", "scale"]), JUNK))
@pytest.mark.parametrize("annotation_type", ["radio", "likert", "slider", "pairwise", "hierarchical_multiselect"])
def test_a_scheme_of_junk(tmp_path: Path, annotation_type: str, scheme: dict[str, Any]) -> None:
    make_study(tmp_path)
    schemes = [SENTIMENT, {**scheme, "annotation_type": annotation_type}]
    config = yaml.safe_load((tmp_path / "config.yaml").read_text()) | {"annotation_schemes": [*map(dict, schemes)]}
    report(tmp_path, yaml.safe_dump(config, allow_unicode=True))


@ONE_FOLDER
@given(text=st.text() | st.text(alphabet="ab:{}[]-&*<?!|>'\"%@`#,. \n\t019~", max_size=60) | st.binary(max_size=40))
def test_any_file(tmp_path: Path, text: str | bytes) -> None:
    report(tmp_path, text)


@ONE_FOLDER
@given(value=JUNK)
def test_junk_in_the_servers_block_beside_a_training_file(tmp_path: Path, value: Any) -> None:
    make_study(tmp_path, model_training=value)
    (tmp_path / "training.yaml").write_text("writeback: {schemas: [sentiment], min_confidence: 0.5}\n")
    report(tmp_path, (tmp_path / "config.yaml").read_text())


@pytest.mark.slow
@pytest.mark.parametrize(
    "block",
    [
        {f"unknown_key_{n}": n for n in range(50_000)},
        {"writeback": {f"unknown_key_{n}": n for n in range(50_000)}},
        {"writeback": {"schemas": [f"schema {n}" for n in range(50_000)]}},
        {"trainer_params": {f"trainer_{n}": {} for n in range(50_000)}},
        {"trainer_params": {"sklearn-text": {f"param_{n}": n for n in range(50_000)}}},
        {"backends": {f"backend_{n}": {"type": "agent", "x": 1} for n in range(10_000)}, "backend": "backend"},
    ],
    ids=["keys", "section", "schemas", "trainers", "params", "backends"],
)
def test_more_problems_than_anybody_reads_are_cut_short(tmp_path: Path, block: dict[str, Any]) -> None:
    make_study(tmp_path)
    config = yaml.safe_load((tmp_path / "config.yaml").read_text()) | {"model_training": block}
    found = report(tmp_path, json.dumps(config, indent=1))
    assert found is not None
    assert max(len(found.problems), len(found.warnings)) == MOST
    if found.problems:
        assert found.describe().startswith("The study's config has 1000 problems or more.\n\n")
