from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from tests.labels.votes import answers
from training_pipeline.labels.strange import strange_labels
from training_pipeline.study.answers import Value
from training_pipeline.study.kinds import Kind


@pytest.mark.parametrize(
    ("kind", "values", "options", "counted"),
    [
        (Kind.NOMINAL, ["pos", "positive", "pos", "neg"], ("positive", "neg"), {"pos": 2}),
        (Kind.ORDINAL, ["1", "2", "low"], ("low", "high"), {"1": 1, "2": 1}),
        (Kind.MULTILABEL, [("a", "b"), ("b", "c"), ()], ("a",), {"b": 2, "c": 1}),
        (Kind.NOMINAL, ["whatever"], (), {}),
        (Kind.CONTINUOUS, [1.5], (), {}),
    ],
)
def test_answers_that_name_no_option_are_counted(
    kind: Kind, values: list[Value], options: tuple[str, ...], counted: dict[str, int]
) -> None:
    given = answers([(f"i{k}", "ann", value) for k, value in enumerate(values)], kind)
    given = replace(given, schema=replace(given.schema, options=options))
    assert strange_labels(given) == Counter(counted)
