"""Reading the model_training block: every problem of its keys in one pass, and what can be read all the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from training_pipeline.study.backends import BACKEND_MODELS, LOCAL
from training_pipeline.study.document import KeyPath
from training_pipeline.study.problems import BLOCK, Findings, at_most
from training_pipeline.study.tiling import TilingConfig
from training_pipeline.study.training import AutoRetrainConfig, TrainingConfig, WritebackConfig
from training_pipeline.trainers.wording import near_miss, number_mend, shown, text_mend, truth_mend

_SECTIONS: Mapping[str, type[BaseModel]] = {
    "auto_retrain": AutoRetrainConfig,
    "writeback": WritebackConfig,
    "tiling": TilingConfig,
}
_READ_KEY_BY_KEY = frozenset({*_SECTIONS, "backends", "trainer_params"})
_LEVELS_OF_KEYS = 3
"""Sections, their keys, and theirs: a backend's or a trainer's params. What is below is the trainer's business."""
_OTHER_NAMES_OF_SPLITS = {
    "training": "train",
    "validation": "val",
    "valid": "val",
    "dev": "val",
    "eval": "val",
    "testing": "test",
}


@dataclass(frozen=True)
class ReadBlock:
    """The block as it stands in the file, and as a record.

    In `training` the default stands for what could not be read, so that the rest can be checked against the study:
    nothing may run on it while there are problems.
    """

    raw: Mapping[str, Any]
    training: TrainingConfig

    def raw_section(self, name: str) -> Mapping[str, Any]:
        """Return a section as it stands in the file, empty where it is not one."""
        section = self.raw.get(name)
        return section if isinstance(section, dict) else {}

    def names(self, section: str, key: str) -> Iterator[tuple[KeyPath, str]]:
        """Yield full path and value of each text of a list, also of a list with entries that are none."""
        listed = self.raw_section(section).get(key)
        for position, name in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(name, str):
                yield (BLOCK, section, key, position), name


def read_block(raw: Mapping[Any, Any], findings: Findings) -> ReadBlock:
    """Return the block; what is wrong with its keys, their types and their ranges goes to `findings`."""
    raw = _with_text_keys(raw, _LEVELS_OF_KEYS)
    training = _read_training(raw, findings)
    block = ReadBlock(raw, training)
    _check_splits(block, findings)
    _check_backends(block, findings)
    _check_exclusive(block, findings)
    _warn_of_unknown(raw, TrainingConfig, (), findings)
    _warn_of_unknown(block.raw_section("tiling"), TilingConfig, ("tiling",), findings)
    return block


def _with_text_keys(values: Mapping[Any, Any], levels: int) -> dict[str, Any]:
    """Return the mapping with the texts of its keys: one that YAML takes for a number or a boolean is known by that."""
    return {
        str(key): _with_text_keys(value, levels - 1) if levels > 1 and isinstance(value, dict) else value
        for key, value in values.items()
    }


def _read_training(raw: Mapping[str, Any], findings: Findings) -> TrainingConfig:
    try:
        return TrainingConfig.model_validate(raw)
    except ValidationError as error:
        details = error.errors(include_url=False)
        for one in at_most(details):
            path, message, hint = _problem(one)
            findings.add((BLOCK, *path), message, hint)
        return TrainingConfig.model_validate(_readable(raw, details))


def _readable(raw: Mapping[str, Any], details: list[ErrorDetails]) -> dict[str, Any]:
    """Return the block without the keys that have errors: a section loses the key, anything else is left out whole."""
    unreadable = {one["loc"][: 2 if one["loc"][0] in _READ_KEY_BY_KEY else 1] for one in details}
    return {
        key: {k: v for k, v in value.items() if (key, k) not in unreadable}
        if key in _READ_KEY_BY_KEY and isinstance(value, dict)
        else value
        for key, value in raw.items()
        if (key,) not in unreadable
    }


def _problem(details: ErrorDetails) -> tuple[KeyPath, str, str]:
    """Return an error of the models as path, message and mend."""
    path = _path(details)
    tell = _bad_name if details["loc"][-1] == "[key]" else _TELL.get(details["type"], _wrong_value)
    return path, *tell(path, details)


def _path(details: ErrorDetails) -> KeyPath:
    steps: list[Hashable] = [step for step in details["loc"] if step != "[key]"]
    if steps[0] == "backends":
        if len(steps) > 2:
            del steps[2]  # the type of the backend, which is no key
        if details["type"].startswith("union_tag"):
            steps.append("type")
    return tuple(steps)


def _bad_name(path: KeyPath, _details: ErrorDetails) -> tuple[str, str]:
    name = path[-1]
    if path[0] == "splits":
        meant = _OTHER_NAMES_OF_SPLITS.get(str(name).lower())
        hint = f"Did you mean {meant}?" if meant else near_miss(name, ("train", "val", "test"))
        return f"There is no split {shown(name)}; the splits are train, val and test.", hint or "Delete it."
    return f"A name must be a text that is not empty, not {shown(name)}.", text_mend(name)


def _unknown_key(path: KeyPath, details: ErrorDetails) -> tuple[str, str]:
    if path[0] == "backends":
        backend_type = str(details["loc"][2])
        owner, known = f"A backend of type {backend_type}", BACKEND_MODELS[backend_type].model_fields
    else:
        owner, known = str(path[0]), _SECTIONS[str(path[0])].model_fields
    near = near_miss(path[-1], known)
    return f"{owner} has no such key.", near or f"It has {', '.join(known)}."


def _missing(path: KeyPath, _details: ErrorDetails) -> tuple[str, str]:
    return "Is missing.", f"Give it one of {', '.join(BACKEND_MODELS)}." if path[-1] == "type" else "Give it a text."


def _unknown_type(_path: KeyPath, details: ErrorDetails) -> tuple[str, str]:
    tag = details["ctx"]["tag"]
    hint = f"{near_miss(tag, BACKEND_MODELS)} There are {', '.join(BACKEND_MODELS)}.".lstrip()
    return f"There is no type of backend {shown(tag)}.", hint


def _own_sentence(_path: KeyPath, details: ErrorDetails) -> tuple[str, str]:
    return details["ctx"]["sentence"], details["ctx"]["hint"]


def _wrong_value(_path: KeyPath, details: ErrorDetails) -> tuple[str, str]:
    kind, value = details["type"], details["input"]
    context = {
        name: one.replace("'", "") if name == "expected" else one for name, one in details.get("ctx", {}).items()
    }
    wanted = _WANTED[kind].format(**context)
    if value is None:
        return f"Must be {wanted}, and has no value.", "Give it one, or delete the line."
    return f"Must be {wanted}, not {shown(value)}.", _mend(kind, value, context)


def _mend(kind: str, value: object, context: Mapping[str, Any]) -> str:
    if kind == "literal_error":
        choices = context["expected"].replace(" or ", ", ").split(", ")
        return "Did you mean cuda?" if value == "gpu" and "cuda" in choices else near_miss(value, choices)
    return _MENDS[kind](value) if kind in _MENDS else ""


def _list_mend(value: object) -> str:
    return f"Write [{value}]." if isinstance(value, str) and value.isidentifier() else ""


_WANTED: Mapping[str, str] = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "tuple_type": "a list",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
    "greater_than": "above {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "less_than": "below {lt:g}",
    "less_than_equal": "at most {le:g}",
    "literal_error": "{expected}",
}
_MENDS: Mapping[str, Callable[[object], str]] = {
    "bool_type": truth_mend,
    "int_type": number_mend,
    "float_type": number_mend,
    "string_type": text_mend,
    "tuple_type": _list_mend,
}


_TELL: Mapping[str, Callable[[KeyPath, ErrorDetails], tuple[str, str]]] = {
    "sentence": _own_sentence,
    "extra_forbidden": _unknown_key,
    "missing": _missing,
    "union_tag_not_found": _missing,
    "union_tag_invalid": _unknown_type,
}


def _check_splits(block: ReadBlock, findings: Findings) -> None:
    written = block.raw.get("splits")
    if not isinstance(written, dict):
        return
    if "train" not in written:
        findings.add((BLOCK, "splits", "train"), "Is missing.", "Give it a weight: models learn from it.")
    elif block.training.splits.keys() == written.keys() and sum(block.training.splits.values()) <= 0:
        findings.add((BLOCK, "splits"), "The weights add up to 0.", "Give at least train a weight above 0.")


def _check_backends(block: ReadBlock, findings: Findings) -> None:
    backends = block.raw_section("backends")
    reserved = backends.get(LOCAL)
    if isinstance(reserved, dict) and reserved.get("type") not in (None, LOCAL):
        findings.add((BLOCK, "backends", LOCAL), f"{LOCAL} is this machine.", "Give the backend another name.")
    if "backend" in block.raw:
        check_backend_name((BLOCK, "backend"), block.raw["backend"], block, findings)


def check_backend_name(path: KeyPath, name: object, block: ReadBlock, findings: Findings) -> None:
    """Note a problem where a key names a backend that the study does not have. Of what is no text, nothing is said."""
    known = (LOCAL, *map(str, block.raw_section("backends")))
    if isinstance(name, str) and name and name not in known:
        near = near_miss(name, known)
        findings.add(path, f"There is no backend {shown(name)}.", near or f"There are {', '.join(known[:20])}.")


def _check_exclusive(block: ReadBlock, findings: Findings) -> None:
    for section, key, other in (("writeback", "target_precision", "min_confidence"), ("tiling", "mpp", "level")):
        written = block.raw_section(section)
        if written.get(key) is not None and written.get(other) is not None:
            findings.add((BLOCK, section, key), f"Stands in place of {other}, which is given too.", "Keep one of them.")


def _warn_of_unknown(raw: Mapping[str, Any], model: type[BaseModel], path: KeyPath, findings: Findings) -> None:
    for key in at_most(key for key in raw if key not in model.model_fields):
        near = near_miss(key, model.model_fields)
        findings.warn((BLOCK, *path, key), "No such key, so it changes nothing.", near or "Delete it.")
