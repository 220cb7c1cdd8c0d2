"""What is wrong with a study's config: every problem as a record, and all of them as one report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TypeVar

from training_pipeline.errors import ConfigError
from training_pipeline.study.document import Document, KeyPath, format_path

T = TypeVar("T")

BLOCK = "model_training"
MOST = 1_000
"""How many problems, or warnings, a report holds: nobody reads more, and a broken file of 10 MB has more."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, or that changes nothing.

    `path` is the key's full path; `file`, `line` and `column` say where it is written, or where its parent is if it is
    missing. `message` says what is wrong and `hint` how to mend it, both in sentences.
    """

    path: str
    message: str
    hint: str = ""
    file: Path | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        """Return it as a paragraph: the key and its place, what is wrong, the mend."""
        return "\n    ".join(filter(None, (self._where(), self.message, self.hint)))

    def in_one_line(self) -> str:
        """Return it as one line."""
        return " ".join(filter(None, (f"{self._where()}:", self.message, self.hint)))

    def _where(self) -> str:
        return f"{self.path} ({self.file.name}, line {self.line}, column {self.column})" if self.file else self.path


@dataclass(frozen=True)
class Report:
    """All that is to say about a config. Problems and warnings stand in the order of the file."""

    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()

    def describe(self) -> str:
        """Return the problems as people read them: in the terminal, in Dagster's UI, in a refused request."""
        n = len(self.problems)
        count = "1 problem" if n == 1 else f"{n} problems" if n < MOST else f"{n} problems or more"
        return "\n\n".join([f"The study's config has {count}.", *map(str, self.problems)])


class InvalidStudyError(ConfigError):
    """A config that can be read and says what cannot work. The message is the whole report."""

    def __init__(self, report: Report) -> None:
        super().__init__(report.describe())
        self.report = report


@dataclass
class Findings:
    """Collects what the checks find.

    `config` is the study's own file; `block` is where the model_training block stands, that file or one of its own.
    `bare` says that the block's file holds its keys without its name above them.
    """

    config: Document | None = None
    block: Document | None = None
    bare: bool = False
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def add(self, path: KeyPath, message: str, hint: str = "", document: Document | None = None) -> None:
        """Note a problem. `document` is the file it stands in, where that is not the one the path belongs to."""
        self._note(self.problems, path, message, hint, document)

    def warn(self, path: KeyPath, message: str, hint: str = "", document: Document | None = None) -> None:
        """Note a warning."""
        self._note(self.warnings, path, message, hint, document)

    def report(self) -> Report:
        """Return what was found so far."""
        return Report(tuple(sorted(self.problems, key=_order)), tuple(sorted(self.warnings, key=_order)))

    def raise_any(self) -> None:
        """Raise InvalidStudyError if there are problems."""
        if self.problems:
            raise InvalidStudyError(self.report())

    def _note(self, among: list[Problem], path: KeyPath, message: str, hint: str, document: Document | None) -> None:
        if len(among) == MOST:
            return
        is_ours = document is None and path[:1] == (BLOCK,)
        found = document or (self.block if is_ours else self.config)
        place = found.place(path[1:] if is_ours and self.bare else path) if found else None
        problem = Problem(
            path=format_path(path),
            message=message,
            hint=hint,
            file=found.path if found else None,
            line=place.line if place else None,
            column=place.column if place else None,
        )
        # Two checks may read the same key.
        if problem not in among:
            among.append(problem)


def _order(problem: Problem) -> tuple[str, int, int]:
    return (str(problem.file), problem.line or 0, problem.column or 0)


def at_most(found: Iterable[T]) -> Iterator[T]:
    """Yield what a report has room for, so that no check looks further."""
    return islice(found, MOST)
