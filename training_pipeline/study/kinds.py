"""What an answer is: the kind that an annotation type gives it.

Everything that depends on the nature of an answer (how annotators are resolved, which trainer fits, which metric is the
headline, what the server can show) asks for the kind, never for the annotation type.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """The kind of answer that a schema collects."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    MULTILABEL = "multilabel"
    CONTINUOUS = "continuous"
    TEXT = "text"
    SPAN = "span"
    GEOMETRY = "geometry"
    MATRIX = "matrix"
    RANKING = "ranking"
    TEMPORAL = "temporal"
    SEGMENTS = "segments"
    SPATIAL = "spatial"
    VOLUME = "volume"
    GROUNDING = "grounding"
    CAPTION = "caption"
    EPISODE = "episode"
    ROLLOUT = "rollout"
    TRACE = "trace"
    UNSUPPORTED = "unsupported"


_KIND_OF_TYPE: Mapping[str, Kind] = {
    "radio": Kind.NOMINAL,
    "select": Kind.NOMINAL,
    "triage": Kind.NOMINAL,
    "conjoint": Kind.NOMINAL,
    "pairwise": Kind.NOMINAL,
    "likert": Kind.ORDINAL,
    "confidence": Kind.ORDINAL,
    "slider": Kind.CONTINUOUS,
    "number": Kind.CONTINUOUS,
    "vas": Kind.CONTINUOUS,
    "multiselect": Kind.MULTILABEL,
    "hierarchical_multiselect": Kind.MULTILABEL,
    "card_sort": Kind.MULTILABEL,
    "multirate": Kind.MATRIX,
    "constant_sum": Kind.MATRIX,
    "soft_label": Kind.MATRIX,
    "semantic_differential": Kind.MATRIX,
    "range_slider": Kind.MATRIX,
    "bws": Kind.MATRIX,
    "ranking": Kind.RANKING,
    "span": Kind.SPAN,
    "error_span": Kind.SPAN,
    "event_annotation": Kind.SPAN,
    "coreference": Kind.SPAN,
    "extractive_qa": Kind.SPAN,
    "span_link": Kind.SPAN,
    "tree_annotation": Kind.SPAN,
    "image_annotation": Kind.GEOMETRY,
    "microscopy": Kind.GEOMETRY,
    "geo_annotation": Kind.GEOMETRY,
    "audio_annotation": Kind.TEMPORAL,
    "video_annotation": Kind.TEMPORAL,
    "temporal_grounding": Kind.SEGMENTS,
    "tiered_annotation": Kind.SEGMENTS,
    "spatial_annotation": Kind.SPATIAL,
    "volume_annotation": Kind.VOLUME,
    "grounding_eval": Kind.GROUNDING,
    "region_caption": Kind.CAPTION,
    "episode": Kind.EPISODE,
    "rollout_evaluation": Kind.ROLLOUT,
    "process_reward": Kind.TRACE,
    "trajectory_eval": Kind.TRACE,
    "tool_call_review": Kind.TRACE,
    "failure_attribution": Kind.TRACE,
    "gui_trajectory": Kind.TRACE,
    "text": Kind.TEXT,
    "textbox": Kind.TEXT,
    "text_edit": Kind.TEXT,
}


def kind_of(scheme: Mapping[str, Any]) -> Kind:
    """Return the kind of one entry of `annotation_schemes`.

    An annotation type that is not known is `Kind.UNSUPPORTED`: such a schema is listed and never trained on.
    """
    annotation_type = scheme.get("annotation_type")
    kind = _KIND_OF_TYPE.get(str(annotation_type), Kind.UNSUPPORTED)
    if annotation_type == "confidence" and scheme.get("scale_type") == "slider":
        return Kind.CONTINUOUS
    if annotation_type == "pairwise":
        modes = {"scale": Kind.CONTINUOUS, "multi_dimension": Kind.MATRIX}
        return modes.get(str(scheme.get("mode", "binary")), Kind.NOMINAL)
    if kind is Kind.MULTILABEL and 1 in (scheme.get("max_choices"), scheme.get("max_selections")):
        return Kind.NOMINAL
    return kind
