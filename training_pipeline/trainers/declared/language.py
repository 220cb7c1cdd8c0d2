"""Trainers of models that write: fine-tuning, preferences, images with words."""

from __future__ import annotations

from dataclasses import dataclass

from training_pipeline.trainers.adaptation import Lora
from training_pipeline.trainers.declaration import Declaration
from training_pipeline.trainers.declared.fitting import TransformerFitting
from training_pipeline.trainers.params import param

_LORA = "Fit an adapter in place of the whole model: true, or a map of its settings"
_LIBRARIES = ("torch", "transformers", "trl", "peft")
_MODEL = "Qwen/Qwen2.5-0.5B-Instruct"


@dataclass(frozen=True)
class LlmSftParams(TransformerFitting):
    """The params of llm-sft."""

    model_name: str = param("A causal language model: its name on the Hub or a folder", _MODEL)
    max_new_tokens: int = param("The most tokens of an answer", 128, minimum=1)
    lora: bool | Lora = param(_LORA, False)


@dataclass(frozen=True)
class LlmDpoParams(TransformerFitting):
    """The params of llm-dpo."""

    model_name: str = param("A causal language model: its name on the Hub or a folder", _MODEL)
    beta: float = param("How strongly the model is held to where it started", 0.1, above=0)
    lora: bool | Lora = param(_LORA, False)


@dataclass(frozen=True)
class RewardModelParams(TransformerFitting):
    """The params of reward-model."""

    model_name: str = param("A language model that gets a head: its name on the Hub or a folder", _MODEL)
    lora: bool | Lora = param(_LORA, False)


@dataclass(frozen=True)
class VlmSftParams(TransformerFitting):
    """The params of vlm-sft."""

    model_name: str = param(
        "A model of images and words: its name on the Hub or a folder", "HuggingFaceTB/SmolVLM-256M-Instruct"
    )
    max_new_tokens: int = param("The most tokens of an answer", 128, minimum=1)
    lora: bool | Lora = param(_LORA, False)


DECLARATIONS = (
    Declaration(
        name="llm-sft",
        summary="A language model fitted on answers",
        kinds=("text", "nominal"),
        libraries=_LIBRARIES,
        licence="Apache-2.0",
        keeps_best_epoch=True,
        params_class=LlmSftParams,
    ),
    Declaration(
        name="llm-dpo",
        summary="A language model fitted on preferences between two answers",
        kinds=("nominal", "continuous", "matrix"),
        libraries=_LIBRARIES,
        licence="Apache-2.0",
        keeps_best_epoch=True,
        params_class=LlmDpoParams,
        annotation_types=("pairwise",),
    ),
    Declaration(
        name="reward-model",
        summary="A model that scores answers as people's preferences do",
        kinds=("nominal", "continuous", "matrix"),
        libraries=_LIBRARIES,
        licence="Apache-2.0",
        keeps_best_epoch=True,
        params_class=RewardModelParams,
        annotation_types=("pairwise",),
    ),
    Declaration(
        name="vlm-sft",
        summary="A model of images and words fitted on texts about images",
        kinds=("text",),
        libraries=_LIBRARIES,
        licence="Apache-2.0",
        keeps_best_epoch=True,
        params_class=VlmSftParams,
    ),
)
