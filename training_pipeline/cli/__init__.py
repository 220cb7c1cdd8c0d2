"""The command line: one file a command, `main` puts them together."""

from __future__ import annotations

from training_pipeline.cli.main import main

__all__ = ["main"]
