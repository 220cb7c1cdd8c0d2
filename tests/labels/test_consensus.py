from __future__ import annotations

import pytest

from tests.labels.votes import answers, label_of, posterior_of, reliability_of, rule_of
from training_pipeline.errors import PipelineError
from training_pipeline.labels.consensus import Aggregation, agree
from training_pipeline.study.answers import Value
from training_pipeline.study.kinds import Kind

VOTES: list[tuple[str, str, Value]] = [
    ("i1", "ann", "a"),
    ("i1", "bea", "a"),
    ("i1", "cy", "b"),
    ("i2", "ann", "b"),
    ("i2", "bea", "b"),
    ("i3", "cy", "a"),
]


@pytest.mark.parametrize("aggregation", ["majority", "consensus"])
def test_a_single_annotator_is_taken_at_their_word(aggregation: Aggregation) -> None:
    agreed = agree(answers([("i2", "ann", "b"), ("i1", "ann", "a")]), aggregation)
    assert label_of(agreed) == {"i1": "a", "i2": "b"}
    assert posterior_of(agreed) == {"i1": 1.0, "i2": 1.0}
    assert rule_of(agreed) == {"i1": "single", "i2": "single"}
    assert reliability_of(agreed) == {"ann": None}


@pytest.mark.parametrize("aggregation", ["majority", "consensus"])
def test_nobody_answered(aggregation: Aggregation) -> None:
    agreed = agree(answers([]), aggregation, {"i9": frozenset({"ann"})})
    assert len(agreed) == 0
    assert agreed.n_corrected_unlabelled == 1


@pytest.mark.parametrize("aggregation", ["majority", "consensus"])
def test_a_corrected_item_takes_the_reviewers_own_answer(aggregation: Aggregation) -> None:
    corrected = {"i1": frozenset({"cy"}), "i2": frozenset({"zoe"}), "gone": frozenset({"ann"})}
    agreed = agree(answers(VOTES), aggregation, corrected)
    assert label_of(agreed)["i1"] == "b"
    assert rule_of(agreed)["i1"] == "corrected"
    assert posterior_of(agreed)["i1"] == 1.0
    # Zoe did not annotate i2, so the agreed label stands.
    assert label_of(agreed)["i2"] == "b"
    assert rule_of(agreed)["i2"] != "corrected"
    assert agreed.n_corrected_unlabelled == 1
    assert reliability_of(agreed) == reliability_of(agree(answers(VOTES), aggregation))


def test_several_reviewers_are_resolved_among_themselves() -> None:
    agreed = agree(answers(VOTES), "consensus", {"i1": frozenset({"ann", "cy"})})
    assert label_of(agreed)["i1"] == "a", "a tie of a and b: a sorts first"
    numbers = [("i1", "ann", 1.0), ("i1", "bea", 9.0), ("i1", "cy", 2.0), ("i1", "dot", 2.0)]
    agreed = agree(answers(numbers, Kind.CONTINUOUS), "consensus", {"i1": frozenset({"ann", "bea"})})
    assert label_of(agreed)["i1"] == 5.0
    assert rule_of(agreed)["i1"] == "corrected"


def test_a_reviewers_set_is_taken_whole() -> None:
    votes = [("i1", "ann", ("a",)), ("i1", "bea", ("a",)), ("i1", "cy", ("b", "c"))]
    agreed = agree(answers(votes, Kind.MULTILABEL), "consensus", {"i1": frozenset({"cy"})})
    assert label_of(agreed) == {"i1": ("b", "c")}


def test_labels_hold_what_is_in_use_once_and_sorted() -> None:
    agreed = agree(answers([*VOTES, ("i1", "dot", "never chosen")]), "majority")
    assert agreed.labels == ["a", "b"]


def test_odd_label_names_are_names() -> None:
    odd = ["None", "1", "a|b", "a, b", "nan", "😀", '"']
    votes = [(f"i{k}", who, name) for k, name in enumerate(odd) for who in ("ann", "bea")]
    assert label_of(agree(answers(votes), "consensus")) == {f"i{k}": name for k, name in enumerate(odd)}


def test_a_kind_that_cannot_be_resolved_is_refused_by_name() -> None:
    with pytest.raises(PipelineError, match=r"'s' collects span answers") as refused:
        agree(answers([("i1", "ann", "[]")], Kind.SPAN), "consensus")
    assert refused.value.code == "validation_failed"
