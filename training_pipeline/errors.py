"""The errors that people meet: a sentence that says what happened, to what, and what to do; and a code for programs."""

from __future__ import annotations


class PipelineError(Exception):
    """Something was refused or failed for a reason that a person can act on.

    `code` is stable and short (`unknown_schema`, `busy`, ...); the message is the whole text a person sees.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class ConfigError(PipelineError):
    """The study's config cannot be read, or says something that cannot work."""

    def __init__(self, message: str) -> None:
        super().__init__("bad_config", message)
