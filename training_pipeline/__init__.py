"""The training loop of an annotation study: labels in, a scored model and traceable pre-labels out."""

__version__ = "0.1.0"
