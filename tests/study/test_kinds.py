from __future__ import annotations

from typing import Any

import pytest

from tests.recorded import RECORDED, expected
from training_pipeline.study.config import load_study
from training_pipeline.study.kinds import Kind, kind_of


@pytest.mark.parametrize("name", ["sentiment", "mixed", "vision"])
def test_kinds_equal_the_recorded_servers_own(name: str) -> None:
    study = load_study(RECORDED / f"{name}_2_12_1")
    kinds = {schema.name: schema.kind.value for schema in study.schemas}
    theirs = expected(name)["kinds"]
    if name == "mixed":
        assert theirs.pop("note") == "unsupported", "the server cannot train on the type text; we read it as text"
        assert kinds.pop("note") == "text"
    assert kinds == theirs


@pytest.mark.parametrize(
    ("scheme", "kind"),
    [
        ({"annotation_type": "radio"}, Kind.NOMINAL),
        ({"annotation_type": "confidence"}, Kind.ORDINAL),
        ({"annotation_type": "confidence", "scale_type": "slider"}, Kind.CONTINUOUS),
        ({"annotation_type": "pairwise"}, Kind.NOMINAL),
        ({"annotation_type": "pairwise", "mode": "scale"}, Kind.CONTINUOUS),
        ({"annotation_type": "pairwise", "mode": "multi_dimension"}, Kind.MATRIX),
        ({"annotation_type": "multiselect"}, Kind.MULTILABEL),
        ({"annotation_type": "multiselect", "max_choices": 1}, Kind.NOMINAL),
        ({"annotation_type": "hierarchical_multiselect", "max_selections": 1}, Kind.NOMINAL),
        ({"annotation_type": "rubric_eval"}, Kind.UNSUPPORTED),
        ({}, Kind.UNSUPPORTED),
    ],
)
def test_kind_of_a_scheme(scheme: dict[str, Any], kind: Kind) -> None:
    assert kind_of(scheme) is kind
