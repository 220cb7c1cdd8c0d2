"""Single choices as integer codes, their confusion matrix and the scores of each class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training_pipeline.scoring.records import NO_PREDICTION, ClassScore, Confusion

MISSING = -1
"""The code of a prediction that is not there."""


@dataclass(frozen=True)
class Coded:
    """Truths and predictions as codes into `labels`, predictions `MISSING` where there is none."""

    labels: tuple[str, ...]
    truth: NDArray[np.int64]
    predicted: NDArray[np.int64]


def in_order(options: Sequence[str], found: Iterable[str]) -> tuple[str, ...]:
    """Return what was found, in the schema's order; what is no option of the schema comes after, sorted."""
    names = set(found)
    return (*(option for option in options if option in names), *sorted(names.difference(options)))


def code(labels: tuple[str, ...], truths: Sequence[str], predictions: Sequence[str | None]) -> Coded:
    """Code truths and predictions by their place in `labels`; a prediction that is not among them is `MISSING`."""
    place: dict[str | None, int] = {label: k for k, label in enumerate(labels)}
    return Coded(
        labels,
        np.array([place[truth] for truth in truths], dtype=np.int64),
        np.array([place.get(prediction, MISSING) for prediction in predictions], dtype=np.int64),
    )


def confusion(coded: Coded) -> Confusion:
    """Count the pairs of agreed label and prediction."""
    n = len(coded.labels)
    # The code of a missing prediction is the last column's index.
    table = np.zeros((n, n + 1), dtype=np.int64)
    np.add.at(table, (coded.truth, coded.predicted), 1)
    rows = table.sum(axis=1) > 0
    columns = table.sum(axis=0) > 0
    columns[:n] |= rows
    names = np.array([*coded.labels, NO_PREDICTION], dtype=object)
    return Confusion(
        agreed=tuple(names[:n][rows]),
        predicted=tuple(names[columns]),
        counts=tuple(tuple(row) for row in table[rows][:, columns].tolist()),
    )


def class_scores(coded: Coded) -> tuple[ClassScore, ...]:
    """Score each class of the agreed labels."""
    n = len(coded.labels)
    hits = np.bincount(coded.truth[coded.truth == coded.predicted], minlength=n)
    support = np.bincount(coded.truth, minlength=n)
    n_predicted = np.bincount(coded.predicted[coded.predicted != MISSING], minlength=n)
    return tuple(
        class_score(label, int(hits[k]), int(support[k]), int(n_predicted[k]))
        for k, label in enumerate(coded.labels)
        if support[k]
    )


def class_score(label: str, hits: int, support: int, n_predicted: int) -> ClassScore:
    """Score one class from its counts; `support` is above 0."""
    return ClassScore(
        label=label,
        support=support,
        n_predicted=n_predicted,
        precision=hits / n_predicted if n_predicted else None,
        recall=hits / support,
        f1=2 * hits / (support + n_predicted),
    )
