"""What is wrong with training data on disk."""

from __future__ import annotations


class BundleError(Exception):
    """Training data cannot be written or read; the message says which file or item, and what to do."""
