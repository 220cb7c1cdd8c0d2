"""A study as its config describes it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from training_pipeline.errors import ConfigError, PipelineError
from training_pipeline.study.block import ReadBlock, read_block
from training_pipeline.study.cross_checks import SERVERS_FIELD, check_against_study, holdout_on
from training_pipeline.study.document import Document, read_document
from training_pipeline.study.files import DataFile, absolute, data_files, inside
from training_pipeline.study.problems import BLOCK, Findings, InvalidStudyError, Problem, Report
from training_pipeline.study.schemas import Schema, read_schemas
from training_pipeline.study.sections import Section
from training_pipeline.study.server_block import check_server_block
from training_pipeline.study.training import TrainingConfig

CONFIG_NAME = "config.yaml"
TRAINING_NAME = "training.yaml"
TRAINING_VARIABLE = "TRAINING_PIPELINE_TRAINING"
DATABASE_NAME = "project.sqlite"


@dataclass(frozen=True)
class Study:
    """One annotation project. All paths are absolute; `name` is the project column of the ledger's tables.

    `prelabel_field` is the item field that carries pre-labels, and `predictions_file` the file of those that came with
    the data. `warnings` are about what can work and is probably not meant.
    """

    config_path: Path
    name: str
    task_dir: Path
    output_dir: Path
    id_key: str
    text_key: str
    data_files: tuple[DataFile, ...]
    schemas: tuple[Schema, ...]
    training: TrainingConfig
    prelabel_field: str
    predictions_file: Path | None
    holdout_on: bool
    machine_annotators: frozenset[str]
    config: Mapping[str, Any]
    warnings: tuple[Problem, ...] = ()

    @property
    def training_dir(self) -> Path:
        """Where everything that runs leave behind is kept."""
        return self.output_dir / "training"

    @property
    def runs_dir(self) -> Path:
        """One directory a run."""
        return self.training_dir / "runs"

    @property
    def database(self) -> Path:
        """The study's SQLite database, which the annotation server shares."""
        return self.task_dir / DATABASE_NAME

    def schema(self, name: str) -> Schema:
        """Return the schema of that name; PipelineError `unknown_schema` that lists the names there are."""
        for schema in self.schemas:
            if schema.name == name:
                return schema
        names = ", ".join(schema.name for schema in self.schemas)
        raise PipelineError("unknown_schema", f"{self.config_path} has no schema {name!r}; it has {names}")


@dataclass(frozen=True)
class CheckedStudy:
    """A study's config and all that is to say about it; `study` is None where there are problems."""

    config_path: Path
    report: Report
    study: Study | None


def load_study(path: str | Path, training_file: Path | None = None) -> Study:
    """Return the study that a config describes.

    Raises what `check_study` raises, and InvalidStudyError, with every problem, where the config says what cannot work.
    """
    checked = check_study(path, training_file)
    if checked.study is None:
        raise InvalidStudyError(checked.report)
    return checked.study


def study_of_environment() -> Study:
    """Read the study that `TRAINING_PIPELINE_CONFIG` names, else `./config.yaml`; raises as `load_study`."""
    return load_study(os.environ.get("TRAINING_PIPELINE_CONFIG") or CONFIG_NAME)


def check_study(path: str | Path, training_file: Path | None = None) -> CheckedStudy:
    """Read a study's config, the YAML file or the folder that holds config.yaml, and check all of it.

    The model_training block is that of `training_file`, else of the file that TRAINING_PIPELINE_TRAINING names, else of
    training.yaml beside the config, else of the config itself. Items and answers are not read: the time does not depend
    on how many there are. ConfigError, naming file, line and column, where a file cannot be read or is not YAML.
    """
    config = read_document(_config_path(Path(path)))
    findings = _sources(config, training_file)
    block = read_block(_raw_block(findings), findings)
    study = _study(config, block, findings)
    if findings.block is not None and findings.block is not config:
        check_server_block(config, block.training.writeback, findings.block.path.name, findings)
    _warn_of_duplicates(findings)
    report = findings.report()
    return CheckedStudy(config.path, report, None if report.problems else replace(study, warnings=report.warnings))


def _config_path(path: Path) -> Path:
    path = Path(os.path.abspath(path))  # noqa: PTH100 (a link to a config stands where the link stands)
    if path.is_dir():
        path = path / CONFIG_NAME
    if not path.is_file():
        raise ConfigError(f"{path} is not there; name the study's YAML file, or its folder")
    return path


def _sources(config: Document, training_file: Path | None) -> Findings:
    """Return findings that know where the block stands: a file of its own may hold it bare or under its name."""
    named = training_file or os.environ.get(TRAINING_VARIABLE)
    path = Path(named) if named else config.path.parent / TRAINING_NAME
    if not named and not path.is_file():
        return Findings(config, config)
    block = read_document(path.absolute())
    return Findings(config, block, bare=BLOCK not in block.values)


def _raw_block(findings: Findings) -> Mapping[Any, Any]:
    """Return the block as it is written."""
    block = findings.block
    if block is None or findings.bare:
        return {} if block is None else block.values
    if block is not findings.config:
        for key in block.values:
            if key != BLOCK:
                findings.warn((key,), f"Is not read here: {block.path.name} holds {BLOCK} alone.", document=block)
    return Section(block.values, findings).section(BLOCK).values


def _warn_of_duplicates(findings: Findings) -> None:
    own_file = None if findings.block is findings.config else findings.block
    for document in filter(None, (findings.config, own_file)):
        for twice in document.duplicates:
            lines = f"on lines {twice.first.line} and {twice.last.line}"
            findings.warn(twice.path, f"Is written twice, {lines}; the last one counts.", "Delete one.", document)


def _study(config: Document, block: ReadBlock, findings: Findings) -> Study:
    """Return the study. It is for use only where there are no problems: empty values stand for what was not read."""
    top = Section(config.values, findings)
    task_dir = absolute(config.path.parent, top.text("task_dir", ".").replace("\0", ""))
    item_properties = top.section("item_properties")
    pre_annotation = top.section("pre_annotation")
    prelabels_on = pre_annotation.flag("enabled")
    schemas = read_schemas(config.values, findings)
    check_against_study(block, schemas, top)
    training = block.training
    return Study(
        config_path=config.path,
        name=top.text("annotation_task_name"),
        task_dir=task_dir,
        output_dir=inside(task_dir, top.text("output_annotation_dir"), ("output_annotation_dir",), findings),
        id_key=item_properties.text("id_key"),
        text_key=item_properties.text("text_key"),
        data_files=tuple(data_files(top, task_dir)),
        schemas=schemas,
        training=training,
        prelabel_field=pre_annotation.text("field", SERVERS_FIELD) if prelabels_on else training.writeback.field,
        predictions_file=_predictions_file(pre_annotation, task_dir) if prelabels_on else None,
        holdout_on=holdout_on(top),
        machine_annotators=frozenset(_machine_annotators(top)),
        config=config.values,
    )


def _predictions_file(pre_annotation: Section, task_dir: Path) -> Path | None:
    if "predictions_file" not in pre_annotation:
        return None
    key = "predictions_file"
    return inside(task_dir, pre_annotation.text(key), (*pre_annotation.path, key), pre_annotation.findings)


def _machine_annotators(top: Section) -> Iterator[str]:
    for annotator in top.section("machine_annotators").sections("annotators"):
        yield annotator.text("id")
