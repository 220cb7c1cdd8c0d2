"""The tables of docs/configuration.md, made of the models.

`python -m training_pipeline.reference docs/configuration.md` writes them.

A page has a pair of markers for each table; what stands between them is written anew, the rest of the page is left.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from training_pipeline.study.backends import BACKEND_MODELS
from training_pipeline.study.block_schema import params_schema
from training_pipeline.study.tiling import TilingConfig
from training_pipeline.study.training import AutoRetrainConfig, TrainingConfig, WritebackConfig
from training_pipeline.trainers import registry
from training_pipeline.trainers.params import ParamDescription, describe_params

_TYPES = {"boolean": "true or false", "integer": "whole number", "number": "number", "string": "text", "object": "map"}
_BOUNDS = (
    ("minimum", "at least"),
    ("exclusiveMinimum", "above"),
    ("maximum", "at most"),
    ("exclusiveMaximum", "below"),
)
_LARGEST = 2**63 - 1


def tables() -> dict[str, str]:
    """Return each table, in Markdown, by its name in the markers."""
    found = {
        "block": _table("key", _keys(TrainingConfig)),
        "writeback": _table("key", _keys(WritebackConfig, "writeback.")),
        "auto_retrain": _table("key", _keys(AutoRetrainConfig, "auto_retrain.")),
        "tiling": _table("key", _keys(TilingConfig, "tiling.")),
    }
    for name, model in BACKEND_MODELS.items():
        found[f"backend {name}"] = _table(f"key of {name}", _keys(model))
    found["later trainers"] = _table(
        "later trainer", map(_trainer, registry.DECLARED), ("learns", "licence", "headline from")
    )
    found["trainers"] = "\n\n".join(
        f"### {name}\n\n" + _table(f"param of {name}", _params(name)) for name in registry.DECLARED
    )
    return found


def with_tables(page: str) -> str:
    """Return a page with its tables as they are now. ValueError for a table that has no markers, or the reverse."""
    made = tables()
    marked = re.findall(r"<!-- begin (.+?) -->", page)
    if sorted(marked) != sorted(made):
        raise ValueError(f"the page has markers for {sorted(marked)}, and there are tables {sorted(made)}")
    for name, table in made.items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        before, _, rest = page.partition(begin)
        page = f"{before}{begin}\n\n{table}\n\n{end}{rest.partition(end)[2]}"
    return page


def _table(first: str, rows: Iterable[Sequence[str]], others: Sequence[str] = ("type", "default", "meaning")) -> str:
    lines = [(first, *others), ("---",) * (1 + len(others)), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _keys(model: type[BaseModel], prefix: str = "") -> Iterator[Sequence[str]]:
    schema = model.model_json_schema()
    for name, described in schema["properties"].items():
        is_required = name in schema.get("required", ())
        default = "required" if is_required else _default(described, schema)
        yield f"`{prefix}{name}`", _type(_resolved(described, schema)), default, described["description"]


def _trainer(name: str) -> Sequence[str]:
    declared = registry.DECLARED[name]
    licence = declared.licence + (", which each run must accept" if declared.needs_accept_licence else "")
    headline = "test, since it keeps the best epoch by val" if declared.keeps_best_epoch else "val"
    return f"`{name}`", ", ".join(declared.annotation_types or declared.kinds), licence, headline


def _params(trainer: str) -> Iterator[Sequence[str]]:
    params_class = registry.params_class(trainer)
    properties = params_schema(params_class)["properties"]
    for param in describe_params(params_class):
        yield from _param(param, properties[param.name], "")


def _param(param: ParamDescription, schema: Mapping[str, Any], prefix: str) -> Iterator[Sequence[str]]:
    where = "; from the study's config only" if param.config_only else ""
    yield f"`{prefix}{param.name}`", _type(schema), _written(param.default), param.description + where
    nested: Mapping[str, Any] = next((one for one in (schema, *schema.get("anyOf", ())) if "properties" in one), {})
    for inner in param.params:
        yield from _param(inner, nested["properties"][inner.name], f"{prefix}{param.name}.")


def _resolved(described: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = described.get("$ref")
    return schema["$defs"][reference.rpartition("/")[2]] if reference else described


def _type(schema: Mapping[str, Any]) -> str:
    """Return a JSON Schema's type in words, with what bounds it."""
    if "anyOf" in schema:
        options = [_type(option) for option in schema["anyOf"]]
        return " or ".join(dict.fromkeys(options))
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_plural(_type(schema['items']))}"
    word = _TYPES.get(schema["type"], str(schema["type"]))
    bounds = [f"{words} {schema[key]:g}" for key, words in _BOUNDS if schema.get(key, _LARGEST) != _LARGEST]
    return f"{word} ({', '.join(bounds)})" if bounds else word


def _plural(type_name: str) -> str:
    word, _, bounds = type_name.partition(" (")
    return f"{word}s ({bounds}" if bounds else f"{word}s"


def _default(described: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    is_section = "properties" in _resolved(described, schema)
    return "its keys' defaults" if is_section else _written(described["default"])


def _written(default: object) -> str:
    """Return a default as YAML has it."""
    if isinstance(default, dict):
        inner = ", ".join(f"{key}: {value}" for key, value in default.items())
        return f"`{{{inner}}}`"
    if isinstance(default, list | tuple):
        return f"`[{', '.join(map(str, default))}]`"
    if isinstance(default, str):
        return f"`{default}`"
    return "null" if default is None else str(default).lower()


def main(page: str) -> None:
    """Write the tables into a page."""
    path = Path(page)
    path.write_text(with_tables(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
