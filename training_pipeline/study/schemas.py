"""The annotation schemes of a study, as records."""

from __future__ import annotations

from dataclasses import dataclass

from training_pipeline.study.kinds import Kind


@dataclass(frozen=True)
class Schema:
    """One annotation scheme of the study.

    `options` are the names an annotator can choose from, in the order they are written (an ordinal schema's from low
    to high); empty where the answer is not a choice. `scale` is the (lowest, highest) value of a continuous schema
    where the study states one.
    """

    name: str
    annotation_type: str
    kind: Kind
    description: str = ""
    options: tuple[str, ...] = ()
    scale: tuple[float, float] | None = None
    source_field: str | None = None
