"""Small studies on disk, written in the encodings that the annotation server itself writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

SENTIMENT: Mapping[str, Any] = {
    "annotation_type": "radio",
    "name": "sentiment",
    "description": "Is this review positive or negative?",
    "labels": ["positive", "negative"],
}

FIELD_OF_TYPE = {
    "select": "select-one",
    "triage": "decision",
    "slider": "slider",
    "number": "number",
    "text": "text_box",
    "textbox": "text_box",
}


def make_study(
    directory: Path,
    *,
    items: Iterable[Mapping[str, Any]] = (),
    schemes: Iterable[Mapping[str, Any]] = (SENTIMENT,),
    answers: Mapping[str, Mapping[str, Mapping[str, Any]]] | None = None,
    training: Mapping[str, Any] | None = None,
    **config: Any,
) -> Path:
    """Write a study into `directory` and return the path of its config.

    `answers` is {annotator: {item id: {schema: answer}}}, an answer being what the annotator means (`write_answers`).
    `training` becomes the model_training block, and `config` adds or replaces top-level keys.
    """
    schemes = [dict(scheme) for scheme in schemes]
    whole = {
        "annotation_task_name": "A small study",
        "task_dir": ".",
        "data_files": ["data/items.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "output_annotation_dir": "annotation_output",
        "annotation_schemes": schemes,
        "model_training": {"enabled": True, **(training or {})},
        **config,
    }
    (directory / "data").mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)
    (directory / "data" / "items.jsonl").write_text(lines, encoding="utf-8")
    path = directory / "config.yaml"
    path.write_text(yaml.safe_dump(whole, sort_keys=False, allow_unicode=True), encoding="utf-8")
    output_dir = directory / str(whole["output_annotation_dir"])
    output_dir.mkdir(exist_ok=True)
    for annotator, answered in (answers or {}).items():
        write_answers(output_dir, annotator, answered, schemes)
    return path


def write_answers(
    output_dir: Path,
    annotator: str,
    answered: Mapping[str, Mapping[str, Any]],
    schemes: Iterable[Mapping[str, Any]] = (SENTIMENT,),
    **state: Any,
) -> Path:
    """Write one annotator's user_state.json and return its path; `state` adds or replaces top-level keys.

    An answer is written as the server writes it for the schema's type: a name for a choice, a list of names for a
    multiselect, a number or text for the types that hold one, a list of {start, end, name} for a span, a list of
    objects for an image. A mapping is written as it stands, one label and value a pair.
    """
    type_of = {scheme["name"]: scheme["annotation_type"] for scheme in schemes}
    labels: dict[str, list[list[Any]]] = {}
    spans: dict[str, list[list[Any]]] = {}
    for item, by_schema in answered.items():
        for schema, answer in by_schema.items():
            if type_of[schema] == "span":
                spans.setdefault(item, []).extend(_span_pair(schema, span) for span in answer)
                continue
            pairs = [
                [{"schema": schema, "name": name}, value]
                for name, value in _label_values(type_of[schema], schema, answer).items()
            ]
            labels.setdefault(item, []).extend(pairs)
    whole = {
        "user_id": annotator,
        "instance_id_ordering": list(answered),
        "instance_id_to_label_to_value": labels,
        "instance_id_to_span_to_value": spans,
        "origin": {},
        **state,
    }
    folder = output_dir / annotator
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "user_state.json"
    path.write_text(json.dumps(whole, ensure_ascii=False), encoding="utf-8")
    return path


def _label_values(annotation_type: str, schema: str, answer: Any) -> Mapping[str, Any]:
    if isinstance(answer, Mapping):
        return answer
    if annotation_type in FIELD_OF_TYPE:
        return {FIELD_OF_TYPE[annotation_type]: str(answer)}
    if annotation_type == "vas":
        return {schema: str(answer)}
    if annotation_type == "image_annotation":
        return {"_data": json.dumps(answer, separators=(",", ":"))}
    if annotation_type == "hierarchical_multiselect":
        return {"selected_labels": ",".join(answer)}
    names = [answer] if isinstance(answer, str) else answer
    return {name: name for name in names}


def _span_pair(schema: str, span: Mapping[str, Any]) -> list[Any]:
    start, end, name = span["start"], span["end"], span["name"]
    stored = {"schema": schema, "name": name, "title": name, "start": start, "end": end}
    return [{**stored, "id": f"{schema}_{name}_{start}_{end}"}, span.get("text", "")]
