"""Small tables of answers."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from training_pipeline.labels.agreed import AgreedLabels
from training_pipeline.study.answers import Answers, Value
from training_pipeline.study.kinds import Kind
from training_pipeline.study.schemas import Schema

DATA = Path(__file__).parent.parent / "data"


def answers(votes: Iterable[tuple[str, str, Value]], kind: Kind = Kind.NOMINAL) -> Answers:
    """(item, annotator, value) triples as the columns that the study gives; values in the order first seen."""
    rows = list(votes)
    items = sorted({item for item, _, _ in rows})
    annotators = sorted({annotator for _, annotator, _ in rows})
    values = list(dict.fromkeys(value for _, _, value in rows))
    return Answers(
        schema=Schema("s", "radio", kind),
        items=items,
        annotators=annotators,
        values=values,
        item=np.array([items.index(item) for item, _, _ in rows], dtype=np.int32),
        annotator=np.array([annotators.index(annotator) for _, annotator, _ in rows], dtype=np.int32),
        value=np.array([values.index(value) for _, _, value in rows], dtype=np.int32),
    )


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_votes(folder: str) -> Answers:
    """A label.csv of `tests/data`."""
    rows = read_csv(DATA / folder / "label.csv")
    items = {name: k for k, name in enumerate(sorted({row["item"] for row in rows}))}
    annotators = {name: k for k, name in enumerate(sorted({row["worker"] for row in rows}))}
    values = {name: k for k, name in enumerate(dict.fromkeys(row["label"] for row in rows))}
    return Answers(
        schema=Schema("s", "radio", Kind.NOMINAL),
        items=list(items),
        annotators=list(annotators),
        values=list(values),
        item=np.array([items[row["item"]] for row in rows], dtype=np.int32),
        annotator=np.array([annotators[row["worker"]] for row in rows], dtype=np.int32),
        value=np.array([values[row["label"]] for row in rows], dtype=np.int32),
    )


def label_of(agreed: AgreedLabels) -> dict[str, Value]:
    return {item: agreed.labels[code] for item, code in zip(agreed.items, agreed.label, strict=True)}


def rule_of(agreed: AgreedLabels) -> dict[str, str]:
    return {item: agreed.rules[code].value for item, code in zip(agreed.items, agreed.rule, strict=True)}


def posterior_of(agreed: AgreedLabels) -> dict[str, float]:
    assert agreed.posterior is not None
    return dict(zip(agreed.items, agreed.posterior.tolist(), strict=True))


def reliability_of(agreed: AgreedLabels) -> dict[str, float | None]:
    return {entry.annotator: entry.reliability for entry in agreed.reliabilities}
