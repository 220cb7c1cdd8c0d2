from __future__ import annotations

from typing import Any

import pytest

from training_pipeline.errors import ConfigError
from training_pipeline.study.schemas import Schema, read_schemas


def schema_of(annotation_type: str, **keys: Any) -> Schema:
    (schema,) = read_schemas({"annotation_schemes": [{"annotation_type": annotation_type, "name": "s", **keys}]})
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
        ("radio", {"labels": [True]}, r"annotation_schemes\[0\]\.labels\[0\] was read as the boolean True; put"),
        ("radio", {"labels": ["a", "a"]}, r"annotation_schemes\[0\]\.labels\[1\] is 'a' for the second time"),
        ("radio", {"labels": "a, b"}, r"annotation_schemes\[0\]\.labels must be a list, not 'a, b'"),
        ("radio", {"labels": [{"tooltip": "t"}]}, r"annotation_schemes\[0\]\.labels\[0\] must be a text"),
        ("likert", {"size": "5"}, r"annotation_schemes\[0\]\.size must be a whole number of at least 1, not '5'"),
        ("likert", {"size": True}, r"annotation_schemes\[0\]\.size must be a whole number"),
        ("likert", {}, r"annotation_schemes\[0\]\.size must be a whole number of at least 1, not None"),
        ("slider", {"min_value": "low", "max_value": 4}, r"annotation_schemes\[0\]\.min_value must be a finite number"),
        ("slider", {"min_value": float("nan")}, r"annotation_schemes\[0\]\.min_value must be a finite number"),
        ("slider", {"min_value": True, "max_value": 4}, r"annotation_schemes\[0\]\.min_value must be a finite number"),
        ("slider", {"min_value": 4, "max_value": 4}, r"annotation_schemes\[0\]\.max_value is 4, which is not above"),
    ],
)
def test_a_key_of_the_wrong_type_is_named(annotation_type: str, keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        schema_of(annotation_type, **keys)


def test_two_schemas_of_one_name_are_refused() -> None:
    scheme = {"annotation_type": "text", "name": "note"}
    with pytest.raises(ConfigError, match=r"annotation_schemes\[1\]\.name is 'note', as is annotation_schemes\[0\]"):
        read_schemas({"annotation_schemes": [scheme, scheme]})


@pytest.mark.parametrize("config", [{}, {"annotation_schemes": None}, {"annotation_schemes": []}])
def test_a_study_without_schemas_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="annotation_schemes is missing or empty"):
        read_schemas(config)
