"""A study as its config describes it."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from training_pipeline.errors import ConfigError, PipelineError
from training_pipeline.study.schemas import Schema, read_schemas
from training_pipeline.study.sections import Section
from training_pipeline.study.training import BLOCK, TrainingConfig, read_training, unknown_keys

CONFIG_NAME = "config.yaml"
TRAINING_NAME = "training.yaml"
DATABASE_NAME = "project.sqlite"
DATA_SUFFIXES = (".json", ".jsonl", ".csv", ".tsv", ".parquet")


@dataclass(frozen=True)
class DataFile:
    """One file of items. `encoding` is a name that Python knows; parquet has no use for it."""

    path: Path
    encoding: str = "utf-8"


@dataclass(frozen=True)
class Study:
    """One annotation project. All paths are absolute; `name` is the project column of the ledger's tables.

    `prelabel_field` is the item field that carries pre-labels, and `predictions_file` the file of those that came with
    the data. `warnings` are sentences about keys that change nothing.
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
    warnings: tuple[str, ...] = ()

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


def load_study(path: str | Path, training_file: Path | None = None) -> Study:
    """Read a study's config: the YAML file, or the folder that holds config.yaml.

    The model_training block is that of `training_file`, else of training.yaml beside the config, else of the config.
    ConfigError, naming file and key, where the study cannot be read.
    """
    config_path = _config_path(Path(path))
    config = read_yaml(config_path)
    block_path, block = _training_block(config_path, config, training_file)
    try:
        training = read_training(block)
    except ConfigError as error:
        raise ConfigError(f"{block_path}: {error}") from error
    try:
        return _study(config_path, config, training, tuple(f"{block_path}: {text}" for text in unknown_keys(block)))
    except ConfigError as error:
        raise ConfigError(f"{config_path}: {error}") from error


def study_of_environment() -> Study:
    """Read the study that `TRAINING_PIPELINE_CONFIG` names, else `./config.yaml`; raises as `load_study`."""
    return load_study(os.environ.get("TRAINING_PIPELINE_CONFIG") or CONFIG_NAME)


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the mapping that a YAML file holds; ConfigError with line and column where it is not YAML."""
    text = _read_text(path)
    try:
        value = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ConfigError(f"{path}{where}: not YAML: {error.problem or error.context}") from error
    except yaml.reader.ReaderError as error:
        raise ConfigError(f"{path}, {_place(text[: error.position])}: not YAML: {error.reason}") from error
    except ValueError as error:
        raise ConfigError(f"{path} holds a value that cannot be: {error}; put a text in quotes") from error
    if not isinstance(value, dict):
        raise ConfigError(f"{path} must hold a mapping of keys to values, not {type(value).__name__}")
    return value


def _read_text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig")
        raise ConfigError(f"{path}, {_place(before)}: not UTF-8: {error.reason}") from error


def _place(before: str) -> str:
    """Return the line and column, from 1, that follow a text."""
    return f"line {before.count(chr(10)) + 1}, column {len(before) - before.rfind(chr(10))}"


def _config_path(path: Path) -> Path:
    path = Path(os.path.abspath(path))  # noqa: PTH100 (a link to a config stands where the link stands)
    if path.is_dir():
        path = path / CONFIG_NAME
    if not path.is_file():
        raise ConfigError(f"{path} is not there; name the study's YAML file, or its folder")
    return path


def _training_block(
    config_path: Path, config: Mapping[str, Any], training_file: Path | None
) -> tuple[Path, Mapping[str, Any]]:
    """Return the block and the file that it stands in. A file of its own may hold it bare or under its name."""
    path = training_file or config_path.parent / TRAINING_NAME
    if training_file is not None or path.is_file():
        whole: Mapping[str, Any] = read_yaml(path)
        if BLOCK not in whole:
            return path, whole
    else:
        path, whole = config_path, config
    try:
        return path, Section(whole).section(BLOCK).values
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def _study(config_path: Path, config: Mapping[str, Any], training: TrainingConfig, warnings: tuple[str, ...]) -> Study:
    top = Section(config)
    task_dir = _absolute(config_path.parent, top.text("task_dir", "."))
    item_properties = top.section("item_properties")
    pre_annotation = top.section("pre_annotation")
    prelabels_on = pre_annotation.flag("enabled")
    field = pre_annotation.text("field", "predictions") if prelabels_on else training.writeback.field
    schemas = read_schemas(config)
    _refuse_unknown_schemas(training, schemas)
    return Study(
        config_path=config_path,
        name=top.text("annotation_task_name"),
        task_dir=task_dir,
        output_dir=_inside(task_dir, top.text("output_annotation_dir"), "output_annotation_dir"),
        id_key=item_properties.text("id_key"),
        text_key=item_properties.text("text_key"),
        data_files=tuple(_data_files(top, task_dir)),
        schemas=schemas,
        training=training,
        prelabel_field=field,
        predictions_file=_predictions_file(pre_annotation, task_dir) if prelabels_on else None,
        holdout_on=bool(top.section("ai_support").section("holdout").number("fraction")),
        machine_annotators=frozenset(_machine_annotators(top)),
        config=config,
        warnings=warnings,
    )


def _refuse_unknown_schemas(training: TrainingConfig, schemas: tuple[Schema, ...]) -> None:
    names = [schema.name for schema in schemas]
    retrained = training.auto_retrain.schemas if training.auto_retrain.enabled else ()
    for key, named in (("writeback", training.writeback.schemas), ("auto_retrain", retrained)):
        for position, name in enumerate(named):
            if name not in names:
                raise ConfigError(
                    f"{BLOCK}.{key}.schemas[{position}] is {name!r}, which is no schema of the study; "
                    f"there are {', '.join(names)}"
                )


def _data_files(top: Section, task_dir: Path) -> Iterator[DataFile]:
    """Yield the files named, then those that lie in data_directory now, sorted by name."""
    if "data_files" not in top and "data_directory" not in top:
        raise ConfigError("data_files is missing; list the files that hold the items, or name a data_directory")
    for key, entry in top.entries("data_files"):
        section = Section(entry if isinstance(entry, dict) else {"path": entry}, key)
        path = _inside(task_dir, section.text("path"), section.key("path"))
        if path.suffix.lower() not in DATA_SUFFIXES:
            raise ConfigError(f"{key} is {path.name!r}; items are read from {', '.join(DATA_SUFFIXES)} files")
        yield DataFile(path, _encoding(section, "encoding"))
    if "data_directory" in top:
        directory = _inside(task_dir, top.text("data_directory"), "data_directory")
        if not directory.is_dir():
            raise ConfigError(f"data_directory is {directory}, which is no folder")
        encoding = _encoding(top, "data_directory_encoding")
        for path in sorted(directory.iterdir()):
            if path.suffix.lower() in DATA_SUFFIXES and path.is_file():
                yield DataFile(path, encoding)


def _encoding(section: Section, name: str) -> str:
    encoding = section.text(name, "utf-8")
    try:
        codecs.lookup(encoding)
    except LookupError as error:
        raise ConfigError(f"{section.key(name)} is {encoding!r}, which is no encoding that Python knows") from error
    return encoding


def _predictions_file(pre_annotation: Section, task_dir: Path) -> Path | None:
    if "predictions_file" not in pre_annotation:
        return None
    key = "predictions_file"
    return _inside(task_dir, pre_annotation.text(key), pre_annotation.key(key))


def _machine_annotators(top: Section) -> Iterator[str]:
    for annotator in top.section("machine_annotators").sections("annotators"):
        yield annotator.text("id")


def _absolute(base: Path, name: str) -> Path:
    return Path(os.path.abspath(base / name))  # noqa: PTH100 (resolve() would leave a study that is linked to)


def _inside(task_dir: Path, name: str, key: str) -> Path:
    """Return the absolute path; ConfigError where it leaves the project, as the server refuses it too.

    A link inside the project that leads elsewhere was put there on purpose and is followed.
    """
    path = _absolute(task_dir, name)
    if not path.is_relative_to(task_dir) and not path.resolve().is_relative_to(task_dir.resolve()):
        raise ConfigError(f"{key} is {name!r}, which is outside the project {task_dir}; keep it inside")
    return path
