"""The annotators' files: one user_state.json a person, as the annotation server keeps it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training_pipeline.study import jsontext
from training_pipeline.study.config import Study

STATE_NAME = "user_state.json"
LABELS_KEY = "instance_id_to_label_to_value"
SPANS_KEY = "instance_id_to_span_to_value"


@dataclass(frozen=True)
class UserState:
    """What one annotator answered, as stored: {item id: labels} and {item id: spans}.

    The labels of an item are a list of [{schema, name}, value] pairs, which the server writes, or a map of schema to
    {name: value}, which older and other programs write. Its spans are a list of [span, text covered].
    """

    labels: Mapping[str, Any]
    spans: Mapping[str, Any]
    is_machine: bool


class UnreadableStateError(Exception):
    """An annotator's file cannot be read; the message says why."""


def state_files(study: Study) -> list[Path]:
    """Return every annotator's file, sorted by annotator, who is named by the folder; other folders hold none."""
    if not study.output_dir.is_dir():
        return []
    folders = sorted(study.output_dir.iterdir(), key=lambda folder: folder.name)
    return [folder / STATE_NAME for folder in folders if _may_hold_a_state(folder)]


def state_marks(study: Study) -> dict[str, str]:
    """Return, by annotator, what each file shows without being opened: its size, its time and its inode.

    A mark that stays the same means that nobody has written to the file. The mark is empty where we may not look.
    """
    marks: dict[str, str] = {}
    if not study.output_dir.is_dir():
        return marks
    with os.scandir(study.output_dir) as folders:
        for folder in folders:
            try:
                seen = os.stat(f"{folder.path}/{STATE_NAME}")  # noqa: PTH116 - a thousand paths take as long as the rest
            except (FileNotFoundError, NotADirectoryError):
                continue
            except PermissionError:
                marks[folder.name] = ""
            else:
                marks[folder.name] = f"{seen.st_size} {seen.st_mtime_ns} {seen.st_ino}"
    return marks


def _may_hold_a_state(folder: Path) -> bool:
    """Say whether a file is there; a folder that may not be entered counts, so that reading it says so."""
    try:
        return (folder / STATE_NAME).is_file()
    except PermissionError:
        return True


def read_state(path: Path) -> UserState:
    """Read one annotator's file; UnreadableStateError where it cannot be read whole."""
    state = _read_object(path)
    labels, spans = (state.get(key) or {} for key in (LABELS_KEY, SPANS_KEY))
    if not isinstance(labels, dict) or not isinstance(spans, dict):
        raise UnreadableStateError("the answers in it are not kept by item")
    return UserState(labels, spans, is_machine=_is_machine(state.get("origin")))


def _read_object(path: Path) -> dict[str, Any]:
    try:
        state = jsontext.loads(path.read_bytes())
    except OSError as error:
        raise UnreadableStateError(error.strerror or str(error)) from error
    except ValueError as error:
        raise UnreadableStateError(f"not a whole JSON file: {error}") from error
    if not isinstance(state, dict):
        raise UnreadableStateError("it holds no JSON object")
    return state


def _is_machine(origin: object) -> bool:
    """Say whether `origin` marks a machine: the server leaves it empty for people."""
    return bool(origin)
