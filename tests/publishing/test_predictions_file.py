from __future__ import annotations

from pathlib import Path

import pytest

from training_pipeline.errors import PipelineError
from training_pipeline.publishing.predictions_file import Prediction, read_predictions

GOOD = '{"instance_id": "a/ü", "schema_name": "s", "payload": {"label": "x", "confidence": 0.5}, "confidence": 0.5}\n'


def test_lines_come_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "predictions.jsonl"
    path.write_text(GOOD + GOOD.replace("a/ü", "b").replace('"confidence": 0.5}\n', '"confidence": null}\n'))
    assert list(read_predictions(path)) == [
        Prediction("a/ü", "s", {"label": "x", "confidence": 0.5}, 0.5),
        Prediction("b", "s", {"label": "x", "confidence": 0.5}, None),
    ]


@pytest.mark.parametrize(
    "bad",
    [
        GOOD[:40] + "\n",
        GOOD.replace('"confidence": 0.5}\n', f'"confidence": {"[" * 1000}{"]" * 1000}}}\n'),
        GOOD.replace('"confidence": 0.5}\n', f'"confidence": {"1" * 5000}}}\n'),
        "{}\n",
        "[]\n",
        "\n",
        GOOD.replace('"confidence": 0.5}\n', '"confidence": "0.5"}\n'),
        GOOD.replace('"confidence": 0.5}\n', '"confidence": 1.5}\n'),
        GOOD.replace('"confidence": 0.5}\n', '"confidence": true}\n'),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "predictions.jsonl"
    path.write_text(GOOD + bad)
    with pytest.raises(PipelineError, match=r"predictions\.jsonl, line 2") as refused:
        list(read_predictions(path))
    assert refused.value.code == "bad_prediction"


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match=r"predictions\.jsonl is missing"):
        list(read_predictions(tmp_path / "predictions.jsonl"))
