"""What the block says, held against the rest of the study: its schemas, the trainers, the annotation server's keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from training_pipeline.study.backends import LOCAL
from training_pipeline.study.block import ReadBlock, check_backend_name
from training_pipeline.study.document import KeyPath
from training_pipeline.study.problems import BLOCK, Findings, at_most
from training_pipeline.study.schemas import Schema
from training_pipeline.study.sections import Section
from training_pipeline.trainers import registry
from training_pipeline.trainers.params import check_params
from training_pipeline.trainers.registry import TrainerDescription
from training_pipeline.trainers.wording import near_miss, shown

WRITEBACK: KeyPath = (BLOCK, "writeback")
AUTO_RETRAIN: KeyPath = (BLOCK, "auto_retrain")
SERVERS_FIELD = "predictions"
"""The field of pre-labels where the server's own block names none."""

_LATER_WRITEBACK_KEYS = {
    "live": "Pre-labels reach annotators when the server starts.",
    "gate": "A run is refused while it is set.",
    "target_precision": "A run is refused while it is set.",
}


def check_against_study(block: ReadBlock, schemas: Sequence[Schema], top: Section) -> None:
    """Note every problem and warning that the block's own keys do not show; `top` is the whole config."""
    findings = top.findings
    known = [schema.name for schema in schemas if schema.name]
    _check_schema_names(block, "writeback", known, findings)
    _check_trainer_params(block, findings)
    _check_field(block, top)
    _warn_of_writeback(block, findings)
    if block.raw_section("auto_retrain").get("enabled") not in (None, False):
        _check_schema_names(block, "auto_retrain", known, findings)
        _check_automatic_runs(block, schemas, findings)


def _check_schema_names(block: ReadBlock, section: str, known: Sequence[str], findings: Findings) -> None:
    if not known:
        return  # what is wrong is with annotation_schemes then, and said there
    names = frozenset(known)
    for path, name in at_most((path, name) for path, name in block.names(section, "schemas") if name not in names):
        hint = near_miss(name, known[:1_000]) or f"There are {', '.join(map(shown, known[:20]))}."
        findings.add(path, f"The study has no schema {shown(name)}.", hint)


def _check_trainer_params(block: ReadBlock, findings: Findings) -> None:
    for name, params in at_most(block.raw_section("trainer_params").items()):
        path = (BLOCK, "trainer_params", name)
        if name not in registry.NAMES:
            if isinstance(name, str) and name:
                hint = near_miss(name, registry.NAMES) or f"There are {', '.join(registry.NAMES)}."
                findings.warn(path, f"There is no trainer {shown(name)}, so this changes nothing.", hint)
        elif isinstance(params, dict):
            _check_params(path, name, params, findings)


def _check_params(path: KeyPath, trainer: str, params: Mapping[Any, Any], findings: Findings) -> None:
    for problem in at_most(check_params(trainer, registry.params_class(trainer), params)):
        findings.add((*path, *problem.path), problem.message, problem.hint)


def _check_field(block: ReadBlock, top: Section) -> None:
    """Pre-labels stand in a field that the server reads, and that it takes away from its comparison group."""
    written = block.raw_section("writeback")
    if not (written.get("schemas") or written.get("field")):
        return
    field = block.training.writeback.field
    pre_annotation = top.section("pre_annotation")
    servers = pre_annotation.text("field", SERVERS_FIELD)
    if pre_annotation.flag("enabled") and servers != field:
        top.findings.add(
            ("pre_annotation", "field"),
            f"Is {shown(servers)}, and {BLOCK}.writeback.field is {shown(field)}: pre-labels would not be seen.",
            "Make both the same.",
        )
    elif holdout_on(top) and servers != field:
        top.findings.add(
            (*WRITEBACK, "field"),
            f"The server hides only the field {shown(servers)} from its comparison group (ai_support.holdout), which "
            f"would see the pre-labels in {shown(field)}.",
            f"Make it {servers}, or set pre_annotation.field to {field}.",
        )


def holdout_on(top: Section) -> bool:
    """Return whether the server keeps a group of annotators and items without pre-labels."""
    return bool(top.section("ai_support").section("holdout").number("fraction"))


def _warn_of_writeback(block: ReadBlock, findings: Findings) -> None:
    writeback = block.training.writeback
    if writeback.schemas and writeback.min_confidence == 0 and writeback.target_precision is None:
        findings.warn(
            (*WRITEBACK, "min_confidence"),
            "Is 0, so that every prediction is shown, however unsure.",
            "0.8 is a starting point; the first held-out score says more.",
        )
    for key, instead in _LATER_WRITEBACK_KEYS.items():
        if getattr(writeback, key) not in (None, False, "none"):
            findings.warn((*WRITEBACK, key), "Is not available in this version.", instead)


def _check_automatic_runs(block: ReadBlock, schemas: Sequence[Schema], findings: Findings) -> None:
    raw, settings = block.raw_section("auto_retrain"), block.training.auto_retrain
    for key, wanted in (("trainer", "a trainer"), ("schemas", "the schemas to learn")):
        if raw.get(key) in (None, []):
            findings.add((*AUTO_RETRAIN, key), "Is missing.", f"Name {wanted}, or set enabled to false.")
    if "backend" in raw:
        check_backend_name((*AUTO_RETRAIN, "backend"), raw["backend"], block, findings)
    if settings.trainer is None:
        return
    if settings.trainer not in registry.NAMES:
        hint = near_miss(settings.trainer, registry.NAMES) or f"There are {', '.join(registry.NAMES)}."
        findings.add((*AUTO_RETRAIN, "trainer"), f"There is no trainer {shown(settings.trainer)}.", hint)
        return
    trainer = registry.describe(settings.trainer)
    _check_learnable(block, trainer, schemas, findings)
    _check_params((*AUTO_RETRAIN, "params"), trainer.name, settings.params, findings)
    if trainer.local_only and not _is_local(block, settings.backend or block.training.backend):
        findings.add((*AUTO_RETRAIN, "backend"), f"{trainer.name} runs on {LOCAL} only.", f"Set it to {LOCAL}.")
    if trainer.needs_accept_licence and raw.get("accept_licence") in (None, False):
        message = f"{trainer.name} is under {trainer.licence}, which must be accepted."
        findings.add((*AUTO_RETRAIN, "accept_licence"), message, "Set it to true if you accept that licence.")
    _warn_of_unready(trainer, findings)


def _check_learnable(
    block: ReadBlock, trainer: TrainerDescription, schemas: Sequence[Schema], findings: Findings
) -> None:
    by_name = {schema.name: schema for schema in schemas}
    for path, name in block.names("auto_retrain", "schemas"):
        schema = by_name.get(name)
        if schema is not None and not trainer.learns(schema.kind, schema.annotation_type):
            what = ", ".join(trainer.annotation_types or trainer.kinds)
            findings.add(
                path,
                f"{trainer.name} cannot learn {shown(name)}, a {schema.annotation_type} schema ({schema.kind}).",
                f"It learns {what}.",
            )


def _is_local(block: ReadBlock, name: str) -> bool:
    backend = block.raw_section("backends").get(name)
    return name == LOCAL or (isinstance(backend, dict) and backend.get("type") == LOCAL)


def _warn_of_unready(trainer: TrainerDescription, findings: Findings) -> None:
    path = (*AUTO_RETRAIN, "trainer")
    if not trainer.available:
        ready = ", ".join(registry.TRAINERS)
        findings.warn(path, f"{trainer.name} is not available in this version.", f"Trainers that run: {ready}.")
    elif trainer.missing:
        missing = ", ".join(trainer.missing)
        findings.warn(
            path, f"{trainer.name} needs packages that are missing here: {missing}.", f"Run {trainer.install}."
        )
