from __future__ import annotations

import statistics
from collections import defaultdict

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.labels.votes import answers, label_of, reliability_of, rule_of
from training_pipeline.labels.consensus import agree
from training_pipeline.study.kinds import Kind

number = st.floats(-1e6, 1e6)


@settings(deadline=None)
@given(st.dictionaries(st.tuples(st.sampled_from("ijkl"), st.sampled_from("abcde")), number, min_size=1))
def test_numbers_become_their_median(given_numbers: dict[tuple[str, str], float]) -> None:
    agreed = agree(answers([(*key, value) for key, value in given_numbers.items()], Kind.CONTINUOUS), "consensus")
    by_item = defaultdict(list)
    for (item, _), value in given_numbers.items():
        by_item[item].append(value)
    for item, median in label_of(agreed).items():
        assert isinstance(median, float)
        assert abs(median - statistics.median(by_item[item])) <= 1e-9


def test_a_median_has_no_probability_and_says_which_rule_decided() -> None:
    votes = [("i1", "ann", 1.0), ("i1", "bea", 4.0), ("i2", "ann", 1.0)]
    agreed = agree(answers(votes, Kind.CONTINUOUS), "majority")
    assert label_of(agreed) == {"i1": 2.5, "i2": 1.0}
    assert agreed.posterior is None
    assert rule_of(agreed) == {"i1": "median", "i2": "single"}
    assert reliability_of(agreed) == {"ann": None, "bea": None}
