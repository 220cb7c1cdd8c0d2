"""The annotation schemes of a study, as records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from training_pipeline.study.document import KeyPath, format_path
from training_pipeline.study.kinds import Kind, kind_of
from training_pipeline.study.problems import Findings
from training_pipeline.study.sections import Section
from training_pipeline.trainers.wording import shown

# What the server draws where the scheme does not say, seen on its pages.
CONFIDENCE_POINTS = 5
PERCENT_SCALE = (0.0, 100.0)
PAIR_OPTIONS = ("A", "B", "tie")
TRIAGE_OPTIONS = ("accept", "reject", "skip")

MOST_POINTS = 1_000
"""The most points of a scale that somebody could choose among."""

CHOICES = frozenset({Kind.NOMINAL, Kind.ORDINAL, Kind.MULTILABEL})
"""Kinds whose answers name options."""

_FEW = 10
"""Labels that a sentence lists."""

_LABELLED = frozenset({Kind.NOMINAL, Kind.ORDINAL, Kind.MULTILABEL, Kind.SPAN, Kind.GEOMETRY})
"""Kinds that choose among `labels`. Elsewhere the key may mean anything and is left alone."""


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


def no_such_options(schema: str, counts: Mapping[str, int], named_by: str) -> str:
    """Return the sentence about labels that are no option of a schema; `counts` says how often each is named."""
    most = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    listed = ", ".join(f"{label!r:.80} ({n:,})" for label, n in most[:_FEW])
    more = f" and {len(most) - _FEW:,} more" if len(most) > _FEW else ""
    return (
        f"The schema {schema!r} has no option {listed}{more}, which {named_by} name. Give the option its old name"
        " again, or have its items annotated again under the new one."
    )


def read_schemas(config: Mapping[str, Any], findings: Findings) -> tuple[Schema, ...]:
    """Return the schemas of a study's config, in the order written; what is wrong with them goes to `findings`."""
    top = Section(config, findings)
    if config.get("annotation_schemes") in (None, []):
        top.add("annotation_schemes", "Is missing or empty.", "List the questions that annotators answer.")
    schemas: list[Schema] = []
    first: dict[str, KeyPath] = {}
    for scheme in top.sections("annotation_schemes"):
        schema = _read_schema(scheme)
        if schema.name and schema.name in first:
            before = format_path((*first[schema.name], "name"))
            scheme.add("name", f"Is {shown(schema.name)}, as is {before}.", "Give each schema a name of its own.")
        first.setdefault(schema.name, scheme.path)
        schemas.append(schema)
    return tuple(schemas)


def _read_schema(scheme: Section) -> Schema:
    annotation_type = scheme.text("annotation_type")
    kind = kind_of(scheme.values)
    return Schema(
        name=scheme.text("name"),
        annotation_type=annotation_type,
        kind=kind,
        description=str(scheme.values.get("description") or ""),
        options=_options(scheme, annotation_type, kind),
        scale=_scale(scheme, annotation_type) if kind is Kind.CONTINUOUS else None,
        source_field=scheme.text("source_field") if "source_field" in scheme else None,
    )


def _options(scheme: Section, annotation_type: str, kind: Kind) -> tuple[str, ...]:
    match annotation_type:
        case _ if kind not in _LABELLED:
            options: tuple[str, ...] = ()
        case "confidence":
            options = _points(scheme.whole_number("scale_points", MOST_POINTS, CONFIDENCE_POINTS))
        case "likert" if "labels" not in scheme:
            options = _points(scheme.whole_number("size", MOST_POINTS))
        case "triage":
            options = TRIAGE_OPTIONS
        case "pairwise":
            options = PAIR_OPTIONS if scheme.flag("allow_tie") else PAIR_OPTIONS[:2]
        case "hierarchical_multiselect" if "taxonomy" in scheme:
            path = (*scheme.path, "taxonomy")
            options = tuple(dict.fromkeys(_taxonomy_names(scheme.values["taxonomy"], path, scheme.findings)))
        case _:
            options = tuple(_labels(scheme))
    return options


def _points(n: int) -> tuple[str, ...]:
    return tuple(str(point) for point in range(1, n + 1))


def _labels(scheme: Section) -> Iterator[str]:
    seen: set[str] = set()
    for path, label in scheme.entries("labels"):
        name = _label_name(path, label, scheme.findings)
        if name is not None and name in seen:
            scheme.findings.add(path, f"Is {shown(name)} for the second time.", "Give each label a name of its own.")
        elif name is not None:
            seen.add(name)
            yield name


def _label_name(path: KeyPath, label: Any, findings: Findings) -> str | None:
    """Return the name of a label as the server shows it: a text or a number, alone or under `name`.

    YAML reads an unquoted yes, no, on or off as a boolean, so the word that was written is lost; the server refuses
    such a label, and so do we.
    """
    name = label.get("name") if isinstance(label, dict) else label
    if isinstance(name, bool):
        findings.add(path, f"Was read as the boolean {name}.", "Put the label in quotes.")
        return None
    if not isinstance(name, str | int | float) or name == "":
        findings.add(path, f"Must be a text, or a mapping with a name, not {shown(label)}.")
        return None
    return str(name)


def _taxonomy_names(node: Any, path: KeyPath, findings: Findings) -> Iterator[str]:
    """Yield every node of a taxonomy, parents before children: mappings of names to nodes, lists, single names."""
    if node is None:
        return
    if isinstance(node, list):
        for position, child in enumerate(node):
            yield from _taxonomy_names(child, (*path, position), findings)
    elif isinstance(node, dict):
        for name, child in node.items():
            yield from filter(None, [_label_name((*path, name), name, findings)])
            yield from _taxonomy_names(child, (*path, name), findings)
    else:
        yield from filter(None, [_label_name(path, node, findings)])


def _scale(scheme: Section, annotation_type: str) -> tuple[float, float] | None:
    """Return the ends of the scale: written under `scale` by a pairwise schema, else min_value and max_value."""
    if annotation_type == "pairwise":
        ends, lowest, highest = scheme.section("scale"), "min", "max"
    else:
        ends, lowest, highest = scheme, "min_value", "max_value"
    low, high = ends.number(lowest), ends.number(highest)
    if annotation_type in ("vas", "confidence"):
        low = PERCENT_SCALE[0] if low is None else low
        high = PERCENT_SCALE[1] if high is None else high
    if low is None or high is None:
        return None
    if low >= high:
        ends.add(highest, f"Is {high:g}, which is not above {ends.key(lowest)}, {low:g}.")
    return low, high
