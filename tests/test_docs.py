"""The documentation against the code, both ways: all that there is stands in docs/, and docs/ names nothing else.

A table says by the name of its first column what its rows document (`key`, `code`, `option of run`, ...); the first
cell of a row is the name, in backticks.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import click
import pytest
import yaml
from pydantic import BaseModel

from training_pipeline.assets.stage import CHAIN
from training_pipeline.checks.support import ENOUGH
from training_pipeline.cli import common
from training_pipeline.cli.main import main
from training_pipeline.jobs.config import Training
from training_pipeline.labels.agreed import Rule
from training_pipeline.ledger import tables
from training_pipeline.ledger.predictions import Exclusion
from training_pipeline.ledger.records import RunRecord, Status, WritebackReport
from training_pipeline.reference import with_tables
from training_pipeline.scoring import continuous, multilabel, nominal, ordinal
from training_pipeline.scoring.bootstrap import DRAWS
from training_pipeline.scoring.run import HELD_OUT
from training_pipeline.study.backends import BACKEND_MODELS
from training_pipeline.study.block import read_block
from training_pipeline.study.config import check_study
from training_pipeline.study.kinds import Kind
from training_pipeline.study.problems import BLOCK, Findings
from training_pipeline.study.training import TrainingConfig
from training_pipeline.trainers.calibration import MIN_ITEMS
from training_pipeline.trainers.params import ParamDescription
from training_pipeline.trainers.registry import DECLARED, NAMES, TRAINERS, describe, describe_all
from training_pipeline.trainers.sklearn_folds import HELD_BACK_FROM, N_HELD_BACK, ONE_FOLD_FROM
from training_pipeline.worker.errors import ExitStatus
from training_pipeline.worker.reloaded import N_CHECKED

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "training_pipeline"
PAGES = tuple(sorted((ROOT / "docs").glob("*.md")))
TEXTS = (*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md")


@cache
def rows() -> Mapping[str, list[list[str]]]:
    """Return {name of a table's first column: the cells of its rows}, over all pages; only rows that name something."""
    found: dict[str, list[list[str]]] = defaultdict(list)
    for page in PAGES:
        header = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not line.startswith("|"):
                header = ""
            elif not header:
                header = cells[0]
            elif re.fullmatch(r"`[^`]+`", cells[0]):
                found[header].append([cells[0].strip("`"), *cells[1:]])
    return found


def documented(header: str) -> list[str]:
    """Return the names that the tables of this first column document."""
    return [name for name, *_ in rows()[header]]


def config_keys() -> Iterator[str]:
    for name, field in TrainingConfig.model_fields.items():
        yield name
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from (f"{name}.{key}" for key in field.annotation.model_fields)


def param_names(params: Iterable[ParamDescription]) -> Iterator[str]:
    """Yield the names of params, and of those under them: `lora`, `lora.r`."""
    for param in params:
        yield param.name
        yield from (f"{param.name}.{inner}" for inner in param_names(param.params))


def metrics() -> set[str]:
    """Return every metric of every kind, from scores of two items each and what every split has besides."""
    evaluations = (
        nominal.evaluate(["a", "b"], ["a", "a"], ("a", "b")),
        ordinal.evaluate(["1", "2"], ["1", "1"], ("1", "2")),
        multilabel.evaluate([("a",), ("b",)], [("a",), ("a",)], ("a", "b")),
        continuous.evaluate([1.0, 2.0], [1.0, 1.5], None),
    )
    found = {name for evaluation in evaluations for name in (*evaluation.metrics, *evaluation.not_scored)}
    return found | {"coverage", "support"}


def ledger_tables() -> set[str]:
    return set(re.findall(r"CREATE TABLE IF NOT EXISTS (\w+)", tables.POTATO_TABLES + tables.OUR_TABLES))


EXPECTED: Mapping[str, Iterable[str]] = {
    "key": config_keys(),
    "trainer": TRAINERS,
    "kind": Kind,
    "command": main.commands,
    "status": Status,
    "exclusion": Exclusion,
    "rule": Rule,
    "exit status": map(str, {0, common.REFUSED, common.USAGE, common.INTERRUPTED}),
    "worker exit status": (str(status.value) for status in ExitStatus),
    "report field": WritebackReport.__dataclass_fields__,
    "run field": RunRecord.__dataclass_fields__,
    "ledger table": ledger_tables(),
    "metric": metrics(),
    "asset": ("answers", "stable_splits", *CHAIN),
    "launchpad field": Training.model_fields,
    "later trainer": DECLARED,
    **{f"param of {one.name}": param_names(one.params) for one in describe_all()},
    **{f"key of {name}": model.model_fields for name, model in BACKEND_MODELS.items()},
}


@pytest.mark.parametrize(("header", "expected"), [(header, sorted(names)) for header, names in EXPECTED.items()])
def test_every_name_is_documented_once_and_no_other(header: str, expected: list[str]) -> None:
    assert sorted(documented(header)) == expected


def test_tables_of_the_configuration_are_those_of_the_code() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert page == with_tables(page), "run python -m training_pipeline.reference docs/configuration.md"


def test_defaults_of_params_are_those_of_the_code() -> None:
    for name in TRAINERS:
        said = {name: default for name, _, default, _ in rows()[f"param of {name}"]}
        assert said == {param.name: in_words(param.default) for param in describe(name).params}


def in_words(default: object) -> str:
    """Return a default as the tables write it."""
    if isinstance(default, str | dict):
        return f"`{default or '{}'}`"
    return "null" if default is None else str(default).lower()


@pytest.mark.parametrize(
    ("page", "numbers"),
    [
        ("trainers.md", (MIN_ITEMS, ONE_FOLD_FROM, HELD_BACK_FROM, N_HELD_BACK, N_CHECKED)),
        ("scores.md", (DRAWS, ENOUGH)),
    ],
)
def test_numbers_that_the_text_explains_stand_in_it(page: str, numbers: tuple[int, ...]) -> None:
    stated = re.findall(r"\d+(?:,\d{3})*", (ROOT / "docs" / page).read_text(encoding="utf-8"))
    assert {f"{number:,}" for number in numbers} <= set(stated)


def options(command: click.Command) -> set[str]:
    return {name for option in command.params if isinstance(option, click.Option) for name in option.opts}


@pytest.mark.parametrize("name", sorted(main.commands))
def test_every_option_is_documented_and_no_other(name: str) -> None:
    assert set(documented(f"option of {name}")) == options(main.commands[name])


def test_no_table_documents_options_or_params_of_what_is_not_there() -> None:
    of_something = {header for header in rows() if header.startswith(("option of ", "param of ", "key of "))}
    there = {f"option of {name}" for name in main.commands} | {f"param of {name}" for name in NAMES}
    there |= {f"key of {name}" for name in BACKEND_MODELS}
    assert of_something <= there


def test_every_error_code_is_documented_and_no_other() -> None:
    assert sorted(documented("code")) == sorted(error_codes())


def test_study_keys_are_keys_that_the_code_reads() -> None:
    read = {
        constant.value
        for path in (PACKAGE / "study").glob("*.py")
        for constant in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(constant, ast.Constant)
    }
    keys = {part for key in documented("study key") for part in key.split(".")}
    assert keys
    assert keys <= read


def error_codes() -> set[str]:
    """Return every code that the package raises or writes to a run: the constants given as a `code` or `error_code`."""
    modules = [ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")]
    places = {name: place for module in modules for name, place in code_places(module).items()}
    return {
        code
        for module in modules
        for given in given_codes(module, {**places, **code_places(module)})
        for code in constants(given)
    }


def code_places(module: ast.Module) -> dict[str, int]:
    """Return {function or class: which of its arguments is a code}."""
    found = {}
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in node.args.args]
        elif isinstance(node, ast.ClassDef):
            names = constructor_arguments(node)
        else:
            continue
        if "code" in names:
            found[node.name] = names.index("code")
    return found


def constructor_arguments(node: ast.ClassDef) -> list[str]:
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            return [argument.arg for argument in statement.args.args[1:]]
    return [statement.target.id for statement in node.body if isinstance(statement, ast.AnnAssign)]  # type: ignore[union-attr] # a dataclass


def given_codes(module: ast.Module, places: Mapping[str, int]) -> Iterator[ast.expr]:
    for node in ast.walk(module):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if name in places and len(node.args) > places[name]:
                yield node.args[places[name]]
            yield from (given.value for given in node.keywords if given.arg in ("code", "error_code"))
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            yield from (value for key, value in pairs if key is not None and "error_code" in constants(key))
        elif isinstance(node, ast.ClassDef) and "PipelineError" in {ast.unparse(base) for base in node.bases}:
            yield from (call.args[0] for call in ast.walk(node) if isinstance(call, ast.Call) and call.args)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            yield from assigned_codes(node.targets[0], node.value)


def assigned_codes(targets: ast.Tuple, value: ast.expr) -> Iterator[ast.expr]:
    """Yield what `text, code = ...` assigns to `code`, on either side of an `if` in the value."""
    names = [ast.unparse(target) for target in targets.elts]
    for side in (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,):
        if "code" in names and isinstance(side, ast.Tuple):
            yield side.elts[names.index("code")]


def constants(node: ast.expr) -> set[str]:
    """Return the texts that an expression can be: itself, either side of an `if`, the parts of an `or`."""
    if isinstance(node, ast.Constant):
        return {node.value} - {""} if isinstance(node.value, str) else set()
    if isinstance(node, ast.IfExp):
        return constants(node.body) | constants(node.orelse)
    if isinstance(node, ast.BoolOp):
        return set().union(*map(constants, node.values))
    return set()


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8").replace("\n", " ")):
        if target.startswith(("http://", "https://")):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), target
        assert not anchor or anchor in anchors(path), target


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def test_every_page_is_in_the_contents() -> None:
    contents = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert [page.name for page in PAGES if page.name != "index.md" and f"]({page.name})" not in contents] == []


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_commands_in_the_text_are_commands_that_there_are(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    shells = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    quoted = re.findall(r"`(training-pipeline [^`]+)`", without_examples(page))
    lines = [line for shell in shells for line in shell.splitlines()] + [" ".join(line.split()) for line in quoted]
    for line in lines:
        words = [word for word in shlex.split(line, comments=True) if word not in ("--training", "FILE")]
        if words[:1] != ["training-pipeline"] or words[1] in ("COMMAND", "--version"):
            continue
        assert words[1] in main.commands, line
        used = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert used <= options(main.commands[words[1]]), line


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_options_in_the_text_are_options_of_some_command(page: Path) -> None:
    named = set(re.findall(r"`(--[a-z-]+)", page.read_text(encoding="utf-8")))
    assert named <= set().union(*map(options, [main, *main.commands.values()])) | {"--help"}


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_keys_of_the_block_in_the_text_are_keys_that_there_are(page: Path) -> None:
    text = without_examples(page)
    known = set(config_keys())
    assert {key for key in re.findall(r"model_training\.([a-z_.]+[a-z_])", text) if key not in known} == set()
    assert {key for key in re.findall(r"`((?:writeback|auto_retrain)\.\w+)`", text) if key not in known} == set()


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_examples_of_the_block_are_read(page: Path) -> None:
    for example in re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
        block = yaml.safe_load(example).get(BLOCK)
        if block is not None:
            findings = Findings()
            read_block(block, findings)
            assert (findings.problems, findings.warnings) == ([], [])


@pytest.mark.parametrize("page", ["README.md", "docs/configuration.md"])
def test_the_report_shown_is_a_real_one(page: str) -> None:
    report = check_study(ROOT / "tests" / "data" / "broken_config").report
    assert f"```\n{report.describe()}\n```" in (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_names_in_the_text_occur_in_the_code(page: Path) -> None:
    """A key, code or field that was renamed is noticed in running text too: no source file holds its old name."""
    sources = [*PACKAGE.rglob("*.py"), *(ROOT / "examples").rglob("*.yaml")]
    words = {word for path in sources for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    words |= {path.stem for path in (ROOT / "tests").glob("*.py")}
    words |= {f"{split}_{metric}" for split in HELD_OUT for metric in metrics()}
    quoted = " ".join(re.findall(r"`([^`]+)`", without_examples(page)))
    assert set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", quoted)) - words == set()


def without_examples(page: Path) -> str:
    return re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
