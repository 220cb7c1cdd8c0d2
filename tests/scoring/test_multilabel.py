from __future__ import annotations

from itertools import compress, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_recall_fscore_support

from tests.scoring.rows import schema, score_val
from training_pipeline.scoring.multilabel import evaluate
from training_pipeline.study.kinds import Kind

LABELS = ["a", "b", "c", "d"]
label_set = st.lists(st.sampled_from(LABELS), unique=True).map(lambda names: tuple(sorted(names)))


def indicator(sets: list[tuple[str, ...]]) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.array([[int(name in names) for name in LABELS] for names in sets])


@settings(deadline=None)
@given(st.lists(st.tuples(label_set, label_set), min_size=1, max_size=30))
def test_equals_scikit_learn(pairs: list[tuple[tuple[str, ...], tuple[str, ...]]]) -> None:
    truths, predictions = [truth for truth, _ in pairs], [prediction for _, prediction in pairs]
    t, p = indicator(truths), indicator(predictions)
    found = evaluate(truths, predictions, LABELS)
    assert found.metrics["exact_match"] == pytest.approx(accuracy_score(t, p), abs=1e-12)
    assert ("micro_f1" in found.metrics) == bool(t.any() or p.any())
    assert ("macro_f1" in found.metrics) == bool(t.any())
    if "micro_f1" in found.metrics:
        expected = f1_score(t, p, average="micro", zero_division=0)
        assert found.metrics["micro_f1"] == pytest.approx(expected, abs=1e-12)
    used = np.flatnonzero(t.any(axis=0))
    if len(used):
        precision, recall, f1, support = precision_recall_fscore_support(t, p, labels=used, zero_division=0)
        assert found.metrics["macro_f1"] == pytest.approx(np.mean(f1), abs=1e-12)
        assert [score.label for score in found.classes] == [LABELS[k] for k in used]
        assert [score.precision or 0 for score in found.classes] == pytest.approx(precision, abs=1e-12)
        assert [score.recall for score in found.classes] == pytest.approx(recall, abs=1e-12)
        assert [score.f1 for score in found.classes] == pytest.approx(f1, abs=1e-12)
        assert [score.support for score in found.classes] == support.tolist()


def test_a_missing_prediction_counts_as_the_labels_that_the_truth_has_not() -> None:
    truths = [("a",), ("a", "b"), (), ("a", "b", "c", "d"), ("d",)]
    wrong = [("b", "c", "d"), ("c", "d"), ("a", "b", "c", "d"), (), ("d",)]
    left_out = [None, None, None, None, ("d",)]
    assert evaluate(truths, left_out, LABELS).metrics == evaluate(truths, wrong, LABELS).metrics


def test_a_missing_prediction_is_no_exact_match_where_no_label_is_right() -> None:
    assert evaluate([(), ()], [None, ()], []).metrics == {"exact_match": 0.5}
    with_labels = evaluate([(), ("a",)], [None, ("a",)], ["a"]).metrics
    assert with_labels == {"exact_match": 0.5, "macro_f1": pytest.approx(2 / 3), "micro_f1": pytest.approx(2 / 3)}


@pytest.mark.parametrize("seed", range(40))
def test_leaving_items_out_never_raises_a_score_whichever_they_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_items, n_labels = rng.integers(1, 6), rng.integers(1, 5)
    sets = [tuple(compress(LABELS[:n_labels], row)) for row in rng.random((2 * n_items, n_labels)) < rng.random()]
    truths, predictions = sets[:n_items], sets[n_items:]
    whole = evaluate(truths, predictions, LABELS[:n_labels]).metrics
    for kept in product([True, False], repeat=int(n_items)):
        left = [prediction if stays else None for prediction, stays in zip(predictions, kept, strict=True)]
        partial = evaluate(truths, left, LABELS[:n_labels]).metrics
        assert all(partial[name] <= whole[name] + 1e-12 for name in whole), (truths, left)


def test_sets_without_any_label_are_not_scored_and_say_so() -> None:
    scores = score_val(schema(Kind.MULTILABEL, LABELS), [(), ()], [(), ()])
    assert scores.metrics == {"val_exact_match": 1.0, "val_coverage": 1.0, "val_support": 2}
    assert set(scores.not_scored) == {"val_micro_f1", "val_macro_f1"}
    assert scores.headline is None
    assert scores.not_scored_because == scores.not_scored["val_micro_f1"]


def test_headline_is_micro_f1() -> None:
    scores = score_val(schema(Kind.MULTILABEL, LABELS), [("a",), ("a", "b")], [("a",), ("a",)])
    assert scores.headline is not None
    assert scores.headline.name == "val_micro_f1"
    assert scores.headline.value == pytest.approx(0.8)
