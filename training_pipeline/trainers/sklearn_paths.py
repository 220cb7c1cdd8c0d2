"""Estimators named by dotted path in a study's config: which may be named, and how they are made.

A path is a way of running code, so it leads to a class of scikit-learn, or of a package that the study allows by name,
and to nothing else: the part before the class must be a module that can be imported (no attribute is walked), and the
class must itself be defined in an allowed package, so that names which a module merely imported lead nowhere.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import Any

from training_pipeline.trainers.errors import WorkerError

ALWAYS_ALLOWED = ("sklearn",)


class Role(StrEnum):
    """What an estimator is needed for."""

    CLASSIFIER = "classifier"
    REGRESSOR = "regressor"
    VECTORIZER = "vectorizer"


@dataclass(frozen=True)
class EstimatorSpec:
    """An estimator to make: the class at `path` with `kwargs`; `seed` where it takes a random_state."""

    path: str
    kwargs: Mapping[str, Any]
    role: Role
    seed: int
    allowed_modules: tuple[str, ...] = ()

    def make(self) -> Any:
        """Return a new, unfitted estimator.

        Raises WorkerError, naming the path: `bad_params` where it is not allowed, is not there, is no estimator of
        this role or does not take the kwargs; `missing_dependency` where an allowed package is not installed.
        """
        found = _class_at(self.path, self.allowed_modules)
        names, takes_any = _takes(found)
        unknown = [name for name in self.kwargs if name not in names]
        if unknown and not takes_any:
            raise WorkerError(
                "bad_params", f"{self.path} does not take {', '.join(unknown)}; it takes {', '.join(names)}."
            )
        kwargs = {name: _as_taken(value, names.get(name)) for name, value in self.kwargs.items()}
        if "random_state" in names:
            kwargs.setdefault("random_state", self.seed)
        try:
            estimator = found(**kwargs)
        except (TypeError, ValueError) as error:
            raise WorkerError("bad_params", f"{self.path} cannot be made with {dict(self.kwargs)}: {error}.") from error
        _check_role(estimator, self.path, self.role)
        return estimator


def is_allowed(module: str, allowed_modules: tuple[str, ...]) -> bool:
    """Return whether a module is scikit-learn's, or is or lies in one of `allowed_modules`."""
    return any(module == name or module.startswith(f"{name}.") for name in (*ALWAYS_ALLOWED, *allowed_modules))


def names_a_class(path: str, allowed_modules: tuple[str, ...]) -> bool:
    """Return whether a dotted path leads to a class that is scikit-learn's or of a package in `allowed_modules`."""
    try:
        _class_at(path, allowed_modules)
    except WorkerError:
        return False
    return True


def _class_at(path: str, allowed_modules: tuple[str, ...]) -> Any:
    module_name, _, class_name = path.rpartition(".")
    if not is_allowed(module_name, allowed_modules):
        allowed = ", ".join((*ALWAYS_ALLOWED, *allowed_modules))
        raise WorkerError(
            "bad_params",
            f"{path!r} is not allowed: a dotted path may lead into {allowed}.",
            "Other packages are named in model_training.allowed_modules.",
        )
    try:
        module = import_module(module_name)
    except ImportError as error:
        raise _not_importable(path, module_name, error) from error
    found = getattr(module, class_name, None)
    if found is None:
        raise WorkerError("bad_params", f"There is no {path}: {module_name} has no {class_name!r}.")
    if not inspect.isclass(found) or not is_allowed(found.__module__, allowed_modules):
        raise WorkerError("bad_params", f"{path} is no class of {module_name.partition('.')[0]}.")
    return found


def _not_importable(path: str, module_name: str, error: ImportError) -> WorkerError:
    package = module_name.partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and error.name == package:
        return WorkerError(
            "missing_dependency", f"{path} needs the package {package}, which is not installed on this machine."
        )
    return WorkerError("bad_params", f"There is no {path}: {error}.")


def _takes(found: Any) -> tuple[dict[str, Any], bool]:
    """Return the constructor's parameters with their defaults, and whether it takes any others as well."""
    parameters = inspect.signature(found).parameters.values()
    named = {
        entry.name: entry.default
        for entry in parameters
        if entry.kind in (entry.POSITIONAL_OR_KEYWORD, entry.KEYWORD_ONLY)
    }
    return named, any(entry.kind is entry.VAR_KEYWORD for entry in parameters)


def _as_taken(value: Any, default: Any) -> Any:
    """Return a list as a tuple where the constructor's default is one: YAML and JSON have no tuples."""
    return tuple(value) if isinstance(value, list) and isinstance(default, tuple) else value


def _check_role(estimator: Any, path: str, role: Role) -> None:
    from sklearn.base import is_classifier, is_regressor  # noqa: PLC0415  imported where it trains

    if role is Role.VECTORIZER:
        fits = hasattr(estimator, "fit_transform") and hasattr(estimator, "transform")
    else:
        fits = bool((is_classifier if role is Role.CLASSIFIER else is_regressor)(estimator))
    if not fits:
        raise WorkerError("bad_params", f"{path} is no {role}.")
