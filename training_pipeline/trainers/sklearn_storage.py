"""A fitted text model on disk: estimators through skops, which runs no code on loading, and a card in JSON.

A vectorizer's vocabulary is kept as a JSON list beside it: skops writes a file entry per term, which takes seconds and
hundreds of megabytes for a vocabulary of a million.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training_pipeline.bundle.files import json_document, json_line, write_file
from training_pipeline.trainers.errors import WorkerError
from training_pipeline.trainers.sklearn_paths import names_a_class

FORMAT_VERSION = 1
MODEL_FILE = "model.skops"
CARD_FILE = "model.json"
VOCABULARY_FILE = "vocabulary.json"
# Beside what skops trusts by itself: numbers, texts, containers, numpy's arrays, scalar types and random states. What
# it trusts of functions are numpy's and scipy's universal ones, which calculate and do nothing else.
_TRUSTED_TYPES = frozenset(
    {
        "scipy.sparse._csc.csc_array",
        "scipy.sparse._csc.csc_matrix",
        "scipy.sparse._csr.csr_array",
        "scipy.sparse._csr.csr_matrix",
    }
)


@dataclass(frozen=True)
class StoredModel:
    """What is kept of a text model: `estimators` may hold None for labels that have a constant answer."""

    kind: str
    labels: tuple[str, ...]
    scale: tuple[float, float] | None
    temperature: float | None
    constants: tuple[float | None, ...]
    vectorizer: Any
    estimators: list[Any]


def save_model(model: StoredModel, directory: Path) -> None:
    """Write the model into `directory`. Raises WorkerError `fit_failed` for an estimator that skops cannot write."""
    import skops.io  # noqa: PLC0415  half a second, which the fit need not wait for

    vectorizer, vocabulary = _without_vocabulary(model.vectorizer)
    try:
        content = skops.io.dumps({"vectorizer": vectorizer, "estimators": model.estimators})
    except (TypeError, ValueError, AttributeError) as error:
        raise WorkerError("fit_failed", f"The fitted model cannot be saved by skops: {error}.") from error
    write_file(directory / MODEL_FILE, content)
    if vocabulary is not None:
        write_file(directory / VOCABULARY_FILE, json_line(vocabulary))
    card = {
        "v": FORMAT_VERSION,
        "kind": model.kind,
        "labels": model.labels,
        "scale": model.scale,
        "temperature": model.temperature,
        "constants": model.constants,
        "vocabulary": None if vocabulary is None else VOCABULARY_FILE,
    }
    write_file(directory / CARD_FILE, json_document(card))


def load_model(directory: Path, allowed_modules: tuple[str, ...]) -> StoredModel:
    """Read what `save_model` wrote.

    Raises WorkerError `reload_failed`, before anything is loaded, for a model of a newer format and for what is not
    trusted, naming it: all that is neither a class of scikit-learn or of a package in `allowed_modules` nor one of the
    few types of numbers and arrays that they keep. A function is never trusted, whose ever it is.
    """
    card = json.loads((directory / CARD_FILE).read_bytes())
    if card["v"] > FORMAT_VERSION:
        raise WorkerError(
            "reload_failed",
            f"The model in {directory} is of format {card['v']}; this machine reads up to {FORMAT_VERSION}.",
            "Update training-pipeline here.",
        )
    stored = _load_trusted((directory / MODEL_FILE).read_bytes(), allowed_modules)
    vectorizer = stored["vectorizer"]
    if card["vocabulary"] is not None:
        terms = json.loads((directory / card["vocabulary"]).read_bytes())
        vectorizer.vocabulary_ = {term: index for index, term in enumerate(terms)}
    scale = card["scale"]
    return StoredModel(
        kind=card["kind"],
        labels=tuple(card["labels"]),
        scale=None if scale is None else (scale[0], scale[1]),
        temperature=card["temperature"],
        constants=tuple(card["constants"]),
        vectorizer=vectorizer,
        estimators=stored["estimators"],
    )


def _load_trusted(content: bytes, allowed_modules: tuple[str, ...]) -> Any:
    import skops.io  # noqa: PLC0415  half a second, which the fit need not wait for

    unknown = skops.io.get_untrusted_types(data=content)
    refused = [name for name in unknown if name not in _TRUSTED_TYPES and not names_a_class(name, allowed_modules)]
    if refused:
        raise WorkerError(
            "reload_failed",
            f"The model holds types that are not trusted: {', '.join(refused)}.",
            "Classes of scikit-learn are, and those of the packages in model_training.allowed_modules; no function is.",
        )
    return skops.io.loads(content, trusted=unknown)


def _without_vocabulary(vectorizer: Any) -> tuple[Any, list[str] | None]:
    """Return the vectorizer without the vocabulary it learned, and the vocabulary's terms in the order of columns."""
    from sklearn.feature_extraction.text import CountVectorizer  # noqa: PLC0415  imported where it trains

    if not isinstance(vectorizer, CountVectorizer):
        return vectorizer, None
    bare = copy.copy(vectorizer)
    bare.vocabulary_ = {}
    return bare, sorted(vectorizer.vocabulary_, key=vectorizer.vocabulary_.__getitem__)
