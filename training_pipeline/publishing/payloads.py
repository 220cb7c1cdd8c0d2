"""What a prediction looks like to the annotation server: the shape per annotation type, and what it cannot show."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from training_pipeline.errors import PipelineError
from training_pipeline.study.kinds import Kind
from training_pipeline.study.schemas import CHOICES, Schema

_SHOWABLE = frozenset({"radio", "multiselect", "likert", "slider", "text", "span", "image_annotation"})
_SHAPES: Mapping[Kind, str] = {
    Kind.NOMINAL: '{"label": ..., "confidence": ...}',
    Kind.ORDINAL: '{"label": ..., "confidence": ...}',
    Kind.MULTILABEL: 'a list of {"label": ..., "confidence": ...}, one for each label ticked',
    Kind.CONTINUOUS: "a plain number",
    Kind.TEXT: "a plain text",
    Kind.SPAN: "a list of spans",
    Kind.GEOMETRY: "a list of objects",
}


def not_showable_because(schema: Schema, *, allow_slider: bool) -> str | None:
    """Return why Potato 2.12.1 shows no pre-label for the schema, in a sentence; None where it does."""
    if schema.annotation_type not in _SHOWABLE:
        return (
            f"`{schema.name}` is answered by `{schema.annotation_type}`, for which Potato shows no pre-label; its"
            " predictions are stored and scored."
        )
    if schema.annotation_type == "likert" and _is_unlabelled_scale(schema.options):
        return (
            f"`{schema.name}` is a likert scale without labels, for which Potato shows no pre-label; give it `labels`"
            " to have its predictions shown."
        )
    if schema.annotation_type == "slider" and not allow_slider:
        return (
            f"`{schema.name}` is a slider: Potato 2.12.1 saves a slider's pre-label as the annotator's own answer as"
            " soon as the item is looked at, so none is shown. Set model_training.writeback.allow_slider: true to show"
            " them all the same."
        )
    return None


def checked(schema: Schema, payload: Any) -> Any:
    """Return the payload, if it has the shape that the server takes for the schema.

    A wrong shape would be saved into annotators' answers (a slider given a mapping, say), so it is refused with
    `bad_prediction`. Kinds that nothing trains on yet are not looked at.
    """
    if schema.kind in _SHAPES and not _has_shape(schema.kind, payload):
        raise PipelineError(
            "bad_prediction",
            f"A prediction for `{schema.name}` ({schema.annotation_type}) is {payload!r} where {_SHAPES[schema.kind]}"
            " belongs, so nothing of the run was published. This is a defect of its trainer.",
        )
    return payload


def strange_labels(schema: Schema, payload: Any) -> tuple[str, ...]:
    """Return the labels that a payload names and the schema does not offer, so that the server shows nothing for them.

    There are none where the schema offers no labels to choose from.
    """
    if not schema.options or schema.kind not in CHOICES or not _has_shape(schema.kind, payload):
        return ()
    chosen = payload if schema.kind is Kind.MULTILABEL else [payload]
    return tuple(choice["label"] for choice in chosen if choice["label"] not in schema.options)


def is_empty(payload_json: str) -> bool:
    """Whether a payload, as JSON text, says that there is nothing: no label, no span, no object, no text."""
    return payload_json in ("[]", '""', "null")


def _has_shape(kind: Kind, payload: Any) -> bool:
    match kind:
        case Kind.NOMINAL | Kind.ORDINAL:
            return _is_choice(payload)
        case Kind.MULTILABEL:
            return isinstance(payload, list) and all(_is_choice(entry) for entry in payload)
        case Kind.CONTINUOUS:
            return isinstance(payload, int | float) and not isinstance(payload, bool) and math.isfinite(payload)
        case Kind.TEXT:
            return isinstance(payload, str)
        case _:
            return isinstance(payload, list)


def _is_choice(payload: Any) -> bool:
    return isinstance(payload, dict) and isinstance(payload.get("label"), str)


def _is_unlabelled_scale(options: tuple[str, ...]) -> bool:
    # Potato names the points of a scale without labels 1, 2, 3, ...
    return options == tuple(str(point) for point in range(1, len(options) + 1))
