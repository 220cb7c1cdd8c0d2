"""A worker's run from its spec to its artifacts, as a process."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.processes import processes_naming
from tests.trainers.making import MOOD, answered, moods
from tests.trainers.test_sklearn_text import HEAT, TOPICS, topics
from tests.worker.making import ROWS, Ran, environment, house_module, prepare, wait_for_line, work
from training_pipeline.bundle.manifest import SchemaSpec
from training_pipeline.worker.command import worker_command, worker_command_on_leash
from training_pipeline.worker.spec import Limits


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return work(prepare(tmp_path_factory.mktemp("run")))


class TestResult:
    def test_it_ends_well(self, ran: Ran) -> None:
        assert (ran.status, ran.stderr) == (0, "")
        assert ran.last["event"] == "result"
        assert ran.last["status"] == "success"
        assert ran.last["model_version"] == "sklearn-text-mood-20300101T000000-abcdef"
        assert (ran.last["n_predictions"], ran.last["label_order"]) == (25, ["good", "bad"])

    def test_everything_but_train_is_predicted_once_in_order(self, ran: Ran) -> None:
        expected = [row.instance_id for split, row in ROWS if split != "train"]
        assert [line["instance_id"] for line in ran.predictions] == expected

    def test_a_prediction_s_line_is_a_choice_with_its_confidence(self, ran: Ran) -> None:
        line = ran.predictions[0]
        assert sorted(line) == ["confidence", "instance_id", "payload", "schema_name"]
        assert line["schema_name"] == "mood"
        assert line["payload"] == {"label": "good", "confidence": line["confidence"]}
        assert 0.5 <= line["confidence"] <= 1

    def test_events_are_versioned_and_timed(self, ran: Ran) -> None:
        assert all(event["v"] == 1 and abs(event["t"] - time.time()) < 600 for event in ran.events)
        steps = [event["step"] for event in ran.events if event["event"] == "status"]
        assert steps == ["reading", "fitting", "calibrating", "saving", "predicting", "checking"]
        progress = [(e["phase"], e["current"], e["total"]) for e in ran.events if e["event"] == "progress"]
        assert progress[-1] == ("predicting", 25, 25)
        artifacts = [event["path"] for event in ran.events if event["event"] == "artifact"]
        assert artifacts == ["model", "calibration.json", "model_card.json", "predictions.jsonl"]

    def test_the_card_says_what_the_model_is(self, ran: Ran) -> None:
        card = ran.json("model_card.json")
        manifest = json.loads((ran.directory / "bundle" / "manifest.json").read_text())
        assert (card["trainer"], card["schema"], card["kind"], card["n_train"]) == (
            "sklearn-text",
            "mood",
            "nominal",
            60,
        )
        assert card["label_order"] == ["good", "bad"]
        assert card["bundle_digest"] == manifest["digest"]
        assert card["classifier"] == "sklearn.linear_model.LogisticRegression"
        assert card["vectorizer_kwargs"]["ngram_range"] == [1, 2]
        assert card["calibration"] == ran.json("calibration.json")
        assert set(card["libraries"]) == {"python", "numpy", "scipy", "sklearn", "skops"}
        for name, digest in card["model_files"].items():
            assert hashlib.sha256((ran.artifacts / "model" / name).read_bytes()).hexdigest() == digest
        assert str(ran.directory) not in json.dumps(card)

    def test_metrics_say_what_it_cost(self, ran: Ran) -> None:
        metrics = ran.json("metrics.json")
        assert metrics["n_train"] == 60
        assert 0 < metrics["train_seconds"] < 60
        assert 50 < metrics["peak_rss_mb"] < 1_000
        assert 50 < metrics["predict_peak_rss_mb"] < 1_000
        assert 0.9 <= metrics["train_accuracy"] <= 1
        assert ran.last["metrics"] == metrics

    def test_no_partial_file_is_left(self, ran: Ran) -> None:
        assert [path.name for path in ran.directory.rglob("*partial*")] == []

    def test_the_same_data_give_the_same_predictions(self, ran: Ran, tmp_path: Path) -> None:
        assert work(prepare(tmp_path)).predictions == ran.predictions


class TestShapes:
    def test_ticks_are_a_list_of_choices(self, tmp_path: Path) -> None:
        rows = [*answered(TOPICS, topics(40)), *answered(TOPICS, [("costs flavour", ())], "test")]
        (line,) = work(prepare(tmp_path, rows, TOPICS)).predictions
        assert [tick["label"] for tick in line["payload"]] == ["price", "taste", "always"]
        assert min(tick["confidence"] for tick in line["payload"]) == line["confidence"]

    def test_a_number_is_plain_and_has_no_confidence(self, tmp_path: Path) -> None:
        rows = answered(HEAT, [(f"word{k % 5}", float(k % 5)) for k in range(40)])
        (line,) = work(prepare(tmp_path, [*rows, *answered(HEAT, [("word4", 4.0)], "val")], HEAT)).predictions
        assert isinstance(line["payload"], float)
        assert line["confidence"] is None

    def test_a_choice_without_confidence_has_none_inside(self, tmp_path: Path) -> None:
        ran = work(prepare(tmp_path, classifier="sklearn.svm.LinearSVC", calibrate=False))
        assert ran.predictions[0]["payload"] == {"label": "good"}
        assert ran.predictions[0]["confidence"] is None

    def test_nothing_to_predict_is_no_failure(self, tmp_path: Path) -> None:
        ran = work(prepare(tmp_path, moods(20)))
        assert (ran.status, ran.predictions, ran.last["n_predictions"]) == (0, [], 0)


class TestRefusals:
    @pytest.mark.parametrize(
        ("asked", "code", "says"),
        [
            ({"trainer": "sklearn"}, "unknown_trainer", "There is no trainer 'sklearn'"),
            ({"ask_for": "moot"}, "unknown_schema", "no schema 'moot'; it has: mood"),
            ({"epochs": 3}, "bad_params", "sklearn-text does not take epochs"),
            ({"min_instances": 61}, "validation_failed", "Only 60 items in the train split"),
            ({"classifier": "os.system"}, "bad_params", "'os.system' is not allowed"),
            (
                {"rows": moods(20), "schema": SchemaSpec("mood", "span", "span")},
                "validation_failed",
                "sklearn-text does not learn span schemas such as 'mood'; it learns nominal, ordinal",
            ),
        ],
    )
    def test_what_cannot_work_ends_with_a_reason_and_status_2(
        self, tmp_path: Path, asked: dict[str, Any], code: str, says: str
    ) -> None:
        ran = work(prepare(tmp_path, **asked))
        assert (ran.status, ran.last["event"], ran.last["code"]) == (2, "error", code)
        assert says in ran.last["message"]
        assert not (ran.artifacts / "predictions.jsonl").exists()

    def test_a_spec_that_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "spec.json").write_text("{")
        ran = work(tmp_path / "spec.json")
        assert (ran.status, ran.last["code"]) == (2, "bad_spec")

    def test_training_data_that_changed_on_the_way(self, tmp_path: Path) -> None:
        spec = prepare(tmp_path)
        with (tmp_path / "bundle" / "train.jsonl").open("a") as file:
            file.write("\n")
        ran = work(spec)
        assert (ran.status, ran.last["code"]) == (2, "bad_bundle")

    def test_artifacts_of_another_run_are_not_written_over(self, tmp_path: Path) -> None:
        spec = prepare(tmp_path)
        (tmp_path / "artifacts" / "model").mkdir(parents=True)
        ran = work(spec)
        assert (ran.status, ran.last["code"]) == (2, "bad_spec")
        assert "is there already" in ran.last["message"]

    def test_an_allowed_package_that_is_not_there(self, tmp_path: Path) -> None:
        ran = work(prepare(tmp_path, classifier="house.House", allowed=("house",)))
        assert (ran.status, ran.last["code"]) == (3, "missing_dependency")


class TestFailures:
    def work_with(self, tmp_path: Path, body: str, **asked: Any) -> Ran:
        (tmp_path / "run").mkdir()
        spec = prepare(tmp_path / "run", classifier="house.House", allowed=("house",), calibrate=False, **asked)
        return work(spec, house_module(tmp_path / "modules", body))

    def test_a_classifier_of_an_allowed_package_trains(self, tmp_path: Path) -> None:
        ran = self.work_with(tmp_path, "pass")
        assert (ran.status, ran.json("model_card.json")["classifier"]) == (0, "house.House")

    def test_prints_of_libraries_disturb_nobody(self, tmp_path: Path) -> None:
        body = "def fit(self, X, y):\n    print('chatter', flush=True)\n    return super().fit(X, y)\n"
        body += (
            "def predict_proba(self, X):\n    print('more chatter', flush=True)\n    return super().predict_proba(X)"
        )
        ran = self.work_with(tmp_path, body)
        assert ran.status == 0
        assert ran.stdout.count("chatter") >= 3
        assert "chatter" not in (ran.directory / "events.jsonl").read_text()

    def test_a_model_that_does_not_survive_saving_is_not_scored(self, tmp_path: Path) -> None:
        body = "def __getstate__(self):\n    state = super().__getstate__()\n"
        body += "    return {**state, 'coef_': -state['coef_']} if 'coef_' in state else state"
        ran = self.work_with(tmp_path, body)
        assert (ran.status, ran.last["code"]) == (1, "reload_failed")
        assert "answers differently from the fitted one on 25 of 25 held-out items" in ran.last["message"]

    def test_an_error_in_the_fresh_process_is_reported(self, tmp_path: Path) -> None:
        body = "def predict_proba(self, X):\n    if 'reload' in sys.argv[0]:\n        raise RuntimeError('lost')\n"
        ran = self.work_with(tmp_path, body + "    return super().predict_proba(X)")
        assert (ran.status, ran.last["code"]) == (1, "reload_failed")
        assert ran.last["message"] == "The saved model could not be used: RuntimeError: lost"
        assert "Traceback" in ran.stderr

    def test_a_fresh_process_that_is_killed_is_told_from_a_crash(self, tmp_path: Path) -> None:
        body = "def predict_proba(self, X):\n    if 'reload' in sys.argv[0]:\n        os.kill(os.getpid(), 9)\n"
        ran = self.work_with(tmp_path, body + "    return super().predict_proba(X)")
        assert (ran.status, ran.last["code"]) == (1, "killed")

    def test_an_unexpected_error_is_one_sentence_and_a_traceback(self, tmp_path: Path) -> None:
        ran = self.work_with(tmp_path, "def fit(self, X, y):\n    raise RuntimeError('no luck')")
        assert (ran.status, ran.last["code"]) == (1, "fit_failed")
        assert ran.last["message"] == "The run failed unexpectedly: RuntimeError: no luck"
        assert "Traceback" in ran.stderr

    @pytest.mark.parametrize(
        ("error", "status", "code"), [("MemoryError()", 5, "out_of_memory"), ("OSError(28, 'full')", 1, "disk_full")]
    )
    def test_a_machine_s_limits_have_their_own_codes(self, tmp_path: Path, error: str, status: int, code: str) -> None:
        ran = self.work_with(tmp_path, f"def fit(self, X, y):\n    raise {error}")
        assert (ran.status, ran.last["code"]) == (status, code)

    def test_a_run_fails_inside_its_own_memory_limit(self, tmp_path: Path) -> None:
        body = "def fit(self, X, y):\n    self.hog = bytearray(4 << 30)"
        ran = self.work_with(tmp_path, body, limits=Limits(max_ram_mb=2_000))
        assert (ran.status, ran.last["code"]) == (5, "out_of_memory")
        assert "max_ram_mb" in ran.last["hint"]

    def test_threads_are_limited_before_libraries_are_imported(self, tmp_path: Path) -> None:
        body = "def fit(self, X, y):\n    print('threads', os.environ['OMP_NUM_THREADS'])\n    return super().fit(X, y)"
        assert "threads 1\n" in self.work_with(tmp_path, body, limits=Limits(num_threads=1)).stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_cancelled_fit_ends_at_once(tmp_path: Path, number: signal.Signals) -> None:
    """The fit sits in one long call that holds the main thread, as native code does."""
    (tmp_path / "run").mkdir()
    spec = prepare(tmp_path / "run", classifier="house.House", allowed=("house",))
    body = "def fit(self, X, y):\n    import ctypes\n    ctypes.CDLL(None).sleep(60)"
    search = environment(house_module(tmp_path / "modules", body))
    worker = subprocess.Popen(worker_command(spec), env=search)
    wait_for_line(tmp_path / "run" / "events.jsonl", '"fitting"')
    time.sleep(0.2)
    started = time.monotonic()
    worker.send_signal(number)
    assert worker.wait(timeout=30) == 4
    assert time.monotonic() - started < 5
    last = Ran(tmp_path / "run", 4, "", "").last
    assert (last["event"], last["code"]) == ("error", "cancelled")


def test_a_fit_that_never_yields_is_gone_after_the_grace(tmp_path: Path) -> None:
    """It keeps the interpreter's lock, so that no thread of the worker hears that it is to stop; its child hides."""
    (tmp_path / "run").mkdir()
    spec = prepare(tmp_path / "run", classifier="house.House", allowed=("house",))
    body = "def fit(self, X, y):\n    import ctypes\n    subprocess.Popen(['sleep', '60.25'], start_new_session=True)\n"
    body += "    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})\n    hold = ctypes.PyDLL(None).sleep\n"
    body += "    print('holding', flush=True)\n    hold(60)"
    search = environment(house_module(tmp_path / "modules", body))
    output = tmp_path / "stdout.log"
    with output.open("wb") as out:
        leash = subprocess.Popen(worker_command_on_leash(spec, Limits(), 1.0), env=search, stdout=out)
    wait_for_line(output, "holding")
    time.sleep(0.5)
    started = time.monotonic()
    leash.send_signal(signal.SIGTERM)
    assert leash.wait(timeout=30) == 128 + signal.SIGKILL
    assert 1.0 <= time.monotonic() - started < 1.0 + 2.0
    assert processes_naming(str(tmp_path)) == []
    assert processes_naming("60.25") == []


def test_ten_thousand_predictions_show_their_progress(tmp_path: Path) -> None:
    ran = work(prepare(tmp_path, [*moods(40), *moods(10_500, "unlabeled")], MOOD))
    counts = [event["current"] for event in ran.events if event["event"] == "progress"]
    assert counts == sorted(counts)
    assert counts[-1] == 10_500
