"""Accuracy on data whose figure is known."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

from tests.trainers.making import fit
from training_pipeline.bundle.manifest import SchemaSpec
from training_pipeline.bundle.row import Row

BANKING77 = Path(__file__).parents[1] / "data" / "banking77"
INTENT = SchemaSpec("intent", "radio", "nominal")


def rows(split: str) -> list[tuple[str, str]]:
    with gzip.open(BANKING77 / f"{split}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        return [(row["text"], row["category"]) for row in csv.DictReader(file)]


@pytest.mark.slow
def test_banking77_reaches_the_accuracy_of_tf_idf_with_logistic_regression(tmp_path: Path) -> None:
    """TF-IDF of words and pairs with logistic regression at C=10 gives .894 on the published test split."""
    train = [("train", Row(f"{k}", text, {"intent": label})) for k, (text, label) in enumerate(rows("train"))]
    fitted = fit(tmp_path, train, INTENT, calibrate=False)
    texts, truths = zip(*rows("test"), strict=True)
    predicted = [p.payload for p in fitted.predict(Row(str(k), text) for k, text in enumerate(texts))]
    accuracy = sum(map(str.__eq__, predicted, truths)) / len(truths)  # type: ignore[arg-type]
    assert accuracy == pytest.approx(0.894, abs=0.005)
