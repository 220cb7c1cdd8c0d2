"""Whether a run should start by itself, on studies whose annotators save as the server does."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.ledger.making import ask
from tests.studies import SENTIMENT, make_study, write_answers
from training_pipeline.ledger import decisions, owners, runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import Status
from training_pipeline.retraining import Attempt, decide, note_answers
from training_pipeline.study.answers import answered_items, read_answers
from training_pipeline.study.config import load_study

TOPIC = {**SENTIMENT, "name": "topic"}
IDS = [f"r{k}" for k in range(40)]
BUSY = "a run is already in progress"


class Loop:
    """A study that retrains after 5 new annotations, 600 seconds after the last run."""

    def __init__(self, directory: Path, **settings: Any) -> None:
        asked = {"enabled": True, "trainer": "sklearn-text", "schemas": ["sentiment"], "update_frequency": 5}
        self.config = make_study(
            directory,
            items=[{"id": item, "text": item} for item in IDS],
            schemes=[SENTIMENT, TOPIC],
            training={"auto_retrain": {**asked, **settings}},
        )
        self.attempts: list[Attempt] = []
        self.restart()

    def restart(self) -> None:
        """Forget everything that is not on the disk."""
        self.study = load_study(self.config)
        self.schema = self.study.schema("sentiment")
        self.ledger = Ledger(self.study.database, self.study.name)

    def save(
        self, annotator: str, n: int, *, answer: str = "positive", schema: str = "sentiment", **state: Any
    ) -> Path:
        """Let an annotator have answered the first `n` items."""
        answered = {item: {schema: answer} for item in IDS[:n]}
        return write_answers(self.study.output_dir, annotator, answered, [SENTIMENT, TOPIC], **state)

    def reason(self) -> str | None:
        return decide(self.study, self.schema, self.ledger, self._attempts).skip_reason

    def attempt(self) -> str:
        return decide(self.study, self.schema, self.ledger, self._attempts).attempt

    def _attempts(self, _after: str) -> list[Attempt]:
        return self.attempts

    def start(self, schema: str = "sentiment", **asked: Any) -> str:
        run_id = ask(self.ledger, schema_names=[schema], **asked).run_id
        assert runs.take_turn(self.ledger, run_id, owners.this_process())
        return run_id

    def train(self, *, fails: bool = False, schema: str = "sentiment", ids: Iterable[str] = IDS, **asked: Any) -> str:
        """Let a run have its turn, read the answers, and end."""
        run_id = self.start(schema, **asked)
        answers, left_out = read_answers(self.study, self.study.schema(schema), frozenset(ids))
        note_answers(self.ledger, run_id, answers, left_out)
        self.end(run_id, error=fails)
        return run_id

    def end(self, run_id: str, *, error: bool = True, at: float = -601.0) -> None:
        """End a run, by default so long ago that its interval is over."""
        runs.finish(self.ledger, run_id, Status.ERROR if error else Status.CANCELLED)
        with self.ledger.transaction() as connection:
            connection.execute("UPDATE pipeline_runs SET finished_at = ? WHERE run_id = ?", (time.time() + at, run_id))


@pytest.fixture
def loop(tmp_path: Path) -> Loop:
    return Loop(tmp_path)


class TestQuestions:
    def test_the_first_run_waits_for_its_annotations(self, loop: Loop) -> None:
        assert loop.reason() == "waiting for 5 more annotation(s)"
        loop.save("ann", 2)
        assert loop.reason() == "waiting for 3 more annotation(s)"
        loop.save("ben", 3)
        assert loop.reason() is None

    @pytest.mark.parametrize("has_its_turn", [False, True])
    def test_a_run_in_progress_or_waiting_comes_first(self, loop: Loop, *, has_its_turn: bool) -> None:
        loop.save("ann", 10)
        if has_its_turn:
            loop.start()
        else:
            ask(loop.ledger)
        assert loop.reason() == BUSY

    def test_then_the_interval_to_the_second_then_the_count(self, loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
        now = time.time()
        monkeypatch.setattr("training_pipeline.retraining.time.time", lambda: now)
        loop.end(loop.start(), at=-60.2)
        loop.save("ann", 10)
        assert loop.reason() == "waiting 540 more second(s) since the last run"
        now += 539.7
        assert loop.reason() == "waiting 1 more second(s) since the last run"
        now += 0.6
        assert loop.reason() is None

    @pytest.mark.parametrize("trigger", ["manual", "api"])
    @pytest.mark.parametrize("schema", ["sentiment", "topic"])
    def test_the_interval_is_since_any_run_that_started(self, loop: Loop, trigger: str, schema: str) -> None:
        loop.save("ann", 10)
        loop.end(loop.start(schema, trigger=trigger), at=-1.0)
        assert loop.reason() == "waiting 599 more second(s) since the last run"

    def test_a_run_that_was_cancelled_before_its_turn_counts_for_nothing(self, loop: Loop) -> None:
        loop.save("ann", 10)
        runs.finish(loop.ledger, ask(loop.ledger).run_id, Status.CANCELLED)
        assert loop.reason() is None

    def test_more_annotations_than_the_study_can_have_are_waited_for(self, tmp_path: Path) -> None:
        loop = Loop(tmp_path, update_frequency=1_000)
        loop.save("ann", 40)
        assert loop.reason() == "waiting for 960 more annotation(s)"


class TestClock:
    def test_one_put_back_by_a_year_does_not_block(self, loop: Loop) -> None:
        loop.save("ann", 10)
        loop.end(loop.start(), at=365 * 86_400.0)
        loop.save("ben", 10)
        assert loop.reason() is None

    def test_one_put_back_by_a_second_does_not_shorten_the_interval(self, loop: Loop) -> None:
        loop.save("ann", 10)
        loop.end(loop.start(), at=1.0)
        assert loop.reason() == "waiting 600 more second(s) since the last run"

    def test_the_last_run_is_the_last_that_was_asked_for(self, loop: Loop) -> None:
        loop.save("ann", 10)
        loop.train()
        with loop.ledger.transaction() as connection:
            connection.execute("UPDATE pipeline_runs SET created_at = created_at + 86400")
        loop.save("ben", 10)
        loop.train()
        assert loop.reason() == "waiting for 5 more annotation(s)"


class TestAttempts:
    def test_each_has_a_name_of_its_own(self, loop: Loop) -> None:
        loop.save("ann", 10)
        assert (loop.attempt(), loop.attempt()) == ("none/1", "none/1")
        loop.attempts = [Attempt(time.time() - 700)]
        assert loop.attempt() == "none/2"
        last = loop.train()
        loop.attempts = []
        loop.save("ben", 10)
        assert loop.attempt() == f"{last}/1"

    def test_one_that_is_on_its_way_is_a_run_in_progress(self, loop: Loop) -> None:
        loop.save("ann", 10)
        loop.attempts = [Attempt(None)]
        assert loop.reason() == BUSY

    def test_one_that_never_had_its_turn_is_tried_again_after_the_interval(self, loop: Loop) -> None:
        loop.save("ann", 10)
        loop.attempts = [Attempt(time.time() - 700), Attempt(time.time() - 100.5)]
        assert loop.reason() == "waiting 500 more second(s) since the last run"


class TestNewAnnotations:
    def test_an_answer_changed_is_not_a_new_one(self, loop: Loop) -> None:
        loop.save("ann", 10)
        loop.train()
        loop.save("ann", 10, answer="negative")
        assert loop.reason() == "waiting for 5 more annotation(s)"

    def test_a_second_annotators_answer_is(self, loop: Loop) -> None:
        loop.save("ann", 10)
        loop.train()
        loop.save("ben", 4)
        assert loop.reason() == "waiting for 1 more annotation(s)"

    def test_an_answer_to_another_schema_is_not(self, loop: Loop) -> None:
        loop.save("ann", 10, schema="topic")
        assert loop.reason() == "waiting for 5 more annotation(s)"

    def test_a_run_on_another_schema_takes_none_away(self, loop: Loop) -> None:
        loop.save("ann", 10)
        loop.train(schema="topic")
        assert loop.reason() is None

    def test_machine_raters_never_count(self, loop: Loop) -> None:
        loop.save("robot", 10, origin={"kind": "llm"})
        assert loop.reason() == "waiting for 5 more annotation(s)"

    def test_machine_raters_that_the_config_names_never_count(self, loop: Loop, tmp_path: Path) -> None:
        loop.save("robot", 10)
        assert loop.reason() is None
        loop.config.write_text(loop.config.read_text() + "machine_annotators: {annotators: [{id: robot}]}\n")
        loop.restart()
        assert loop.study.machine_annotators == {"robot"}
        assert loop.reason() == "waiting for 5 more annotation(s)"

    def test_answers_to_items_that_are_gone_do_not_start_run_after_run(self, loop: Loop) -> None:
        loop.save("ann", 10)
        loop.train(ids=IDS[:2])
        assert loop.reason() == "waiting for 5 more annotation(s)"

    def test_a_torn_file_keeps_its_last_count(self, loop: Loop) -> None:
        path = loop.save("ann", 3)
        assert loop.reason() == "waiting for 2 more annotation(s)"
        path.write_text(path.read_text()[:40])
        assert loop.reason() == "waiting for 2 more annotation(s)"

    def test_a_run_that_finds_a_file_torn_is_not_followed_by_another(self, loop: Loop) -> None:
        path = loop.save("ann", 10)
        loop.save("ben", 10)
        assert loop.reason() is None
        path.write_text(path.read_text()[:40])
        loop.train()
        assert loop.reason() == "waiting for 5 more annotation(s)"
        loop.save("ann", 12)
        assert loop.reason() == "waiting for 3 more annotation(s)"

    def test_options_that_changed_are_counted_by(self, loop: Loop) -> None:
        loop.save("ann", 10, answer="maybe")
        before = loop.reason()
        loop.config.write_text(loop.config.read_text().replace("radio", "slider", 1))
        loop.restart()
        assert (before, loop.reason()) == (None, "waiting for 5 more annotation(s)")


class TestLasting:
    @pytest.mark.parametrize("fails", [False, True])
    def test_the_same_annotations_do_not_start_two_runs(self, loop: Loop, *, fails: bool) -> None:
        loop.save("ann", 10)
        loop.train(fails=fails)
        assert loop.reason() == "waiting for 5 more annotation(s)"

    def test_nor_do_they_where_the_run_failed_before_it_read_them(self, loop: Loop) -> None:
        loop.save("ann", 10)
        assert loop.reason() is None
        loop.end(loop.start(trigger="auto"))
        assert loop.reason() == "waiting for 5 more annotation(s)"
        loop.save("ann", 13)
        assert loop.reason() == "waiting for 2 more annotation(s)"

    def test_what_came_while_such_a_run_went_is_not_lost(self, loop: Loop) -> None:
        loop.save("ann", 10)
        assert loop.reason() is None
        run_id = loop.start(trigger="auto")
        loop.save("ann", 14)
        assert loop.reason() == BUSY
        loop.end(run_id)
        assert loop.reason() == "waiting for 1 more annotation(s)"

    def test_counts_survive_a_restart(self, loop: Loop) -> None:
        loop.save("ann", 10)
        loop.train()
        loop.save("ann", 12)
        assert loop.reason() == "waiting for 3 more annotation(s)"
        loop.restart()
        assert loop.reason() == "waiting for 3 more annotation(s)"
        loop.save("ann", 15)
        assert loop.reason() is None

    def test_runs_that_are_forgotten_leave_their_answers(self, loop: Loop) -> None:
        loop.save("ann", 10)
        loop.train()
        with loop.ledger.transaction() as connection:
            connection.execute("DELETE FROM pipeline_runs")
        assert loop.reason() == "waiting for 5 more annotation(s)"

    def test_the_last_decision_is_kept(self, loop: Loop) -> None:
        assert decisions.last(loop.ledger) is None
        loop.reason()
        last = decisions.last(loop.ledger)
        assert last is not None
        assert last.skip_reason == "waiting for 5 more annotation(s)"
        assert abs(last.decided_at - time.time()) < 30
        loop.save("ann", 5)
        loop.reason()
        last = decisions.last(loop.ledger)
        assert last is not None
        assert last.skip_reason is None


def test_nothing_new_opens_no_file(loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    for k in range(20):
        loop.save(f"annotator{k}", 40)
    loop.train()
    assert loop.reason() == "waiting for 5 more annotation(s)"
    read: list[str] = []

    def noting(study: Any, schema: Any, path: Path) -> list[str]:
        read.append(path.parent.name)
        return answered_items(study, schema, path)

    monkeypatch.setattr("training_pipeline.retraining.answered_items", noting)
    loop.reason()
    assert read == []
    os.utime(loop.save("annotator3", 40), ns=(1, 1))
    loop.reason()
    assert read == ["annotator3"]


@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_each_annotation_counts_once(tmp_path: Path, seed: int) -> None:
    """Against a count by hand of (annotator, item) pairs, through runs, failures, restarts and edits."""
    chance = random.Random(seed)
    loop = Loop(tmp_path, update_frequency=1_000)
    saved: dict[str, int] = {}
    known: set[tuple[str, int]] = set()

    def pairs() -> set[tuple[str, int]]:
        return {(annotator, k) for annotator, n in saved.items() for k in range(n)}

    for _ in range(30):
        step = chance.choice(["save", "save", "save", "ask", "train", "fail", "restart"])
        if step == "save":
            annotator = chance.choice(["ann", "ben", "eva"])
            saved[annotator] = min(40, saved.get(annotator, 0) + chance.randrange(4))
            loop.save(annotator, saved[annotator], answer=chance.choice(["positive", "negative"]))
        elif step == "train":
            loop.train(fails=chance.random() < 0.5)
            known = pairs()
        elif step == "fail":
            loop.reason()
            known = pairs()
            loop.end(loop.start())
        elif step == "restart":
            loop.restart()
        assert loop.reason() == f"waiting for {1_000 - len(pairs() - known)} more annotation(s)"
