"""`run`, from its request to its end, as a process."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.assets.test_bad_studies import messy
from tests.cli.running import Said, call, command_line, surroundings
from tests.running import review_study
from training_pipeline.ledger import predictions, runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.study.config import load_study

pytestmark = pytest.mark.slow

FIELDS = set(
    "run_id status trainer schema_names kinds backend trigger created_at started_at finished_at n_train n_val n_test "  # noqa: SIM905
    "n_unlabeled split_seed params metrics headline not_scored_because comparable warnings error error_code "
    "bundle_digest artifact_dir model_version dagster_run_id writeback cost".split()
)
WITH_MODULES = (
    "import sys\n"
    "from training_pipeline.cli import main\n"
    "try:\n    main()\n"
    "finally:\n    print('MODULES', *sorted(sys.modules), file=sys.stderr)\n"
)


@dataclass(frozen=True)
class RunCommand:
    config: Path
    said: Said


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> RunCommand:
    config = review_study(tmp_path_factory.mktemp("run"))
    done = subprocess.run(
        [sys.executable, "-c", WITH_MODULES, "run", str(config), "--schema", "sentiment", "--json"],
        env=surroundings(),
        capture_output=True,
        text=True,
        check=False,
    )
    return RunCommand(config, Said(done.returncode, done.stdout, done.stderr))


def test_it_prints_one_document_with_the_runs_whole_record(ran: RunCommand) -> None:
    assert ran.said.status == 0, ran.said.err
    record = ran.said.document
    assert record.keys() >= FIELDS
    assert record["status"] == "success"
    assert (record["n_train"], record["n_val"], record["n_test"], record["n_unlabeled"]) == (65, 13, 12, 30)
    assert {"split", "metric", "value", "low", "high", "n"} <= record["headline"].keys()
    assert record["writeback"]["n_written"] == 55
    assert record["cost"]["wall_seconds"] > 0
    assert record["progress"] is None


def test_progress_goes_to_stderr_step_by_step(ran: RunCommand) -> None:
    run_id = ran.said.document["run_id"]
    told = [line for line in ran.said.err.splitlines() if line.startswith("run ")]
    assert told[0] == f"run {run_id}: starting"
    assert told[-1] == f"run {run_id}: success"
    assert not [line for line in told if "evaluating:" in line]  # a step of the status before is over
    assert len(told) == len(set(told))


def test_the_process_imports_nothing_heavy(ran: RunCommand) -> None:
    (modules,) = [line.split() for line in ran.said.err.splitlines() if line.startswith("MODULES ")]
    top = {module.partition(".")[0] for module in modules}
    assert not top & {"torch", "transformers", "tensorflow", "sklearn", "pandas", "crowdkit", "dagster"}


def test_no_part_of_the_run_imports_torch(ran: RunCommand) -> None:
    card = json.loads((Path(ran.said.document["artifact_dir"]) / "model_card.json").read_text())
    assert card["libraries"].keys() == {"python", "numpy", "scipy", "sklearn", "skops"}


def test_the_other_commands_know_the_run(ran: RunCommand) -> None:
    record = ran.said.document
    assert call("show", record["run_id"], str(ran.config), "--json").document == record
    assert [run["run_id"] for run in call("runs", str(ran.config), "--json").document["runs"]] == [record["run_id"]]
    assert call("audit", str(ran.config)).out == "No leakage: 1 runs examined.\n"


def test_provenance_leads_from_an_item_to_the_run_and_what_went_into_it(ran: RunCommand) -> None:
    record = ran.said.document
    found = call("provenance", "r100", str(ran.config), "--json").document
    (one,) = found["prelabels"]
    assert list(one)[:3] == ["run_id", "trainer", "headline"]
    assert (one["run_id"], one["trainer"], one["headline"]) == (
        record["run_id"],
        "sklearn-text",
        record["headline"],
    )
    assert one["shown"]
    assert one["dagster_run_id"] == record["dagster_run_id"]
    versions = {version["asset"]: version["data_version"] for version in one["lineage"]}
    assert versions["sentiment/training_data"] == record["bundle_digest"]
    assert versions["sentiment/fitted_model"] == record["model_version"]
    assert {"answers", "stable_splits", "sentiment/agreed_labels"} <= versions.keys()


def test_a_failed_run_exits_1_with_its_record_and_its_reason(tmp_path: Path) -> None:
    config = review_study(tmp_path, items=[], answers={})
    said = command_line("run", str(config), "--schema", "sentiment", "--json")
    assert said.status == 1
    assert (said.document["status"], said.document["error_code"]) == ("error", "bundle_failed")
    assert said.err.splitlines()[-1] == f"Error: {said.document['error']}"
    assert said.document["error"].startswith("No resolved annotations to train on")


def test_a_run_for_people_is_a_table_and_needs_no_json(tmp_path: Path) -> None:
    config = review_study(tmp_path, items=[{"id": "a", "text": "x"}, {"id": "a", "text": "y"}])
    said = command_line("run", str(config), "--schema", "sentiment")
    file = tmp_path / "data" / "items.jsonl"
    assert said.status == 1
    assert "bad_items" not in said.out
    assert said.err.splitlines()[-1] == (
        f"Error: {file}, line 2: the id 'a' stands at {file}, line 1 already; give each item its own"
    )


REFUSALS = [
    (("--schema", "tone"), "unknown_schema", "{config} has no schema 'tone'; it has sentiment"),
    (
        ("--schema", "sentiment", "--trainer", "nope"),
        "unknown_trainer",
        "There is no trainer 'nope'; there are: sklearn-text.",
    ),
    (
        ("--schema", "sentiment", "--backend", "moon"),
        "unknown_backend",
        "A run cannot go to 'moon': runs go to local only. Known: local.",
    ),
    (
        ("--schema", "sentiment", "--param", "nonsense=1"),
        "bad_params",
        "sklearn-text does not take nonsense; it takes classifier, classifier_kwargs, vectorizer, vectorizer_kwargs, "
        "calibrate, min_instances.",
    ),
    (
        ("--schema", "sentiment", "--param", "min_instances=many"),
        "bad_params",
        "sklearn-text: min_instances must be a whole number; it is 'many'.",
    ),
]


@pytest.mark.parametrize(("arguments", "code", "message"), REFUSALS)
def test_what_cannot_go_is_refused_before_anything_is_written(
    tmp_path: Path, arguments: tuple[str, ...], code: str, message: str
) -> None:
    config = review_study(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    said = call("run", str(config), *arguments, "--json")
    expected = message.format(config=config)
    assert (said.status, said.document) == (1, {"error": expected, "code": code})
    assert said.err == f"Error: {expected}\n"
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--param", "nonsense"), "--param 'nonsense' is not of the form K=V."),
        (("--param", "a=["), "--param a is not YAML"),
        (("--params-file", "missing.yaml"), "does not exist"),
        ((), "Missing option '--schema'"),
    ],
)
def test_wrong_usage_exits_2(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    config = review_study(tmp_path)
    schema = ("--schema", "sentiment") if arguments else ()
    said = call("run", str(config), *schema, *arguments)
    assert said.status == 2
    assert says in said.err
    assert not (tmp_path / "project.sqlite").exists()


def test_a_params_file_that_is_no_map_or_no_text_is_wrong_usage(tmp_path: Path) -> None:
    config, params = review_study(tmp_path), tmp_path / "params.yaml"
    arguments = ("run", str(config), "--schema", "sentiment", "--params-file", str(params))
    for content, says in (
        (b"[1, 2]", "must hold a map of params."),
        (b"a: [", "is not YAML"),
        (b"a: \xff", "is not UTF-8"),
    ):
        params.write_bytes(content)
        said = call(*arguments)
        assert said.status == 2
        assert says in said.err


def test_a_param_beats_the_params_file(tmp_path: Path) -> None:
    config, params = review_study(tmp_path), tmp_path / "params.yaml"
    params.write_text("min_instances: 1\nnonsense: 2\n")
    said = call(
        *("run", str(config), "--schema", "sentiment", "--json"),
        *("--params-file", str(params), "--param", "min_instances=none"),
    )
    assert said.document["error"].splitlines()[0] == "sklearn-text: min_instances must be a whole number; it is 'none'."


def test_a_study_without_training_says_which_key_to_set(tmp_path: Path) -> None:
    config = review_study(tmp_path, training={"enabled": False})
    said = call("run", str(config), "--schema", "sentiment", "--json")
    assert (said.status, said.document["code"]) == (1, "not_enabled")
    assert "model_training.enabled" in said.document["error"]


def test_a_config_that_is_not_yaml_exits_2_with_line_and_column(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("annotation_task_name: x\ndata_files: [a, b\nitem_properties: {}\n")
    said = call("run", str(config), "--schema", "sentiment", "--json")
    assert (said.status, said.document["code"]) == (2, "bad_config")
    assert said.document["error"].startswith(f"{config}, line 3, column ")


def test_odd_ids_and_texts_go_through_the_real_worker_and_back(tmp_path: Path) -> None:
    config = messy(tmp_path)
    said = command_line("run", str(config), "--schema", "sentiment", "--json")
    assert (said.status, said.document["status"]) == (0, "success"), said.err
    assert f"{tmp_path / 'annotation_output' / 'ben' / 'user_state.json'} was left out: " in (
        Path(said.document["artifact_dir"]).parent / "dagster.log"
    ).read_text(encoding="utf-8")
    held_out = said.document["n_val"] + said.document["n_test"]
    assert said.document["writeback"]["n_written"] == held_out
    study = load_study(config)
    shown = [item for item, _, _ in predictions.shown(Ledger(study.database, study.name))]
    assert len(shown) == held_out
    for item in shown:
        found = call("provenance", "--json", "--", item, str(config))
        assert (found.status, found.document["item"]) == (0, item)


def test_a_run_whose_process_never_came_up_is_no_success(tmp_path: Path) -> None:
    config = review_study(tmp_path)
    (tmp_path / ".dagster").write_text("in the way")
    said = command_line("run", str(config), "--schema", "sentiment", "--json")
    assert (said.status, said.document["status"]) == (1, "error")
    study = load_study(config)
    (run,) = runs.list_runs(Ledger(study.database, study.name))
    assert run.status == "error"
    assert run.error
