from __future__ import annotations

import numpy as np
import pytest

from tests.labels.votes import (
    DATA,
    answers,
    label_of,
    posterior_of,
    read_csv,
    read_votes,
    reliability_of,
    rule_of,
)
from training_pipeline.labels.consensus import agree


def accuracy(folder: str) -> float:
    truth = {row["item"]: row["truth"] for row in read_csv(DATA / folder / "truth.csv")}
    agreed = label_of(agree(read_votes(folder), "consensus"))
    return float(np.mean([agreed[item] == label for item, label in truth.items()]))


@pytest.mark.parametrize(
    ("study", "published"), [("D_Product", 0.940), ("D_PosSent", 0.960), ("RTE", 0.9275), ("bluebird", 0.889)]
)
def test_published_accuracy_is_reached(study: str, published: float) -> None:
    assert accuracy(f"crowd/{study}") == pytest.approx(published, abs=0.005)


def test_recorded_server_gave_the_same_labels_posteriors_and_reliabilities() -> None:
    expected = read_csv(DATA / "recorded_sentiment" / "expected.csv")
    agreed = agree(read_votes("recorded_sentiment"), "consensus")
    assert len(agreed) == 241
    assert label_of(agreed) == {row["item"]: row["consensus"] for row in expected}
    assert posterior_of(agreed) == pytest.approx(
        {row["item"]: float(row["confidence"]) for row in expected}, abs=1.5e-4
    )
    assert reliability_of(agreed) == pytest.approx({"alice": 0.9595, "bob": 0.9392, "carol": 0.9524}, abs=1e-3)


def test_one_trusted_annotator_beats_two_careless_ones() -> None:
    votes = [(f"i{k:03}", who, "yes" if k % 2 else "no") for k in range(100) for who in ("ann", "bea", "cy")]
    rng = np.random.default_rng(0)
    votes += [(f"i{k:03}", who, str(rng.choice(["yes", "no"]))) for k in range(100) for who in ("x", "y")]
    votes += [("z", "ann", "yes"), ("z", "x", "no"), ("z", "y", "no")]
    agreed = agree(answers(votes), "consensus")
    assert label_of(agreed)["z"] == "yes"
    assert label_of(agree(answers(votes), "majority"))["z"] == "no"
    reliability = reliability_of(agreed)
    assert reliability["ann"] == pytest.approx(1.0, abs=0.01)
    assert reliability["x"] == pytest.approx(0.5, abs=0.15)


def test_a_tie_that_nothing_can_break_goes_to_the_label_sorted_first() -> None:
    votes = [("i1", "ann", "pos"), ("i1", "bea", "neg"), ("i2", "ann", "neg"), ("i2", "bea", "pos")]
    agreed = agree(answers(votes), "consensus")
    assert label_of(agreed) == {"i1": "neg", "i2": "neg"}
    assert posterior_of(agreed) == pytest.approx({"i1": 0.5, "i2": 0.5})


def test_a_rounding_error_breaks_no_tie() -> None:
    # Two annotators who answer everything alike disagree on z. Every item has a mirror image, so nothing tells the
    # labels apart; in floating point pos comes out ahead by a few parts in 10^16.
    patterns = ["10", "00", "01", "00", "01", "11"]
    mirrored = [pattern.translate(str.maketrans("01", "10")) for pattern in patterns]
    votes = [
        (f"i{k:02}", annotator, "pos" if pattern[who] == "1" else "neg")
        for k, pattern in enumerate([*patterns, *mirrored])
        for annotator, who in (("ann", 0), ("bea", 1), ("cy", 0))
    ]
    agreed = agree(answers([*votes, ("z", "ann", "pos"), ("z", "cy", "neg")]), "consensus")
    assert label_of(agreed)["z"] == "neg"
    assert posterior_of(agreed)["z"] == pytest.approx(0.5)


def test_unanimous_answers_are_certain() -> None:
    agreed = agree(answers([("i1", "ann", "yes"), ("i1", "bea", "yes"), ("i2", "bea", "yes")]), "consensus")
    assert label_of(agreed) == {"i1": "yes", "i2": "yes"}
    assert posterior_of(agreed) == {"i1": 1.0, "i2": 1.0}
    assert reliability_of(agreed) == {"ann": 1.0, "bea": 1.0}
    assert set(rule_of(agreed).values()) == {"dawid-skene"}


def test_order_of_answers_does_not_matter() -> None:
    votes = [(f"i{k}", who, "ab"[(k * n) % 3 % 2]) for k in range(40) for n, who in enumerate(("x", "y", "z"), 1)]
    forward, backward = agree(answers(votes), "consensus"), agree(answers(votes[::-1]), "consensus")
    assert label_of(forward) == label_of(backward)
    assert posterior_of(forward) == pytest.approx(posterior_of(backward))
