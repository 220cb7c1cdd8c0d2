"""sklearn-text: what it learns, how sure it says it is, what it refuses."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from tests.trainers.making import (
    FILLER,
    MOOD,
    WORDS,
    Silent,
    answered,
    as_dict,
    fit,
    job,
    make_bundle,
    moods,
    payloads,
    text_about,
)
from training_pipeline.bundle.manifest import SchemaSpec
from training_pipeline.bundle.row import Row, Target
from training_pipeline.trainers.errors import WorkerError
from training_pipeline.trainers.sklearn_text import SklearnText

STARS = SchemaSpec("stars", "likert", "ordinal", ("1", "2", "3", "4", "5"))
TOPICS = SchemaSpec("topics", "multiselect", "multilabel", ("price", "taste", "never", "always"))
HEAT = SchemaSpec("heat", "slider", "continuous", (), (0.0, 10.0))
SVC = "sklearn.svm.LinearSVC"


def confidences(fitted: Any, texts: list[str]) -> list[float | None]:
    return [p.confidence for p in fitted.predict(Row(str(k), text) for k, text in enumerate(texts))]


def topics(n: int) -> Iterator[tuple[str, Target]]:
    rng = random.Random(4)
    for _ in range(n):
        ticked = {"always"} | {name for name in ("price", "taste") if rng.random() < 0.5}
        words = [{"price": "costs", "taste": "flavour", "always": "the"}[name] for name in sorted(ticked)]
        yield " ".join([*words, rng.choice(FILLER)]), tuple(sorted(ticked))


class TestKinds:
    def test_nominal_answers_are_labels_of_the_schema(self, tmp_path: Path) -> None:
        fitted = fit(tmp_path, moods(90, labels=("good", "fine", "bad")))
        assert payloads(fitted, ["great lovely", "awful stale", "usual plain"]) == ["good", "bad", "fine"]
        assert fitted.facts.label_order == ("good", "fine", "bad")

    def test_predictions_are_those_of_scikit_learn_used_by_hand(self, tmp_path: Path) -> None:
        rows = [row for _, row in moods(60)]
        fitted = fit(
            tmp_path,
            moods(60),
            calibrate=False,
            classifier_kwargs={"solver": "lbfgs", "tol": 1e-6},
            vectorizer_kwargs={"dtype": None, "ngram_range": [1, 1], "sublinear_tf": False} | {"dtype": "float64"},
        )
        vectorizer = TfidfVectorizer()
        features = vectorizer.fit_transform([row.text for row in rows])
        truths = [as_dict(row.targets)["mood"] for row in rows]
        model = LogisticRegression(C=10, tol=1e-6, max_iter=1000).fit(features, truths)
        texts = [row.text for _, row in moods(40, "val")]
        expected = model.predict_proba(vectorizer.transform(texts))
        assert payloads(fitted, texts) == model.classes_[expected.argmax(axis=1)].tolist()
        np.testing.assert_allclose(np.array(confidences(fitted, texts)), expected.max(axis=1), atol=1e-6)

    def test_ordinal_answers_are_the_options_own_names(self, tmp_path: Path) -> None:
        rng = random.Random(0)
        words = {"1": "bad", "3": "fine", "5": "good"}
        rows = answered(STARS, [(text_about(words[s], rng), s) for s in ("1", "3", "5") * 20])
        fitted = fit(tmp_path, rows, STARS)
        assert payloads(fitted, ["great lovely crisp", "rude stale awful"]) == ["5", "1"]
        assert fitted.facts.label_order == ("1", "3", "5")

    def test_multilabel_decides_each_label_on_its_own(self, tmp_path: Path) -> None:
        fitted = fit(tmp_path, answered(TOPICS, topics(80)), TOPICS)
        assert payloads(fitted, ["costs flavour", "costs", "flavour"]) == [
            ("price", "taste", "always"),
            ("price", "always"),
            ("taste", "always"),
        ]

    def test_a_constant_label_is_as_sure_as_the_rule_of_succession(self, tmp_path: Path) -> None:
        fitted = fit(tmp_path, answered(TOPICS, topics(30)), TOPICS)
        (prediction,) = fitted.predict([Row("x", "costs flavour")])
        assert as_dict(prediction.label_confidences)["always"] == pytest.approx(31 / 32)

    def test_multilabel_confidence_is_that_of_the_least_sure_decision(self, tmp_path: Path) -> None:
        fitted = fit(tmp_path, answered(TOPICS, topics(80)), TOPICS)
        ticked, unticked = fitted.predict([Row("x", "costs flavour"), Row("y", "costs")])
        each = as_dict(ticked.label_confidences)
        assert list(each) == ["price", "taste", "always"]
        assert ticked.confidence == min(each.values())
        assert unticked.confidence is not None
        assert 0.5 <= unticked.confidence <= min(as_dict(unticked.label_confidences).values())

    def test_continuous_answers_are_numbers_within_the_scale(self, tmp_path: Path) -> None:
        rng = random.Random(0)
        values = [rng.choice((0.0, 10.0)) for _ in range(60)]
        rows = answered(HEAT, [(text_about("bad" if v > 5 else "good", rng, clarity=0.9), v) for v in values])
        fitted = fit(tmp_path, rows, HEAT, classifier_kwargs={"alpha": 1e-6})
        high, low = payloads(fitted, [" ".join(WORDS["bad"] * 3), " ".join(WORDS["good"] * 3)])
        assert isinstance(high, float)
        assert 0.0 <= low < 3
        assert 7 < high <= 10.0
        assert confidences(fitted, ["stale"]) == [None]
        assert fitted.facts.calibration["reason"] == "a number has no confidence"


class TestTexts:
    @pytest.mark.parametrize("text", ["", "NaN", "None", "อร่อยมาก", "😀😀", "cut \ud83d", "\x00", "a" * 100_000])
    def test_any_text_is_answered(self, tmp_path: Path, text: str) -> None:
        rows = [*moods(40), ("train", Row("odd", text, {"mood": "good"}))]
        assert payloads(fit(tmp_path, rows), [text])[0] in ("good", "bad")

    @pytest.mark.parametrize("label", ["None", "1", "a|b", "a, b", "ไทย", "😀", "x" * 300])
    def test_any_label_comes_back_as_it_is_written(self, tmp_path: Path, label: str) -> None:
        rng = random.Random(0)
        rows = answered(MOOD, [(text_about(m, rng), label if m == "good" else m) for m in ("good", "bad") * 20])
        assert payloads(fit(tmp_path, rows), ["great lovely crisp"]) == [label]


class TestRefusals:
    @pytest.mark.parametrize(
        ("n", "params", "says"),
        [
            (9, {}, "Only 9 items in the train split: sklearn-text needs at least 10."),
            (24, {"min_instances": 25}, "Only 24 items in the train split: sklearn-text needs at least 25."),
        ],
    )
    def test_too_few_items(self, tmp_path: Path, n: int, params: dict[str, Any], says: str) -> None:
        with pytest.raises(WorkerError) as refused:
            fit(tmp_path, moods(n), **params)
        mend = "Annotate more, or lower min_instances; train holds 70 % of labelled items by default."
        assert (refused.value.code, str(refused.value)) == ("validation_failed", f"{says} {mend}")

    def test_one_label(self, tmp_path: Path) -> None:
        with pytest.raises(WorkerError, match=r"^Schema 'mood' has 1 distinct label\(s\) in the data\. .* two in use"):
            fit(tmp_path, moods(20, labels=["good"]))

    def test_no_tick_at_all(self, tmp_path: Path) -> None:
        with pytest.raises(WorkerError, match=r"Schema 'topics' has 0 distinct label\(s\) in the data"):
            fit(tmp_path, answered(TOPICS, [("text", ())] * 20), TOPICS)

    def test_the_same_ticks_everywhere(self, tmp_path: Path) -> None:
        with pytest.raises(WorkerError, match="has the same labels on every train item: price, taste"):
            fit(tmp_path, answered(TOPICS, [("text", ("taste", "price"))] * 20), TOPICS)

    def test_texts_that_are_all_empty(self, tmp_path: Path) -> None:
        rows = answered(MOOD, [(" \n", mood) for mood in ("good", "bad") * 10])
        with pytest.raises(WorkerError, match="All 20 texts of the train split are empty") as refused:
            fit(tmp_path, rows)
        assert "text_key" in refused.value.hint

    def test_texts_without_a_word(self, tmp_path: Path) -> None:
        rows = answered(MOOD, [("! ?", mood) for mood in ("good", "bad") * 10])
        with pytest.raises(WorkerError, match="TfidfVectorizer could not read the texts: empty vocabulary"):
            fit(tmp_path, rows)

    def test_an_unknown_path_never_falls_back(self, tmp_path: Path) -> None:
        with pytest.raises(WorkerError, match=r"There is no sklearn\.svm\.LinearSVM"):
            fit(tmp_path, moods(20), classifier="sklearn.svm.LinearSVM")

    def test_a_value_the_library_refuses_is_told_in_its_words(self, tmp_path: Path) -> None:
        with pytest.raises(WorkerError, match=r"LogisticRegression could not be fitted: .*'C' parameter") as refused:
            fit(tmp_path, moods(20), classifier_kwargs={"C": -1})
        assert refused.value.code == "fit_failed"


class TestConfidence:
    def test_calibration_makes_confidences_truer_and_changes_no_answer(self, tmp_path: Path) -> None:
        train, texts = moods(600), [row.text for _, row in moods(2_000, "val")]
        truths = [as_dict(row.targets)["mood"] for _, row in moods(2_000, "val")]
        plain = fit(tmp_path / "plain", train, calibrate=False, classifier_kwargs={"C": 0.01})
        scaled = fit(tmp_path / "scaled", train, classifier_kwargs={"C": 0.01})
        assert payloads(scaled, texts) == payloads(plain, texts)
        assert scaled.facts.calibration["applied"] is True
        assert scaled.facts.calibration["n"] == 600

        def off_by(fitted: Any) -> float:
            right = np.mean([a == b for a, b in zip(payloads(fitted, texts), truths, strict=True)])
            return abs(float(np.mean(np.array(confidences(fitted, texts))) - right))

        assert off_by(plain) > 0.2
        assert off_by(scaled) < 0.05

    @pytest.mark.parametrize(
        ("n", "params", "reason"),
        [
            (49, {}, "fewer than 50 items in the train split"),
            (60, {"calibrate": False}, "calibrate is false"),
            (60, {"classifier": "sklearn.neighbors.NearestCentroid"}, None),
            (60, {"classifier": "sklearn.linear_model.RidgeClassifier"}, None),
        ],
    )
    def test_calibration_says_why_it_was_not_applied(
        self, tmp_path: Path, n: int, params: dict[str, Any], reason: str | None
    ) -> None:
        calibration = fit(tmp_path, moods(n), **params).facts.calibration
        assert isinstance(calibration["reason"], str)
        if reason is not None:
            assert calibration["reason"] == reason
            assert (calibration["applied"], calibration["temperature"]) == (False, 1.0)
            assert calibration["log_loss_before"] is None

    def test_one_group_is_a_reason(self, tmp_path: Path) -> None:
        rows = [(split, replace(row, group="one review")) for split, row in moods(60)]
        calibration = fit(tmp_path, rows).facts.calibration
        assert calibration["reason"] == "no item can be left out: all share one group"

    def test_margins_are_confidences_only_once_they_were_judged(self, tmp_path: Path) -> None:
        judged = confidences(fit(tmp_path / "a", moods(80), classifier=SVC), ["great", "stale"])
        assert all(c is not None and 0.5 <= c <= 1 for c in judged)
        assert confidences(fit(tmp_path / "b", moods(80), classifier=SVC, calibrate=False), ["great"]) == [None]
        assert confidences(fit(tmp_path / "c", moods(40), classifier=SVC), ["great"]) == [None]

    def test_margins_of_several_labels(self, tmp_path: Path) -> None:
        fitted = fit(tmp_path, moods(90, labels=("good", "fine", "bad")), classifier=SVC)
        (sure,) = confidences(fitted, ["great lovely crisp"])
        assert sure is not None
        assert 1 / 3 < sure <= 1
        assert payloads(fitted, ["usual plain okay"]) == ["fine"]

    @pytest.mark.parametrize("schema_rows", ["moods", "topics"])
    def test_a_classifier_that_says_nothing_of_its_sureness_has_no_confidence(
        self, tmp_path: Path, schema_rows: str
    ) -> None:
        schema, rows = (MOOD, moods(60)) if schema_rows == "moods" else (TOPICS, answered(TOPICS, topics(60)))
        fitted = fit(
            tmp_path,
            rows,
            schema,
            classifier="sklearn.svm.SVC",
            classifier_kwargs={"kernel": "linear", "decision_function_shape": "ovo"},
            calibrate=False,
        )
        (prediction,) = fitted.predict([Row("x", "great costs")])
        assert (prediction.confidence, prediction.label_confidences) == (None, None)

    @pytest.mark.parametrize("labels", ["abc", "abcd"])
    def test_one_margin_a_pair_of_labels_is_no_confidence(self, tmp_path: Path, labels: str) -> None:
        schema = SchemaSpec("mood", "radio", "nominal", tuple(labels))
        rows = answered(schema, [(f"word{c} {FILLER[k % 7]}", c) for k, c in enumerate(labels * 25)])
        fitted = fit(
            tmp_path,
            rows,
            schema,
            classifier="sklearn.svm.SVC",
            classifier_kwargs={"kernel": "linear", "decision_function_shape": "ovo"},
        )
        assert payloads(fitted, [f"word{c}" for c in labels]) == list(labels)
        assert confidences(fitted, ["wordc"]) == [None]
        assert "neither probabilities nor a margin per label" in str(fitted.facts.calibration["reason"])

    def test_a_rare_label_does_not_stop_calibration(self, tmp_path: Path) -> None:
        rows = [*moods(80), ("train", Row("rare", "usual plain", {"mood": "fine"}))]
        fitted = fit(tmp_path, rows)
        assert fitted.facts.calibration["n"] == 80
        assert fitted.facts.label_order == ("good", "fine", "bad")


class TestRuns:
    @pytest.mark.parametrize("classifier", [None, "sklearn.ensemble.RandomForestClassifier", SVC])
    def test_the_same_data_and_seed_give_the_same_predictions(self, tmp_path: Path, classifier: str | None) -> None:
        bundle = make_bundle(tmp_path / "bundle", moods(120))
        texts = [row.text for _, row in moods(50, "val")]
        one, two = (SklearnText.fit(job(bundle, classifier=classifier, seed=3)) for _ in range(2))
        assert payloads(one, texts) == payloads(two, texts)
        assert confidences(one, texts) == confidences(two, texts)

    def test_rows_are_read_as_predictions_are_asked_for(self, tmp_path: Path) -> None:
        fitted = fit(tmp_path, moods(40))
        read = 0

        def rows() -> Iterator[Row]:
            nonlocal read
            for read in range(1, 30_001):
                yield Row(str(read), "great")

        next(iter(fitted.predict(rows())))
        assert read == 10_000

    def test_a_library_s_warning_is_told(self, tmp_path: Path) -> None:
        asked = job(make_bundle(tmp_path / "bundle", moods(60)), classifier_kwargs={"max_iter": 1, "tol": 1e-9})
        SklearnText.fit(asked)
        assert isinstance(asked.report, Silent)
        assert any("max_iter was reached" in message for _, message in asked.report.logged)

    def test_rows_without_an_answer_to_the_schema_are_not_learned_from(self, tmp_path: Path) -> None:
        rows = [*moods(20), ("train", Row("other", "great", {"another": "x"}))]
        assert fit(tmp_path, rows).facts.n_train == 20
