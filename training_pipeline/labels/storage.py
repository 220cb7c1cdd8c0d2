"""Agreed labels on disk, and their digest."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from training_pipeline.labels.agreed import AgreedLabels, Reliability, Rule
from training_pipeline.parquet import coded, codes_of, read_table, strings, write_table
from training_pipeline.study.kinds import Kind
from training_pipeline.study.schemas import Schema

_METADATA = b"agreed_labels"
_LABEL_TYPE = {
    Kind.NOMINAL: pa.string(),
    Kind.ORDINAL: pa.string(),
    Kind.MULTILABEL: pa.list_(pa.string()),
    Kind.CONTINUOUS: pa.float64(),
}


def digest(agreed: AgreedLabels) -> str:
    """Return a SHA-256 over items and their labels: it changes exactly when one of them does."""
    sha = hashlib.sha256(orjson.dumps(agreed.items))
    sha.update(orjson.dumps([agreed.labels[code] for code in agreed.label]))
    return sha.hexdigest()


def save(agreed: AgreedLabels, path: Path) -> None:
    """Write the labels as Parquet, one row an item; the file is whole or not there at all.

    Columns: item, label (string, list of strings or double, as the kind of answer is), posterior (null where there is
    none), rule, n_answers. Reliabilities stand in the file's metadata.
    """
    labels = [agreed.labels[code] for code in agreed.label]
    posterior = pa.nulls(len(agreed), pa.float64()) if agreed.posterior is None else pa.array(agreed.posterior)
    table = pa.table(
        {
            "item": pa.array(agreed.items, type=pa.string()),
            "label": pa.array(labels, type=_LABEL_TYPE[agreed.schema.kind]),
            "posterior": posterior,
            "rule": coded(agreed.rule, agreed.rules),
            "n_answers": pa.array(agreed.n_answers),
        }
    )
    about = {
        "reliabilities": [asdict(reliability) for reliability in agreed.reliabilities],
        "n_corrected_unlabelled": agreed.n_corrected_unlabelled,
    }
    write_table(table.replace_schema_metadata({_METADATA: json.dumps(about)}), path)


def load(path: Path, schema: Schema) -> AgreedLabels:
    """Read what `save` wrote for `schema`."""
    table = read_table(path, f"agreed labels of schema {schema.name!r}")
    about = json.loads(table.schema.metadata[_METADATA])
    labels, label = _labels(table)
    named = set(strings(table, "rule"))
    rules = [rule for rule in Rule if rule in named]
    return AgreedLabels(
        schema=schema,
        items=strings(table, "item"),
        labels=labels,
        label=label,
        posterior=None if schema.kind is Kind.CONTINUOUS else table["posterior"].to_numpy(),
        rules=rules,
        rule=codes_of(table, "rule", rules).astype(np.int8),
        n_answers=table["n_answers"].to_numpy(),
        reliabilities=tuple(Reliability(**reliability) for reliability in about["reliabilities"]),
        n_corrected_unlabelled=about["n_corrected_unlabelled"],
    )


def _labels(table: pa.Table) -> tuple[list[Any], NDArray[np.int32]]:
    """Return the labels in use, each once and sorted, and the code of each row."""
    values: list[Any] = table["label"].to_pylist()
    if pa.types.is_list(table["label"].type):
        values = [tuple(names) for names in values]
    distinct = sorted(set(values))
    place = {value: code for code, value in enumerate(distinct)}
    return distinct, np.fromiter(map(place.__getitem__, values), dtype=np.int32, count=len(values))
