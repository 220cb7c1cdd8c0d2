from __future__ import annotations

from typing import Any

import pytest

from training_pipeline.study.problems import Findings
from training_pipeline.study.schemas import Schema, no_such_options, read_schemas


def schema_of(annotation_type: str, **keys: Any) -> Schema:
    findings = Findings()
    scheme = {"annotation_type": annotation_type, "name": "s", **keys}
    (schema,) = read_schemas({"annotation_schemes": [scheme]}, findings)
    findings.raise_any()
    return schema


@pytest.mark.parametrize(
    ("annotation_type", "keys", "options"),
    [
        ("radio", {"labels": ["b", {"name": "a", "tooltip": "first"}, 1, 2.5]}, ("b", "a", "1", "2.5")),
        ("radio", {"labels": ["None", "1", "a|b", "a, b"]}, ("None", "1", "a|b", "a, b")),
        ("likert", {"size": 5}, ("1", "2", "3", "4", "5")),
        ("likert", {"size": 3, "labels": ["no", "so so", "yes"]}, ("no", "so so", "yes")),
        ("confidence", {"labels": ["low", "high"]}, ("1", "2", "3", "4", "5")),
        ("confidence", {"scale_points": 7}, ("1", "2", "3", "4", "5", "6", "7")),
        ("triage", {}, ("accept", "reject", "skip")),
        ("pairwise", {"labels": ["left", "right"]}, ("A", "B")),
        ("pairwise", {"allow_tie": True}, ("A", "B", "tie")),
        ("pairwise", {"mode": "multi_dimension"}, ()),
        ("slider", {"labels": ["ignored"]}, ()),
        ("multirate", {"labels": {"odd": True}}, ()),
        ("some_future_type", {"labels": 3}, ()),
        ("text", {}, ()),
    ],
)
def test_options_are_what_the_server_draws(
    annotation_type: str, keys: dict[str, Any], options: tuple[str, ...]
) -> None:
    assert schema_of(annotation_type, **keys).options == options


def test_every_node_of_a_taxonomy_is_an_option() -> None:
    taxonomy = {"Animals": ["cat", "a, b"], "Plants": {"Trees": ["oak"], "Moss": None}}
    names = schema_of("hierarchical_multiselect", taxonomy=taxonomy).options
    assert names == ("Animals", "cat", "a, b", "Plants", "Trees", "oak", "Moss")


@pytest.mark.parametrize(
    ("annotation_type", "keys", "scale"),
    [
        ("slider", {"min_value": -4, "max_value": 4}, (-4.0, 4.0)),
        ("number", {}, None),
        ("number", {"min_value": 1}, None),
        ("vas", {}, (0.0, 100.0)),
        ("vas", {"min_value": -5, "max_value": 5}, (-5.0, 5.0)),
        ("confidence", {"scale_type": "slider"}, (0.0, 100.0)),
        ("pairwise", {"mode": "scale", "scale": {"min": -2, "max": 2}}, (-2.0, 2.0)),
        ("likert", {"size": 3, "min_value": 1, "max_value": 2}, None),
    ],
)
def test_scale(annotation_type: str, keys: dict[str, Any], scale: tuple[float, float] | None) -> None:
    assert schema_of(annotation_type, **keys).scale == scale


@pytest.mark.parametrize(
    ("annotation_type", "keys", "message"),
    [
        ("radio", {"labels": [True]}, "labels[0]: Was read as the boolean True. Put the label in quotes."),
        ("radio", {"labels": ["a", "a"]}, "labels[1]: Is 'a' for the second time. Give each label a name of its own."),
        ("radio", {"labels": "a, b"}, "labels: Must be a list, not 'a, b'."),
        ("radio", {"labels": "a"}, "labels: Must be a list, not 'a'. Write ['a']."),
        (
            "radio",
            {"labels": [{"tooltip": "t"}]},
            "labels[0]: Must be a text, or a mapping with a name, not {'tooltip'",
        ),
        ("likert", {"size": "5"}, "size: Must be a whole number from 1 to 1000, not '5'. Take the quotes away."),
        ("likert", {"size": True}, "size: Must be a whole number from 1 to 1000, not True."),
        ("likert", {"size": 10**9}, "size: Must be a whole number from 1 to 1000, not 1000000000."),
        ("likert", {}, "size: Is missing. Give it a whole number from 1 to 1000."),
        ("slider", {"min_value": "low", "max_value": 4}, "min_value: Must be a finite number, not 'low'."),
        ("slider", {"min_value": float("nan")}, "min_value: Must be a finite number, not nan."),
        ("slider", {"min_value": True, "max_value": 4}, "min_value: Must be a finite number, not True."),
        (
            "slider",
            {"min_value": 4, "max_value": 4},
            "max_value: Is 4, which is not above annotation_schemes[0].min_value, 4.",
        ),
    ],
)
def test_a_key_of_the_wrong_type_is_named(annotation_type: str, keys: dict[str, Any], message: str) -> None:
    findings = Findings()
    read_schemas({"annotation_schemes": [{"annotation_type": annotation_type, "name": "s", **keys}]}, findings)
    (problem,) = findings.problems
    assert problem.in_one_line().startswith(f"annotation_schemes[0].{message}")


def test_every_problem_of_every_schema_is_noted() -> None:
    schemes = [{"annotation_type": "radio", "labels": [True, ""]}, "radio", {"name": "s", "annotation_type": 3}]
    findings = Findings()
    read_schemas({"annotation_schemes": schemes}, findings)
    assert [problem.path for problem in findings.problems] == [
        "annotation_schemes[0].name",
        "annotation_schemes[0].labels[0]",
        "annotation_schemes[0].labels[1]",
        "annotation_schemes[1]",
        "annotation_schemes[2].annotation_type",
    ]


def test_two_schemas_of_one_name_are_refused() -> None:
    scheme = {"annotation_type": "text", "name": "note"}
    findings = Findings()
    read_schemas({"annotation_schemes": [scheme, scheme]}, findings)
    (problem,) = findings.problems
    assert problem.path == "annotation_schemes[1].name"
    assert problem.message == "Is 'note', as is annotation_schemes[0].name."


@pytest.mark.parametrize("config", [{}, {"annotation_schemes": None}, {"annotation_schemes": []}])
def test_a_study_without_schemas_is_refused(config: dict[str, Any]) -> None:
    findings = Findings()
    assert read_schemas(config, findings) == ()
    assert [problem.message for problem in findings.problems] == ["Is missing or empty."]


def test_labels_that_are_no_option_are_listed_by_how_often_they_are_named() -> None:
    counts = {f"old{k}": k for k in range(1, 13)}
    said = no_such_options("tone", counts, "answers")
    assert said.startswith("The schema 'tone' has no option 'old12' (12), 'old11' (11), ")
    assert "'old3' (3) and 2 more, which answers name. Give the option its old name again" in said
