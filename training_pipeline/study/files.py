"""Which files a study's config names, and that they are where it may name them."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from training_pipeline.study.document import KeyPath
from training_pipeline.study.problems import Findings
from training_pipeline.study.sections import Section
from training_pipeline.trainers.wording import shown

DATA_SUFFIXES = (".json", ".jsonl", ".csv", ".tsv", ".parquet")


@dataclass(frozen=True)
class DataFile:
    """One file of items. `encoding` is a name that Python knows; parquet has no use for it."""

    path: Path
    encoding: str = "utf-8"


def data_files(top: Section, task_dir: Path) -> Iterator[DataFile]:
    """Yield the files named, then those that lie in data_directory now, sorted by name. None of them is opened."""
    if "data_files" not in top and "data_directory" not in top:
        top.add("data_files", "Is missing.", "List the files that hold the items, or name a data_directory.")
    for key, entry in top.entries("data_files"):
        section = Section(entry if isinstance(entry, dict) else {"path": entry}, top.findings, key)
        name = section.text("path")
        path = inside(task_dir, name, (*key, "path"), top.findings)
        if name and path.suffix.lower() not in DATA_SUFFIXES:
            suffixes = ", ".join(DATA_SUFFIXES)
            top.findings.add(key, f"Is {shown(path.name)}.", f"Items are read from {suffixes} files.")
        yield DataFile(path, _encoding(section, "encoding"))
    if "data_directory" in top:
        yield from _files_of_directory(top, task_dir)


def inside(task_dir: Path, name: str, key: KeyPath, findings: Findings) -> Path:
    """Return the absolute path of a file of the project; one that leaves it is noted, as the server refuses it too.

    A link inside the project that leads elsewhere was put there on purpose and is followed.
    """
    path = absolute(task_dir, name.replace("\0", ""))
    if "\0" in name:
        findings.add(key, f"Is {shown(name)}, which is no path.")
    elif not path.is_relative_to(task_dir) and not _real(path).is_relative_to(_real(task_dir)):
        findings.add(key, f"Is {shown(name)}, which is outside the project {task_dir}.", "Keep it inside.")
    return path


def absolute(base: Path, name: str) -> Path:
    """Return the absolute path of a name below `base`, links left as they are."""
    return Path(os.path.abspath(base / name))  # noqa: PTH100 (resolve() would leave a study that is linked to)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))  # unlike resolve(), at ease with links that lead in a circle


def _files_of_directory(top: Section, task_dir: Path) -> Iterator[DataFile]:
    directory = inside(task_dir, top.text("data_directory"), ("data_directory",), top.findings)
    encoding = _encoding(top, "data_directory_encoding")
    try:
        found = sorted(directory.iterdir())
    except OSError as error:
        top.add("data_directory", f"Is {directory}, which cannot be listed: {error.strerror}.", "Name a folder.")
        return
    for path in found:
        if path.suffix.lower() in DATA_SUFFIXES and path.is_file():
            yield DataFile(path, encoding)


def _encoding(section: Section, name: str) -> str:
    encoding = section.text(name, "utf-8")
    try:
        codecs.lookup(encoding)
    except (LookupError, ValueError):
        section.add(name, f"Is {shown(encoding)}, which is no encoding that Python knows.", "utf-8 is the usual one.")
    return encoding
