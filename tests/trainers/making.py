"""Small training data with a signal in it."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from training_pipeline.bundle.manifest import SchemaSpec, Stats
from training_pipeline.bundle.reader import Bundle
from training_pipeline.bundle.row import Row, Target
from training_pipeline.bundle.writer import BundleWriter
from training_pipeline.trainers.base import Fitted, Job, Predictor
from training_pipeline.trainers.params import parse_params
from training_pipeline.trainers.sklearn_text import SklearnText, SklearnTextParams

WORDS = {
    "good": ("lovely", "great", "crisp", "sturdy", "friendly"),
    "bad": ("broken", "awful", "stale", "flimsy", "rude"),
    "fine": ("okay", "usual", "plain", "average", "ordinary"),
}
FILLER = tuple(f"filler{k}" for k in range(60))
MOOD = SchemaSpec("mood", "radio", "nominal", ("good", "fine", "bad"))


class Silent:
    """A report that keeps what it is told."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.logged: list[tuple[str, str]] = []

    def step(self, name: str) -> None:
        self.steps.append(name)

    def log(self, level: str, message: str) -> None:
        self.logged.append((level, message))


def text_about(mood: str, rng: random.Random, n_words: int = 8, clarity: float = 0.25) -> str:
    """A text of words that mostly say nothing; the rest say the mood."""
    return " ".join(rng.choice(WORDS[mood]) if rng.random() < clarity else rng.choice(FILLER) for _ in range(n_words))


def moods(
    n: int, split: str = "train", *, seed: int = 0, labels: Iterable[str] = ("good", "bad")
) -> list[tuple[str, Row]]:
    """Return n rows of a split, their labels in turn."""
    rng = random.Random(f"{seed} {split}")
    names = tuple(labels)
    chosen = [names[k % len(names)] for k in range(n)]
    return [
        (split, Row(f"{split}-{k:05d}", text_about(mood, rng), None if split == "unlabeled" else {"mood": mood}))
        for k, mood in enumerate(chosen)
    ]


def answered(schema: SchemaSpec, answers: Iterable[tuple[str, Target]], split: str = "train") -> list[tuple[str, Row]]:
    """Return rows of these texts and answers."""
    return [(split, Row(f"{split}-{k:05d}", text, {schema.name: target})) for k, (text, target) in enumerate(answers)]


def make_bundle(directory: Path, rows: Iterable[tuple[str, Row]], schema: SchemaSpec = MOOD) -> Bundle:
    """Write rows as a bundle and open it."""
    with BundleWriter(directory, [schema]) as writer:
        for split, row in rows:
            writer.add(split, row)
        writer.finish(text_key="text", split_seed=0, aggregation="consensus", stats=Stats(n_items=0, n_annotated=0))
    return Bundle.open(directory)


def job(bundle: Bundle, *, seed: int = 0, allowed: tuple[str, ...] = (), **params: Any) -> Job[SklearnTextParams]:
    """Return the job of fitting the bundle's only schema."""
    return Job(
        bundle=bundle,
        schema=bundle.manifest.schemas[0],
        params=parse_params("sklearn-text", SklearnTextParams, params),
        seed=seed,
        report=Silent(),
        allowed_modules=allowed,
    )


def fit(directory: Path, rows: Iterable[tuple[str, Row]], schema: SchemaSpec = MOOD, **params: Any) -> Fitted:
    """Fit sklearn-text on these rows."""
    return SklearnText.fit(job(make_bundle(directory / "bundle", rows, schema), **params))


def payloads(predictor: Predictor, texts: Iterable[str]) -> list[Any]:
    """Return what is predicted for these texts."""
    return [p.payload for p in predictor.predict(Row(str(k), text) for k, text in enumerate(texts))]


def as_dict(mapping: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a mapping that is there as a dict."""
    assert mapping is not None
    return dict(mapping)
