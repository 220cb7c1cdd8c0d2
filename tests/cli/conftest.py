"""Fixtures of the command line's tests."""

from __future__ import annotations

from tests.cli.running import going

__all__ = ["going"]
