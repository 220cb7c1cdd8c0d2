"""Params that every trainer of a neural network has."""

from __future__ import annotations

from dataclasses import dataclass

from training_pipeline.trainers.params import param


@dataclass(frozen=True)
class Fitting:
    """How long a network is fitted, and in which steps."""

    epochs: float = param("How often the train split is gone through", 3.0, above=0)
    batch_size: int = param("Items in one step", 16, minimum=1)
    gradient_accumulation: int = param("Steps whose gradients are added up before the weights change", 1, minimum=1)
    learning_rate: float | None = param("Size of a step. null: what suits the model and the adapter", None, above=0)
    weight_decay: float = param("How strongly weights are pulled to 0", 0.01, minimum=0)
    warmup: float = param(
        "Share of all steps over which the learning rate grows to its full size", 0.1, minimum=0, below=1
    )
    early_stopping: int | None = param(
        "Epochs without a better score on val after which fitting ends. null: never", None, minimum=1
    )
    min_instances: int = param("The fewest items in the train split that a run goes ahead with", 10, minimum=1)


@dataclass(frozen=True)
class TransformerFitting(Fitting):
    """What a transformer is fitted with besides."""

    max_length: int | None = param("Tokens of an item that are read. null: what the model takes", None, minimum=1)
    gradient_checkpointing: bool = param("Compute activations twice rather than keep them: slower, less memory", False)
