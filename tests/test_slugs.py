from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from training_pipeline.slugs import slug


def test_a_plain_name_stays_as_it_is() -> None:
    assert slug("review_sentiment2") == "review_sentiment2"


def test_other_names_keep_a_readable_stem() -> None:
    assert slug("thème / sujet").startswith("theme_sujet__")
    assert slug("感情").startswith("schema__")


def test_composed_and_decomposed_forms_are_one_name() -> None:
    assert slug("th\u00e8me") == slug("the\u0300me")


@given(st.text(min_size=1, max_size=60))
def test_every_name_becomes_a_name_that_dagster_takes(name: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_]+", slug(name))


def test_names_that_look_alike_stay_apart() -> None:
    names = ["a b", "a/b", "a:b", "a_b", "a__b", "a-b", "A b", "a b "]
    assert len({slug(name) for name in names}) == len(names)
