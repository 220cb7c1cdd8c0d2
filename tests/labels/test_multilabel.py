from __future__ import annotations

import pytest

from tests.labels.votes import answers, label_of, posterior_of, reliability_of
from training_pipeline.labels.consensus import Aggregation, agree
from training_pipeline.study.answers import Value
from training_pipeline.study.kinds import Kind


def test_each_label_is_resolved_on_its_own() -> None:
    votes = [("i1", "ann", ("a", "b")), ("i1", "bea", ("b", "c")), ("i1", "cy", ("a",))]
    agreed = agree(answers(votes, Kind.MULTILABEL), "majority")
    # Nobody answered {a, b} but Ann, and yet two of three ticked each of them; one of three ticked c.
    assert label_of(agreed) == {"i1": ("a", "b")}
    assert posterior_of(agreed) == pytest.approx({"i1": 2 / 3})
    # Ann is right on a, b and c; Bea on b; Cy on a and c.
    assert reliability_of(agreed) == pytest.approx({"ann": 1.0, "bea": 1 / 3, "cy": 2 / 3})


@pytest.mark.parametrize("aggregation", ["majority", "consensus"])
def test_a_label_that_half_ticked_does_not_apply(aggregation: Aggregation) -> None:
    votes = [("i1", "ann", ("a",)), ("i1", "bea", ("b",)), ("i2", "ann", ("b",)), ("i2", "bea", ("a",))]
    assert label_of(agree(answers(votes, Kind.MULTILABEL), aggregation)) == {"i1": (), "i2": ()}


@pytest.mark.parametrize("aggregation", ["majority", "consensus"])
def test_empty_sets_are_answers(aggregation: Aggregation) -> None:
    agreed = agree(answers([("i1", "ann", ()), ("i1", "bea", ())], Kind.MULTILABEL), aggregation)
    assert label_of(agreed) == {"i1": ()}
    assert posterior_of(agreed) == {"i1": 1.0}


def test_reliability_is_the_mean_over_labels() -> None:
    # All four agree on a. Dot ticks b on every item and the others never do, so nothing tells who is right about b:
    # it keeps its share of the votes, a quarter.
    votes: list[tuple[str, str, Value]] = []
    for k in range(40):
        agreed_on: tuple[str, ...] = ("a",) if k % 2 else ()
        votes += [(f"i{k:02}", who, agreed_on) for who in ("ann", "bea", "cy")]
        votes.append((f"i{k:02}", "dot", (*agreed_on, "b")))
    agreed = agree(answers(votes, Kind.MULTILABEL), "consensus")
    assert set(label_of(agreed).values()) == {("a",), ()}
    assert posterior_of(agreed)["i00"] == pytest.approx(0.75)
    assert reliability_of(agreed) == pytest.approx({"ann": 0.875, "bea": 0.875, "cy": 0.875, "dot": 0.625})


def test_names_with_separators_stay_apart() -> None:
    votes = [("i1", "ann", ("a, b", "a|b")), ("i1", "bea", ("a, b", "a|b"))]
    assert label_of(agree(answers(votes, Kind.MULTILABEL), "consensus")) == {"i1": ("a, b", "a|b")}
