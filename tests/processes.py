"""The processes of this machine, for tests of what is left of a run."""

from __future__ import annotations

from pathlib import Path


def parent_of(pid: int) -> int | None:
    """Return the id of a process's parent; None for a process that is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def processes_with(variable: str) -> list[int]:
    """Return the ids of the living processes that have `variable`, a NAME=VALUE, in their environment, sorted."""
    return _processes("environ", f"{variable}\0")


def processes_naming(text: str) -> list[int]:
    """Return the ids of the living processes whose command line holds `text`, sorted.

    Arguments are separated by NUL characters.
    """
    return _processes("cmdline", text)


def _processes(file: str, text: str) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            content = (folder / file).read_bytes().decode(errors="replace")
            state = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        if text in content and state not in ("Z", "X"):
            found.append(int(folder.name))
    return sorted(found)
