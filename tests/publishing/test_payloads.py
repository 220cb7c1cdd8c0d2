from __future__ import annotations

from typing import Any

import pytest

from training_pipeline.errors import PipelineError
from training_pipeline.publishing.payloads import checked, is_empty, not_showable_because, strange_labels
from training_pipeline.study.kinds import Kind
from training_pipeline.study.schemas import Schema


def schema(annotation_type: str, kind: Kind, options: tuple[str, ...] = ()) -> Schema:
    return Schema("q", annotation_type, kind, options=options)


@pytest.mark.parametrize(
    ("annotation_type", "kind", "options", "is_shown"),
    [
        ("radio", Kind.NOMINAL, ("a", "b"), True),
        ("multiselect", Kind.MULTILABEL, ("a", "b"), True),
        ("likert", Kind.ORDINAL, ("disagree", "neutral", "agree"), True),
        ("likert", Kind.ORDINAL, ("1", "2", "3"), False),
        ("text", Kind.TEXT, (), True),
        ("slider", Kind.CONTINUOUS, (), False),
        ("number", Kind.CONTINUOUS, (), False),
        ("select", Kind.NOMINAL, ("a",), False),
        ("triage", Kind.NOMINAL, ("accept",), False),
        ("pairwise", Kind.NOMINAL, ("A", "B"), False),
        ("multirate", Kind.MATRIX, (), False),
        ("confidence", Kind.ORDINAL, ("1", "2"), False),
    ],
)
def test_what_potato_2_12_1_shows(annotation_type: str, kind: Kind, options: tuple[str, ...], is_shown: bool) -> None:
    because = not_showable_because(schema(annotation_type, kind, options), allow_slider=False)
    assert (because is None) is is_shown


def test_a_slider_needs_leave_and_says_why() -> None:
    slider = schema("slider", Kind.CONTINUOUS)
    assert not_showable_because(slider, allow_slider=True) is None
    because = not_showable_because(slider, allow_slider=False)
    assert because is not None
    assert "saves a slider's pre-label" in because
    assert "allow_slider: true" in because


@pytest.mark.parametrize(
    ("annotation_type", "kind", "payload"),
    [
        ("radio", Kind.NOMINAL, {"label": "None", "confidence": 0.5}),
        ("likert", Kind.ORDINAL, {"label": "5", "confidence": None}),
        ("multiselect", Kind.MULTILABEL, [{"label": "a|b", "confidence": 0.5}]),
        ("multiselect", Kind.MULTILABEL, []),
        ("slider", Kind.CONTINUOUS, -1.5),
        ("text", Kind.TEXT, "free"),
        ("multirate", Kind.MATRIX, {"row": "mid"}),
    ],
)
def test_the_right_shape_passes(annotation_type: str, kind: Kind, payload: Any) -> None:
    assert checked(schema(annotation_type, kind), payload) == payload


@pytest.mark.parametrize(
    ("annotation_type", "kind", "payload"),
    [
        ("slider", Kind.CONTINUOUS, {"label": "2", "confidence": 0.5}),
        ("slider", Kind.CONTINUOUS, float("nan")),
        ("slider", Kind.CONTINUOUS, True),
        ("text", Kind.TEXT, {"label": "free"}),
        ("radio", Kind.NOMINAL, "a"),
        ("radio", Kind.NOMINAL, {"label": 5}),
        ("multiselect", Kind.MULTILABEL, {"label": "a"}),
        ("multiselect", Kind.MULTILABEL, ["a"]),
    ],
)
def test_a_shape_that_would_spoil_an_answer_is_refused(annotation_type: str, kind: Kind, payload: Any) -> None:
    with pytest.raises(PipelineError, match="defect of its trainer") as refused:
        checked(schema(annotation_type, kind), payload)
    assert refused.value.code == "bad_prediction"


@pytest.mark.parametrize(
    ("payload", "empty"), [("[]", True), ('""', True), ("null", True), ("0", False), ("0.0", False)]
)
def test_nothing_found_is_empty_and_zero_is_not(payload: str, empty: bool) -> None:
    assert is_empty(payload) is empty


@pytest.mark.parametrize(
    ("annotation_type", "kind", "options", "payload", "strange"),
    [
        ("radio", Kind.NOMINAL, ("a", "b"), {"label": "a", "confidence": 0.5}, ()),
        ("radio", Kind.NOMINAL, ("a", "b"), {"label": "A", "confidence": 0.5}, ("A",)),
        ("select", Kind.NOMINAL, ("a",), {"label": "old", "confidence": None}, ("old",)),
        ("likert", Kind.ORDINAL, ("low", "high"), {"label": "2", "confidence": 0.5}, ("2",)),
        ("multiselect", Kind.MULTILABEL, ("a",), [{"label": "a"}, {"label": "b"}, {"label": "c"}], ("b", "c")),
        ("multiselect", Kind.MULTILABEL, ("a",), [], ()),
        ("radio", Kind.NOMINAL, (), {"label": "anything", "confidence": 0.5}, ()),
        ("slider", Kind.CONTINUOUS, (), 1.5, ()),
        ("radio", Kind.NOMINAL, ("a",), "not the shape that we write", ()),
    ],
)
def test_labels_that_are_no_option(
    annotation_type: str, kind: Kind, options: tuple[str, ...], payload: Any, strange: tuple[str, ...]
) -> None:
    assert strange_labels(schema(annotation_type, kind, options), payload) == strange
