"""A synthetic study of any size: `python -m benchmarks.study DIRECTORY N_ITEMS [N_LABELLED]`.

Texts are some fifteen words from a vocabulary of 30,000 whose frequencies fall as Zipf's law says. One word in four
belongs to a class, mostly to the item's own, so that no classifier gets all items right. Three
annotators with different habits answer each labelled item. Items are written as they are made: memory grows with the
answers only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import yaml
from numpy.typing import NDArray

SCHEMA = "sentiment"
LABELS = ("negative", "neutral", "positive")
API_KEY = "benchmark"

_SHARES = (0.35, 0.25, 0.40)
_CONFUSION: Mapping[str, list[list[float]]] = {
    "alice": [[0.92, 0.06, 0.02], [0.08, 0.84, 0.08], [0.02, 0.05, 0.93]],
    "bob": [[0.84, 0.12, 0.04], [0.05, 0.90, 0.05], [0.03, 0.15, 0.82]],
    "carol": [[0.80, 0.08, 0.12], [0.20, 0.55, 0.25], [0.08, 0.06, 0.86]],
}
"""Per annotator: row, what the item is; column, what the annotator says."""

_N_WORDS = 30_000
_N_CLASS_WORDS = 300
_CLASS_WORD_SHARE = 0.25
_OTHER_CLASS_SHARE = 0.4
_MEAN_LENGTH = 15
_ITEMS_AT_ONCE = 10_000


def make_study(directory: Path, n_items: int, n_labelled: int | None = None, seed: int = 0) -> Path:
    """Write a study of `n_items`, the first `n_labelled` (all) of them labelled by three; return its config's path."""
    rng = np.random.default_rng(seed)
    directory.mkdir(parents=True)
    (directory / "data").mkdir()
    config = directory / "config.yaml"
    config.write_text(yaml.safe_dump(_config(), sort_keys=False), encoding="utf-8")
    truth = rng.choice(len(LABELS), size=n_items, p=_SHARES)
    with (directory / "data" / "items.jsonl").open("wb") as file:
        file.writelines(_lines(truth, rng))
    n_labelled = n_items if n_labelled is None else n_labelled
    for annotator, confusion in _CONFUSION.items():
        folder = directory / "annotation_output" / annotator
        folder.mkdir(parents=True)
        said = _said(truth[:n_labelled], np.array(confusion), rng)
        (folder / "user_state.json").write_bytes(orjson.dumps(_state(annotator, said)))
    return config


def item_id(k: int) -> str:
    """Return the id of item k."""
    return f"item-{k:07}"


def _config() -> dict[str, Any]:
    return {
        "annotation_task_name": "Benchmark",
        "task_dir": ".",
        "data_files": ["data/items.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "output_annotation_dir": "annotation_output",
        "require_password": False,
        "user_config": {"allow_all_users": True},
        "admin_api_key": API_KEY,
        "assignment_strategy": "fixed_order",
        "max_annotations_per_user": -1,
        "annotation_schemes": [
            {
                "annotation_type": "radio",
                "name": SCHEMA,
                "description": "What does this say?",
                "labels": list(LABELS),
            }
        ],
        "model_training": {
            "enabled": True,
            "split_seed": 0,
            "aggregation": "consensus",
            "writeback": {"schemas": [SCHEMA], "min_confidence": 0.0, "include_unlabeled": True},
        },
    }


def _lines(truth: NDArray[np.int64], rng: np.random.Generator) -> Iterator[bytes]:
    words = _vocabulary(rng)
    weights = 1 / np.arange(10, len(words) + 10)
    bounds = np.cumsum(weights / weights.sum())
    # Words of no great frequency carry the class.
    class_words = rng.choice(np.arange(100, 10_000), size=(len(LABELS), _N_CLASS_WORDS), replace=False)
    for start in range(0, len(truth), _ITEMS_AT_ONCE):
        classes = truth[start : start + _ITEMS_AT_ONCE]
        lengths = np.maximum(rng.poisson(_MEAN_LENGTH, size=len(classes)), 3)
        of_token = np.repeat(classes, lengths)
        is_other = rng.random(len(of_token)) < _OTHER_CLASS_SHARE
        of_token[is_other] = rng.integers(len(LABELS), size=is_other.sum())
        tokens = np.searchsorted(bounds, rng.random(len(of_token)))
        tells = rng.random(len(of_token)) < _CLASS_WORD_SHARE
        tokens[tells] = class_words[of_token[tells], rng.integers(_N_CLASS_WORDS, size=tells.sum())]
        for k, said in enumerate(np.split(words[tokens], np.cumsum(lengths)[:-1]), start=start):
            yield orjson.dumps({"id": item_id(k), "text": f"{' '.join(said)}."}, option=orjson.OPT_APPEND_NEWLINE)


def _vocabulary(rng: np.random.Generator) -> NDArray[np.object_]:
    """Return distinct words of one to three syllables, short ones first as in most languages."""
    syllables = [onset + vowel for onset in "bdfgklmnprstvz" for vowel in ("a", "e", "i", "o", "u", "ai", "ou")]
    words: list[str] = []
    for n_syllables, n_words in ((1, 60), (2, 4_000), (3, _N_WORDS - 4_060)):
        drawn = rng.choice(len(syllables) ** n_syllables, size=n_words, replace=False)
        places = np.unravel_index(drawn, (len(syllables),) * n_syllables)
        words += ["".join(syllables[k] for k in word) for word in zip(*places, strict=True)]
    return np.array(words, dtype=object)


def _said(truth: NDArray[np.int64], confusion: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    bounds = confusion.cumsum(axis=1)[:, :-1]
    said: NDArray[np.int64] = (rng.random(len(truth))[:, np.newaxis] > bounds[truth]).sum(axis=1)
    return said


def _state(annotator: str, said: NDArray[np.int64]) -> dict[str, Any]:
    """Return what the annotation server keeps of one annotator, as version 2.12.1 writes it."""
    pairs = [[[{"schema": SCHEMA, "name": label}, label]] for label in LABELS]
    ids = [item_id(k) for k in range(len(said))]
    return {
        "user_id": annotator,
        "instance_id_ordering": ids,
        "current_instance_index": max(0, len(ids) - 1),
        "current_phase_and_page": ["annotation", None],
        "completed_phase_and_pages": [],
        "max_assignments": -1,
        "instance_id_to_behavioral_data": {},
        "instance_id_to_label_to_value": {item: pairs[code] for item, code in zip(ids, said.tolist(), strict=True)},
        "instance_id_to_span_to_value": {},
        "phase_to_page_to_label_to_value": {},
        "phase_to_page_to_span_to_value": {},
        "origin": {},
    }


if __name__ == "__main__":
    make_study(Path(sys.argv[1]), *map(int, sys.argv[2:4]))
