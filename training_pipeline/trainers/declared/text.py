"""Trainers of transformers on labelled text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from training_pipeline.trainers.adaptation import Dp, Lora
from training_pipeline.trainers.declaration import Declaration
from training_pipeline.trainers.declared.fitting import TransformerFitting
from training_pipeline.trainers.params import param

_LORA = "Fit an adapter in place of the whole model: true, or a map of its settings"


@dataclass(frozen=True)
class SetFitParams:
    """The params of setfit."""

    model_name: str = param(
        "A sentence-transformers model: its name on the Hub or a folder", "sentence-transformers/all-MiniLM-L6-v2"
    )
    epochs: float = param("How often the pairs are gone through", 1.0, above=0)
    batch_size: int = param("Pairs in one step", 16, minimum=1)
    learning_rate: float = param("Size of a step", 2e-5, above=0)
    max_pairs: int = param(
        "The most pairs that are made of the train items; they grow with the square", 20_000, minimum=1
    )
    max_length: int | None = param("Tokens of an item that are read. null: what the model takes", None, minimum=1)
    min_instances: int = param("The fewest items in the train split that a run goes ahead with", 10, minimum=1)


@dataclass(frozen=True)
class HfTextClassificationParams(TransformerFitting):
    """The params of hf-text-classification."""

    model_name: str = param("A model with an encoder: its name on the Hub or a folder", "answerdotai/ModernBERT-base")
    class_weights: bool | Mapping[str, float] = param(
        "Weigh classes in the loss: true weighs rare ones up, a map gives each label its weight", False
    )
    lora: bool | Lora = param(_LORA, False)
    dp: Dp | None = param("Fit with differential privacy: a map of its settings", None)


@dataclass(frozen=True)
class HfTokenClassificationParams(TransformerFitting):
    """The params of hf-token-classification."""

    model_name: str = param("A model with an encoder: its name on the Hub or a folder", "answerdotai/ModernBERT-base")
    stride: int = param("Tokens that neighbouring windows of a long text share", 64, minimum=0)
    lora: bool | Lora = param(_LORA, False)


DECLARATIONS = (
    Declaration(
        name="setfit",
        summary="Sentence embeddings fitted on pairs of items, for few labels",
        kinds=("nominal", "multilabel"),
        libraries=("setfit",),
        licence="Apache-2.0",
        keeps_best_epoch=False,
        params_class=SetFitParams,
    ),
    Declaration(
        name="hf-text-classification",
        summary="A transformer with a head that classifies whole texts",
        kinds=("nominal", "ordinal", "multilabel"),
        libraries=("torch", "transformers", "peft"),
        licence="Apache-2.0",
        keeps_best_epoch=True,
        params_class=HfTextClassificationParams,
    ),
    Declaration(
        name="hf-token-classification",
        summary="A transformer that marks spans in texts",
        kinds=("span",),
        libraries=("torch", "transformers", "peft"),
        licence="Apache-2.0",
        keeps_best_epoch=True,
        params_class=HfTokenClassificationParams,
    ),
)
