"""The web app's addresses, for whoever links to it."""

from __future__ import annotations


def picture_url(run_id: str, name: str) -> str:
    """Return the path under which the app serves `<run directory>/pictures/<name>`."""
    return f"/pictures/{run_id}/{name}"
