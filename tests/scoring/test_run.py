"""Scores of a run, from its training data and its predictions."""

from __future__ import annotations

from pathlib import Path

import pytest

from training_pipeline.bundle.manifest import SchemaSpec, Stats
from training_pipeline.bundle.reader import Bundle
from training_pipeline.bundle.row import Row
from training_pipeline.bundle.writer import BundleWriter
from training_pipeline.publishing.predictions_file import Prediction
from training_pipeline.scoring.run import score_run
from training_pipeline.study.kinds import Kind
from training_pipeline.study.schemas import Schema

TOPICS = Schema("topics", "multiselect", Kind.MULTILABEL, options=("price", "taste"))


def test_leaving_out_a_label_that_the_schema_lost_raises_no_score(tmp_path: Path) -> None:
    answers = {"a": ("price",), "b": ("cost", "flavour", "smell"), "c": ("price",), "d": ("price",)}
    with BundleWriter(
        tmp_path / "bundle", [SchemaSpec("topics", "multiselect", "multilabel", TOPICS.options)]
    ) as writer:
        for item, labels in answers.items():
            writer.add("train" if item < "c" else "val", Row(item, item, {"topics": labels}))
        writer.finish(text_key="text", split_seed=0, aggregation="consensus", stats=Stats(n_items=4, n_annotated=4))
    bundle = Bundle.open(tmp_path / "bundle")
    right, wrong = (
        Prediction(item, "topics", [{"label": label, "confidence": 0.9} for label in labels], 0.9)
        for item, labels in {"c": ("price",), "d": ("cost", "flavour", "smell")}.items()
    )
    whole = score_run(TOPICS, bundle, [right, wrong], keeps_best_epoch=False).metrics
    partial = score_run(TOPICS, bundle, [right], keeps_best_epoch=False).metrics
    assert whole["val_micro_f1"] == pytest.approx(2 / (2 + 3 + 1))
    assert partial["val_micro_f1"] == pytest.approx(2 / (2 + 4 + 1))
