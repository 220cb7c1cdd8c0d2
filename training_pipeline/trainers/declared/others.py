"""Trainers on molecules, and those that ask a model which stands elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from training_pipeline.trainers.declaration import Declaration
from training_pipeline.trainers.params import param

_ANSWERED = ("nominal", "ordinal", "multilabel", "text")
_SCORED = ("nominal", "ordinal", "multilabel", "continuous", "text", "span", "geometry")


@dataclass(frozen=True)
class RdkitPropertyParams:
    """The params of rdkit-property."""

    features: str = param("What is computed of a molecule", "fingerprint", choices=("fingerprint", "descriptors"))
    radius: int = param("Bonds around each atom that a fingerprint sees", 2, minimum=0)
    n_bits: int = param("Length of a fingerprint", 2048, minimum=16)
    model: str = param("What learns from it", "forest", choices=("forest", "linear", "boosting"))
    model_kwargs: Mapping[str, Any] = param("Arguments of the scikit-learn estimator", {})
    min_instances: int = param("The fewest items in the train split that a run goes ahead with", 10, minimum=1)


@dataclass(frozen=True)
class Asking:
    """How a model elsewhere is asked."""

    batch_size: int = param("Items in one request", 8, minimum=1)
    timeout_s: float = param("Seconds that a request may take", 60.0, above=0)
    retries: int = param("How often a request that failed is sent again", 3, minimum=0)
    max_requests: int | None = param("The most requests of a run. null: no limit", None, minimum=1)


@dataclass(frozen=True)
class DecisionPromptParams(Asking):
    """The params of decision-prompt."""

    endpoint: str | None = param("URL of an OpenAI-compatible API", None, config_only=True)
    model_name: str | None = param("The model's name at that endpoint", None)
    api_key_env: str | None = param("The environment variable that holds the key", None, config_only=True)
    instructions: str | None = param("What the model is told. null: the schema's description and labels", None)
    few_shot: int = param("Train items shown as examples", 0, minimum=0)
    temperature: float = param("How freely the model answers", 0.0, minimum=0)
    max_new_tokens: int = param("The most tokens of an answer", 64, minimum=1)
    max_cost: float | None = param("The most a run may cost, in the endpoint's currency. null: no limit", None, above=0)


@dataclass(frozen=True)
class DecisionCalibrateParams:
    """The params of decision-calibrate."""

    method: str = param("How confidences are fitted", "isotonic", choices=("isotonic", "sigmoid", "temperature"))
    source: str = param(
        "Whose answers: those of the newest decision-prompt run, or predictions that came with the data",
        "decision-prompt",
        choices=("decision-prompt", "supplied"),
    )
    min_instances: int = param("The fewest labelled items that a run goes ahead with", 50, minimum=1)


@dataclass(frozen=True)
class BridgeHttpParams(Asking):
    """The params of bridge-http."""

    endpoint: str | None = param("URL that items are posted to", None, config_only=True)
    api_key_env: str | None = param("The environment variable that holds the key", None, config_only=True)
    headers: Mapping[str, str] = param("Headers sent with each request", {}, config_only=True)


@dataclass(frozen=True)
class BridgeCommandParams:
    """The params of bridge-command."""

    command: tuple[str, ...] | None = param(
        "The program and its arguments, run without a shell; items go in as JSON lines, answers come out",
        None,
        config_only=True,
    )
    timeout_s: float | None = param("Seconds that the program may take. null: max_wall_seconds", None, above=0)


DECLARATIONS = (
    Declaration(
        name="rdkit-property",
        summary="A scikit-learn model over what RDKit computes of a molecule (SMILES)",
        kinds=("nominal", "continuous"),
        libraries=("rdkit", "sklearn"),
        licence="BSD-3-Clause",
        keeps_best_epoch=False,
        params_class=RdkitPropertyParams,
    ),
    Declaration(
        name="decision-prompt",
        summary="A language model behind an API that answers the schema's question; nothing is fitted",
        kinds=_ANSWERED,
        libraries=("httpx",),
        licence="BSD-3-Clause",
        keeps_best_epoch=False,
        params_class=DecisionPromptParams,
    ),
    Declaration(
        name="decision-calibrate",
        summary="Confidences of given answers fitted to people's labels",
        kinds=_ANSWERED,
        libraries=("sklearn",),
        licence="BSD-3-Clause",
        keeps_best_epoch=False,
        params_class=DecisionCalibrateParams,
        local_only=True,
    ),
    Declaration(
        name="bridge-http",
        summary="Predictions of a model that is served elsewhere",
        kinds=_SCORED,
        libraries=("httpx",),
        licence="BSD-3-Clause",
        keeps_best_epoch=False,
        params_class=BridgeHttpParams,
    ),
    Declaration(
        name="bridge-command",
        summary="Predictions of a program of your own",
        kinds=_SCORED,
        libraries=(),
        licence="your program's own",
        keeps_best_epoch=False,
        params_class=BridgeCommandParams,
    ),
)
