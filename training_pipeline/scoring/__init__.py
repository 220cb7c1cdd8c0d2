"""Held-out scores with intervals: one file a family of metrics."""
