"""The yardstick: the same steps as a run in one process and without any framework.

`python -m benchmarks.bare_script DIRECTORY` reads the answers, resolves them by Dawid and Skene, splits, fits TF-IDF
and a logistic regression with the product's own params, predicts the held-out items and writes them to SQLite. It
checks nothing, keeps no model, scores nothing and publishes nothing. Prints {stage: seconds} and
its peak memory as JSON.
"""

from __future__ import annotations

import hashlib
import json
import resource
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

_STARTED = time.monotonic()

import numpy as np  # noqa: E402  the imports are timed
import orjson  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402

_SCHEMA, _LABELS = "sentiment", ("negative", "neutral", "positive")
_CODE = {label: code for code, label in enumerate(_LABELS)}
Codes = NDArray[np.intp]
T = TypeVar("T")


def main(study: Path) -> None:
    seconds = {"imports": time.monotonic() - _STARTED}

    def timed(stage: str, step: Callable[[], T]) -> T:
        started = time.monotonic()
        done = step()
        seconds[stage] = time.monotonic() - started
        return done

    ids, texts = timed("items", lambda: _items(study / "data" / "items.jsonl"))
    votes = timed("answers", lambda: _votes(study / "annotation_output", {item: k for k, item in enumerate(ids)}))
    labels = timed("agreed labels", lambda: _dawid_skene(votes, len(ids)))
    held_out = timed("splits", lambda: np.array([_share(item) > 0.7 for item in ids]))
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2e-5, dtype=np.float32)
    model = LogisticRegression(C=10.0, solver="saga", tol=1e-2, max_iter=1000, random_state=0)
    train, rest = np.flatnonzero(~held_out), np.flatnonzero(held_out)
    features = timed("vectorize", lambda: vectorizer.fit_transform([texts[k] for k in train]))
    timed("fit", lambda: model.fit(features, labels[train]))
    shares = timed("predict", lambda: model.predict_proba(vectorizer.transform([texts[k] for k in rest])))
    timed("SQLite", lambda: _write(study / "bare.sqlite", ids, held_out, rest, shares))
    seconds["work"] = sum(seconds.values()) - seconds["imports"]
    accuracy = float((shares.argmax(axis=1) == labels[rest]).mean())
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cpu = time.process_time()
    print(json.dumps({"seconds": seconds, "cpu": cpu, "peak_mib": peak_mib, "held_out_accuracy": accuracy}))


def _items(path: Path) -> tuple[list[str], list[str]]:
    with path.open("rb") as lines:
        records = [orjson.loads(line) for line in lines]
    return [record["id"] for record in records], [record["text"] for record in records]


def _votes(folder: Path, place: dict[str, int]) -> Codes:
    """Return rows of (item, annotator, label)."""
    rows = []
    for annotator, path in enumerate(sorted(folder.glob("*/user_state.json"))):
        answers = orjson.loads(path.read_bytes())["instance_id_to_label_to_value"]
        rows += [
            (place[item], annotator, _CODE[label["name"]])
            for item, pairs in answers.items()
            for label, _ in pairs
            if label["schema"] == _SCHEMA
        ]
    return np.array(rows)


def _dawid_skene(votes: Codes, n_items: int) -> Codes:
    item, annotator, label = votes.T
    n_annotators, n_labels = annotator.max() + 1, len(_LABELS)
    posterior = np.zeros((n_items, n_labels))
    np.add.at(posterior, (item, label), 1)
    posterior /= posterior.sum(axis=1, keepdims=True)
    last = -np.inf
    for _ in range(100):
        confusion = np.zeros((n_annotators, n_labels, n_labels))
        np.add.at(confusion, (annotator, label), posterior[item])
        confusion /= np.maximum(confusion.sum(axis=1, keepdims=True), 1e-10)
        logits = np.tile(np.log(posterior.mean(axis=0)), (n_items, 1))
        said = np.log(np.maximum(confusion[annotator, label], 1e-10))
        np.add.at(logits, item, said)
        top = logits.max(axis=1, keepdims=True)
        posterior = np.exp(logits - top)
        total = posterior.sum(axis=1, keepdims=True)
        posterior /= total
        likelihood = float((top + np.log(total)).sum()) / len(votes)
        if likelihood - last < 1e-7:
            break
        last = likelihood
    labels: Codes = posterior.argmax(axis=1)
    return labels


def _share(item: str) -> float:
    return int(hashlib.sha256(f"0:{item}".encode()).hexdigest()[:8], 16) / 0xFFFFFFFF


def _write(path: Path, ids: list[str], held_out: NDArray[np.bool_], rest: Codes, shares: NDArray[np.float64]) -> None:
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE items (instance_id TEXT PRIMARY KEY, held_out INTEGER)")
        connection.execute("CREATE TABLE predictions (instance_id TEXT PRIMARY KEY, payload TEXT, confidence REAL)")
        connection.executemany("INSERT INTO items VALUES (?, ?)", zip(ids, map(int, held_out), strict=True))
        sure = shares.max(axis=1).tolist()
        chosen = [_LABELS[code] for code in shares.argmax(axis=1)]
        connection.executemany(
            "INSERT INTO predictions VALUES (?, ?, ?)",
            (
                (ids[k], json.dumps({"label": label, "confidence": share}), share)
                for k, label, share in zip(rest, chosen, sure, strict=True)
            ),
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
