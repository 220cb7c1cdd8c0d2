"""The processes of this machine, for tests of what is left of a run."""

from __future__ import annotations

from pathlib import Path


def parent_of(pid: int) -> int | None:
    """Return the id of a process's parent; None for a process that is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def processes_naming(text: str) -> list[int]:
    """Return the ids of the living processes whose command line holds `text`, sorted.

    Arguments are separated by NUL characters.
    """
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            command = (folder / "cmdline").read_bytes().decode(errors="replace")
            state = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if text in command and state not in ("Z", "X"):
            found.append(int(folder.name))
    return sorted(found)
