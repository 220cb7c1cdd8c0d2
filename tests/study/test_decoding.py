from __future__ import annotations

import json
from typing import Any

import pytest

from training_pipeline.study.decoding import UndecodableAnswerError, Value, decode_labels, decode_spans
from training_pipeline.study.problems import Findings
from training_pipeline.study.schemas import Schema, read_schemas


def schema_of(annotation_type: str, **keys: Any) -> Schema:
    scheme = {"annotation_type": annotation_type, "name": "s", **keys}
    (schema,) = read_schemas({"annotation_schemes": [scheme]}, Findings())
    return schema


RADIO = schema_of("radio", labels=["positive", "negative", "None", "false", "0"])
LIKERT = schema_of("likert", size=5)
SELECT = schema_of("select", labels=["camera", "false", "a, b"])
MULTISELECT = schema_of("multiselect", labels=["a|b", "a, b", "C:d", "None"])
SLIDER = schema_of("slider", min_value=-4, max_value=4)
TREE = schema_of("hierarchical_multiselect", taxonomy={"Animals": ["cat", "a, b", "a"], "Plants": ["b"]})


@pytest.mark.parametrize(
    ("schema", "stored", "answer"),
    [
        (RADIO, {"positive": "positive"}, "positive"),
        (RADIO, {"positive": True}, "positive"),
        (RADIO, {"positive": "true"}, "positive"),
        (RADIO, {"positive": True, "negative": False, "0": "", "None": None}, "positive"),
        (RADIO, {"negative": "negative", "free_response": "because"}, "negative"),
        (RADIO, {"free_response": "because"}, None),
        (RADIO, {"None": "None"}, "None"),
        (RADIO, {"false": "false"}, "false"),
        (RADIO, {"0": "0"}, "0"),
        (RADIO, {"positive": "false"}, None),
        (RADIO, {"positive": 0}, None),
        (schema_of("radio", labels=["free_response", "b"]), {"free_response": "free_response"}, "free_response"),
        (LIKERT, {"5": "5"}, "5"),
        (LIKERT, {"5": True}, "5"),
        (schema_of("likert", size=2, labels=["agree", "not"]), {"agree": "agree"}, "agree"),
        (schema_of("confidence"), {"3": "3"}, "3"),
        (SELECT, {"select-one": "camera"}, "camera"),
        (SELECT, {"select-one": "false"}, "false"),
        (SELECT, {"select-one": ""}, None),
        (SELECT, {"camera": True}, "camera"),
        (schema_of("triage"), {"decision": "accept"}, "accept"),
        (schema_of("pairwise"), {"selection": "A"}, "A"),
        (schema_of("conjoint"), {"s": "2"}, "2"),
        (MULTISELECT, {"a|b": "a|b", "C:d": "C:d", "free_response": "x"}, ("C:d", "a|b")),
        (MULTISELECT, {"a, b": True, "None": "None", "C:d": False}, ("None", "a, b")),
        (MULTISELECT, {"a, b": False}, None),
        (schema_of("multiselect", labels=["a, b"], max_choices=1), {"a, b": "a, b"}, "a, b"),
        (TREE, {"selected_labels": "cat"}, ("cat",)),
        (TREE, {"selected_labels": "b,a, b,cat"}, ("a, b", "b", "cat")),
        (TREE, {"selected_labels": "a,b"}, ("a", "b")),
        (schema_of("hierarchical_multiselect", taxonomy=["a", "b", "a,b"]), {"selected_labels": "b,a,b"}, ("a,b", "b")),
        (TREE, {"selected_labels": "cat,renamed since"}, ("cat", "renamed since")),
        (TREE, {"selected_labels": ["cat", "b"]}, ("b", "cat")),
        (TREE, {"selected_labels": ""}, None),
        (TREE, {"cat": True}, ("cat",)),
        (SLIDER, {"slider": "-1"}, -1.0),
        (SLIDER, {"slider": "0"}, 0.0),
        (SLIDER, {"slider": 0}, 0.0),
        (SLIDER, {"slider": ""}, None),
        (SLIDER, {"slider": "false"}, None),
        (SLIDER, {"3": True}, 3.0),
        (schema_of("number"), {"number": "2.5"}, 2.5),
        (schema_of("vas"), {"s": "73"}, 73.0),
        (schema_of("confidence", scale_type="slider"), {"confidence_level": "70"}, 70.0),
        (schema_of("pairwise", mode="scale"), {"scale_value": "-2"}, -2.0),
        (schema_of("text"), {"text_box": "free text"}, "free text"),
        (schema_of("text"), {"text_box": "false"}, "false"),
        (schema_of("text"), {"text_box": "0"}, "0"),
        (schema_of("text"), {"text_box": ""}, None),
        (schema_of("text", labels=["one", "two"]), {"one": "", "two": "b"}, "b"),
        (schema_of("text", labels=["one", "two"]), {"two": "b", "one": "a"}, '{"one":"a","two":"b"}'),
        (schema_of("multirate"), {"speed": "low", "clarity": "mid"}, '{"clarity":"mid","speed":"low"}'),
        (schema_of("semantic_differential"), {"cold__warm": 6}, '{"cold__warm":"6"}'),
        (schema_of("constant_sum"), {"a": "30", "b": "70"}, '{"a":"30","b":"70"}'),
        (schema_of("ranking"), {"rank_order": "a,b,c"}, '{"rank_order":"a,b,c"}'),
        (schema_of("image_annotation"), {"_data": "[]"}, "[]"),
        (schema_of("image_annotation"), {"_data": []}, "[]"),
        (schema_of("image_annotation"), {"_data": ""}, None),
        (schema_of("image_annotation"), {"_data": '[{"type": "bbox", "label": "é"}]'}, '[{"label":"é","type":"bbox"}]'),
        (schema_of("video_annotation"), {"_data": '{"segments": []}'}, '{"segments":[]}'),
        (schema_of("span"), {}, None),
    ],
)
def test_where_the_answer_stands(schema: Schema, stored: dict[str, Any], answer: Value | None) -> None:
    decoded = decode_labels(schema, stored)
    assert decoded == answer
    assert type(decoded) is type(answer)


@pytest.mark.parametrize(
    ("schema", "stored"),
    [
        (RADIO, {"positive": "positive", "negative": True}),
        (LIKERT, {"1": "1", "2": "2"}),
        (SELECT, {"select-one": True}),
        (SLIDER, {"slider": "high"}),
        (SLIDER, {"slider": "nan"}),
        (SLIDER, {"slider": "inf"}),
        (SLIDER, {"slider": True}),
        (SLIDER, {"slider": 10**400}),
        (SLIDER, {"slider": ["3"]}),
        (SLIDER, {"slider": "1", "other": "2"}),
        (TREE, {"selected_labels": '{"cat": 1}'}),
        (TREE, {"selected_labels": 3}),
        (schema_of("card_sort"), {"s": '{"group": ["a"]}'}),
        (schema_of("image_annotation"), {"_data": '[{"type": "bb'}),
        (schema_of("image_annotation"), {"_data": '[{"x": NaN}]'}),
    ],
)
def test_what_a_schema_cannot_have_collected_is_refused(schema: Schema, stored: dict[str, Any]) -> None:
    with pytest.raises(UndecodableAnswerError):
        decode_labels(schema, stored)


def span(start: Any, end: Any, name: Any, **keys: Any) -> dict[str, Any]:
    return {"schema": "s", "name": name, "title": name, "start": start, "end": end, **keys}


def test_spans_are_compared_by_place_and_name() -> None:
    first = decode_spans([span(13, 18, "bad", id="x"), span(2, 4, "good"), span(13, 18, "bad", id="y")])
    second = decode_spans([span(2, 4, "good", id="z"), span(13, 18, "bad")])
    assert first == second
    assert json.loads(first or "") == [
        {"start": 2, "end": 4, "name": "good"},
        {"start": 13, "end": 18, "name": "bad"},
    ]
    assert decode_spans([]) is None


@pytest.mark.parametrize("stored", [span("2", 4, "a"), span(2, None, "a"), span(2, 4, None), span(True, 4, "a")])
def test_a_span_without_its_place_or_name_is_refused(stored: dict[str, Any]) -> None:
    with pytest.raises(UndecodableAnswerError):
        decode_spans([stored])
