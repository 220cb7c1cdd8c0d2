"""Params that several trainers of language models share: LoRA adapters, and differential privacy."""

from __future__ import annotations

from dataclasses import dataclass

from training_pipeline.trainers.params import param


@dataclass(frozen=True)
class Lora:
    """`lora: {...}`: train a small adapter in place of the whole model."""

    r: int = param("Rank of the adapter", 16, minimum=1)
    alpha: float = param("What the adapter's output is scaled by, over r", 32.0, above=0)
    dropout: float = param("Share of the adapter's inputs left out while fitting", 0.05, minimum=0, below=1)
    target_modules: tuple[str, ...] | str | None = param(
        "Names of the layers that get an adapter, or all-linear. null: those of the model's kind", None
    )
    modules_to_save: tuple[str, ...] | None = param(
        "Names of the layers trained and saved whole. null: the head that a classifier needs", None
    )
    quantize: str | None = param(
        "Load the base model with fewer bits: 4bit (NF4, double quantisation) or 8bit", None, choices=("4bit", "8bit")
    )


@dataclass(frozen=True)
class Dp:
    """`dp: {...}`: fit with differential privacy, so that no single item shows in the model."""

    epsilon: float = param("The privacy budget; the smaller, the more private", 8.0, above=0, maximum=100)
    delta: float | None = param(
        "The chance that the budget does not hold. null: 1 over the number of train items to the power 1.1",
        None,
        above=0,
        below=1,
    )
    max_grad_norm: float = param("What each item's gradient is clipped to", 1.0, above=0)
