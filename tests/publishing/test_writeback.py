from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ledger.making import PROJECT, execute, make_ledger
from tests.publishing.making import next_run, reject, says, shown, write_back
from tests.recorded import copy_recorded
from training_pipeline.errors import PipelineError
from training_pipeline.ledger import predictions, runs, staging
from training_pipeline.ledger.audit import published_in_train
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.predictions import Exclusion
from training_pipeline.ledger.records import Status
from training_pipeline.ledger.retention import prune
from training_pipeline.publishing.checks import KnownItems, WritebackSettings
from training_pipeline.publishing.predictions_file import Prediction
from training_pipeline.publishing.writeback import Retraction, WriteBack, retract
from training_pipeline.study.kinds import Kind
from training_pipeline.study.schemas import Schema


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return make_ledger(tmp_path)


def excluded(ledger: Ledger, instance_id: str) -> Exclusion | None:
    (stored,) = predictions.of_item(ledger, instance_id)
    return stored.exclusion


def test_each_prediction_is_counted_under_the_first_check_that_it_fails(ledger: Ledger) -> None:
    earlier = next_run(ledger, train="a", val="b")
    runs.finish(ledger, earlier, Status.ERROR)
    run_id = next_run(ledger, val="abcdefgh")
    reject(ledger, "a")
    reject(ledger, "b")
    reject(ledger, "h", schema="")
    given = [
        says("a", 0.1),  # in train of the earlier run; also rejected and below the threshold
        says("b", 0.1),  # rejected; also below the threshold
        says("c", 0.79),
        says("d", None),
        says("e", 0.8),
        says("f"),
        says("gone"),
        says("h"),  # its verdict names no schema
        Prediction("g", "topics", [], 0.99),
    ]
    publication = write_back(
        ledger, schemas=("sentiment",), min_confidence=0.8, supplied=frozenset({("f", "sentiment")})
    )
    report = publication.publish(run_id, given)
    assert shown(ledger) == {"e": run_id, "h": run_id}
    assert (report.run_id, report.n_read, report.n_written) == (run_id, 9, 2)
    assert report.n_skipped_train_split == 1
    assert report.n_skipped_schema_not_enabled == 1
    assert report.n_skipped_rejected == 1
    assert report.n_skipped_low_confidence == 2
    assert report.n_skipped_missing_item == 1
    assert report.n_skipped_supplied == 1
    assert report.n_skipped_not_showable == 0
    assert report.n_superseded_cleared == 0
    assert report.schemas_enabled == ("sentiment",)
    assert report.summary == (
        "Published 2 of 9 predictions (sentiment). Left out: 1 on items that a run trained on, 1 for schemas that"
        " write-back is not enabled for, 1 rejected by a reviewer, 2 below min_confidence 0.8, 1 for items that are no"
        " longer in the data, 1 on items whose pre-label came with the data"
    )
    assert runs.get(ledger, run_id).writeback == report
    assert staging.last_report(ledger) == report
    assert predictions.count(ledger, run_id) == {
        None: 2, "train_split": 1, "schema_not_enabled": 1, "rejected": 1, "low_confidence": 2, "missing_item": 1,
        "supplied": 1,
    }  # fmt: skip


def test_potatos_row_has_the_shape_that_its_server_reads(ledger: Ledger) -> None:
    run_id = next_run(ledger, val="ab")
    topics = [{"label": "price", "confidence": 0.9}]
    publication = write_back(ledger, schemas=("sentiment", "topics", "rating"), allow_slider=True)
    publication.publish(
        run_id, [says("a"), Prediction("a", "topics", topics, 0.9), Prediction("b", "rating", -1.5, None)]
    )
    rows = execute(
        ledger.path,
        "SELECT project, instance_id, schema_name, run_id, payload, confidence FROM training_predictions"
        " ORDER BY instance_id, schema_name",
    )
    assert [(*row[:4], json.loads(row[4]), row[5]) for row in rows] == [
        (PROJECT, "a", "sentiment", run_id, {"label": "positive", "confidence": 0.9}, 0.9),
        (PROJECT, "a", "topics", run_id, topics, 0.9),
        (PROJECT, "b", "rating", run_id, -1.5, None),
    ]


def test_a_prediction_without_a_confidence_passes_only_at_zero(ledger: Ledger) -> None:
    run_id = next_run(ledger, val="a")
    assert write_back(ledger, min_confidence=0.01).publish(run_id, [says("a", None)]).n_written == 0
    assert write_back(ledger, min_confidence=0.0).republish().n_written == 1


def test_what_ticks_nothing_is_stored_and_not_shown(ledger: Ledger) -> None:
    run_id = next_run(ledger, val="a")
    report = write_back(ledger, schemas=("topics",)).publish(run_id, [Prediction("a", "topics", [], 0.99)])
    assert shown(ledger) == {}
    assert excluded(ledger, "a") is Exclusion.EMPTY
    assert report.n_skipped_not_showable == 1
    assert report.summary == "No predictions were published: 1 that found nothing to mark"


def test_a_slider_is_stored_and_the_report_says_why_it_is_not_shown(ledger: Ledger) -> None:
    run_id = next_run(ledger, val="a")
    report = write_back(ledger, schemas=("rating",)).publish(run_id, [Prediction("a", "rating", 1.0, None)])
    assert shown(ledger) == {}
    assert report.n_skipped_not_showable == 1
    assert "allow_slider: true" in report.warnings[0]


def test_labels_that_the_schema_has_not_are_stored_and_named(ledger: Ledger) -> None:
    run_id = next_run(ledger, val="abcd")
    given = [
        says("a"),
        says("b", label="pos"),
        says("c", label="pos"),
        Prediction("d", "topics", [{"label": "price", "confidence": 0.9}, {"label": "cost", "confidence": 0.9}], 0.9),
    ]
    report = write_back(ledger, schemas=("sentiment", "topics")).publish(run_id, given)
    assert shown(ledger) == {"a": run_id}
    assert excluded(ledger, "b") is excluded(ledger, "d") is Exclusion.NOT_SHOWABLE
    assert (report.n_written, report.n_skipped_not_showable) == (1, 3)
    assert [warning.partition(" name.")[0] for warning in report.warnings] == [
        "The schema 'sentiment' has no option 'pos' (2), which predictions",
        "The schema 'topics' has no option 'cost' (1), which predictions",
    ]
    assert write_back(ledger, schemas=("sentiment", "topics")).republish().warnings == report.warnings


@pytest.mark.parametrize("label", ["None", "1", "a|b", "a, b", "😀"])
def test_labels_of_any_shape_come_back(ledger: Ledger, label: str) -> None:
    run_id = next_run(ledger, val="a")
    write_back(ledger).publish(run_id, [says("a", label=label)])
    assert predictions.of_item(ledger, "a")[0].payload == {"label": label, "confidence": 0.9}


def test_without_an_enabled_schema_nothing_is_shown_and_everything_stored(ledger: Ledger) -> None:
    run_id = next_run(ledger, val="a")
    report = write_back(ledger, schemas=()).publish(run_id, [says("a")])
    assert report.summary == "No predictions were published: write-back is not enabled for any schema"
    assert excluded(ledger, "a") is Exclusion.SCHEMA_NOT_ENABLED


def test_empty_outcomes_are_told_in_words(ledger: Ledger) -> None:
    assert write_back(ledger).republish().summary == "No predictions were published: none are stored"
    run_id = next_run(ledger, val="a")
    assert write_back(ledger).publish(run_id, []).summary == "No predictions were published: the run made none"


def test_a_newer_run_replaces_an_older_ones_predictions(ledger: Ledger) -> None:
    first = next_run(ledger, val="abc")
    write_back(ledger).publish(first, [says("a"), says("b"), says("c")])
    second = next_run(ledger, val="ab")
    report = write_back(ledger).publish(second, [says("a"), says("b", 0.7)])
    assert shown(ledger) == {"a": second, "b": second, "c": first}
    assert (report.n_read, report.n_written, report.n_superseded_cleared) == (2, 2, 0)


def test_an_older_pre_label_comes_down_when_the_newest_is_not_shown(ledger: Ledger) -> None:
    first = next_run(ledger, val="abcd")
    write_back(ledger, min_confidence=0.5).publish(first, [says(item) for item in "abcd"])
    second = next_run(ledger, train="d", val="abc")
    reject(ledger, "b")
    report = write_back(ledger, min_confidence=0.5).publish(second, [says("a", 0.4), says("b"), says("c")])
    assert shown(ledger) == {"c": second}
    assert (report.n_written, report.n_superseded_cleared) == (1, 3)
    assert report.summary.endswith("3 earlier pre-labels came down")
    assert excluded(ledger, "d") is Exclusion.TRAIN_SPLIT
    assert published_in_train(ledger) == []


def test_an_older_run_published_again_does_not_replace_a_newer_one(ledger: Ledger) -> None:
    first = next_run(ledger, val="ab")
    write_back(ledger).publish(first, [says("a"), says("b")])
    second = next_run(ledger, val="a")
    write_back(ledger).publish(second, [says("a")])
    report = write_back(ledger).publish(first, [says("a"), says("b")])
    assert shown(ledger) == {"a": second, "b": first}
    assert report.warnings == ("1 prediction was not stored: a newer run has predicted the same items.",)


def test_a_run_published_again_drops_what_it_no_longer_predicts(ledger: Ledger) -> None:
    run_id = next_run(ledger, val="ab")
    write_back(ledger).publish(run_id, [says("a"), says("b")])
    write_back(ledger).publish(run_id, [says("a")])
    assert shown(ledger) == {"a": run_id}
    assert predictions.of_item(ledger, "b") == []


def test_a_schema_that_leaves_is_hidden_and_comes_back(ledger: Ledger) -> None:
    run_id = next_run(ledger, val="ab")
    write_back(ledger).publish(run_id, [says("a"), says("b")])
    report = write_back(ledger, schemas=()).republish()
    assert shown(ledger) == {}
    assert (report.run_id, report.n_read, report.n_superseded_cleared) == (None, 2, 2)
    assert write_back(ledger).republish().n_written == 2
    assert shown(ledger) == {"a": run_id, "b": run_id}
    assert runs.get(ledger, run_id).writeback != report


def test_a_start_takes_down_what_was_rejected_meanwhile(ledger: Ledger) -> None:
    run_id = next_run(ledger, val="ab")
    write_back(ledger).publish(run_id, [says("a"), says("b")])
    reject(ledger, "a")
    report = write_back(ledger).republish()
    assert shown(ledger) == {"b": run_id}
    assert (report.n_read, report.n_written, report.n_skipped_rejected, report.n_superseded_cleared) == (2, 1, 1, 1)


def test_a_start_repairs_what_was_deleted_from_potatos_table(ledger: Ledger) -> None:
    run_id = next_run(ledger, val="ab")
    write_back(ledger).publish(run_id, [says("a"), says("b")])
    execute(ledger.path, "DELETE FROM training_predictions WHERE instance_id = 'a'")
    assert write_back(ledger).republish().n_written == 2
    assert shown(ledger) == {"a": run_id, "b": run_id}


def test_a_start_with_nothing_to_change_writes_only_the_report(ledger: Ledger) -> None:
    run_id = next_run(ledger, val="ab")
    write_back(ledger).publish(run_id, [says("a"), says("b", 0.2)])
    rows = execute(ledger.path, "SELECT * FROM training_predictions")
    generation = execute(ledger.path, "SELECT live_generation FROM pipeline_publications")
    report = write_back(ledger).republish()
    assert (report.n_read, report.n_written) == (2, 2)
    assert execute(ledger.path, "SELECT * FROM training_predictions") == rows
    assert execute(ledger.path, "SELECT live_generation FROM pipeline_publications") == generation


def test_only_one_generation_stays_behind(ledger: Ledger) -> None:
    for _ in range(3):
        run_id = next_run(ledger, val="ab")
        write_back(ledger).publish(run_id, [says("a"), says("b")])
    assert execute(ledger.path, "SELECT count(*) FROM pipeline_predictions") == [(2,)]
    assert execute(ledger.path, "SELECT count(*) FROM pipeline_generations") == [(0,)]


def test_retract_takes_all_of_a_run_down_and_nothing_else(ledger: Ledger) -> None:
    first = next_run(ledger, val="abc")
    write_back(ledger).publish(first, [says("a"), says("b"), says("c")])
    second = next_run(ledger, val="ab")
    write_back(ledger, min_confidence=0.5).publish(second, [says("a"), says("b", 0.1)])
    assert retract(ledger, second) == Retraction(second, n_retracted=2, n_taken_down=1)
    assert shown(ledger) == {"c": first}
    assert retract(ledger, second) == Retraction(second, 0, 0)
    write_back(ledger).republish()
    assert shown(ledger) == {"c": first}
    with pytest.raises(PipelineError, match="No such run: nobody"):
        retract(ledger, "nobody")


def test_a_run_with_stored_predictions_is_not_pruned(ledger: Ledger) -> None:
    run_id = next_run(ledger, val="a")
    write_back(ledger, schemas=()).publish(run_id, [says("a")])
    runs.finish(ledger, run_id, Status.SUCCESS)
    assert prune(ledger, retain_runs=0) == []
    retract(ledger, run_id)
    assert prune(ledger, retain_runs=0) == [run_id]


@pytest.mark.parametrize("status", [Status.ERROR, Status.CANCELLED])
def test_a_run_that_failed_publishes_nothing(ledger: Ledger, status: Status) -> None:
    run_id = next_run(ledger, val="a")
    runs.finish(ledger, run_id, status)
    with pytest.raises(PipelineError, match=f"is {status}"):
        write_back(ledger).publish(run_id, [says("a")])


def test_a_run_whose_splits_are_not_written_publishes_nothing(ledger: Ledger) -> None:
    run_id = next_run(ledger, val="a")
    execute(ledger.path, "UPDATE pipeline_runs SET items_written = 0")
    with pytest.raises(PipelineError, match="not all in the ledger"):
        write_back(ledger).publish(run_id, [says("a")])


def test_a_run_cancelled_while_it_publishes_publishes_nothing(ledger: Ledger) -> None:
    run_id = next_run(ledger, val="ab")

    def cancelled_halfway() -> Iterator[Prediction]:
        yield says("a")
        runs.finish(ledger, run_id, Status.CANCELLED)
        yield says("b")

    with pytest.raises(PipelineError, match="is cancelled"):
        write_back(ledger).publish(run_id, cancelled_halfway())
    assert shown(ledger) == {}
    assert execute(ledger.path, "SELECT count(*) FROM pipeline_predictions") == [(0,)]


def test_a_verdict_given_while_a_run_publishes_counts(ledger: Ledger) -> None:
    run_id = next_run(ledger, val="abc")

    def rejected_halfway() -> Iterator[Prediction]:
        yield says("a")
        reject(ledger, "a")
        reject(ledger, "b")
        yield says("b")
        yield says("c")

    report = write_back(ledger).publish(run_id, rejected_halfway())
    assert shown(ledger) == {"c": run_id}
    assert (report.n_read, report.n_written, report.n_skipped_rejected) == (3, 1, 2)


def test_a_publication_made_while_a_run_publishes_is_not_lost(ledger: Ledger) -> None:
    first = next_run(ledger, val="ab")
    write_back(ledger).publish(first, [says("a"), says("b")])
    second = next_run(ledger, val="a")

    def retracted_halfway() -> Iterator[Prediction]:
        yield says("a")
        retract(ledger, first)

    write_back(ledger).publish(second, retracted_halfway())
    assert shown(ledger) == {"a": second}
    assert predictions.of_item(ledger, "b") == []


def test_a_bad_prediction_leaves_everything_as_it_was(ledger: Ledger) -> None:
    first = next_run(ledger, val="ab")
    write_back(ledger).publish(first, [says("a")])
    second = next_run(ledger, val="ab")
    for bad in (says("a"), Prediction("b", "sentiment", "positive", 0.9)):
        with pytest.raises(PipelineError) as refused:
            write_back(ledger).publish(second, [says("a"), bad])
        assert refused.value.code == "bad_prediction"
    assert shown(ledger) == {"a": first}
    assert execute(ledger.path, "SELECT count(*) FROM pipeline_predictions") == [(1,)]


def test_an_unknown_schema_in_the_settings_is_named(ledger: Ledger) -> None:
    with pytest.raises(PipelineError, match=r"names stance.*its schemas are sentiment, topics, rating"):
        write_back(ledger, schemas=("stance",)).republish()


def test_another_projects_pre_labels_are_never_touched(tmp_path: Path, ledger: Ledger) -> None:
    other = make_ledger(tmp_path, "another")
    theirs = next_run(other, val="ab")
    write_back(other).publish(theirs, [says("a"), says("b")])
    ours = next_run(ledger, val="a")
    write_back(ledger).publish(ours, [says("a")])
    retract(ledger, ours)
    rows = execute(other.path, "SELECT project, instance_id, run_id FROM training_predictions")
    assert rows == [("another", "a", theirs), ("another", "b", theirs)]
    assert predictions.count(other) == {None: 2}


def test_more_than_one_batch(ledger: Ledger) -> None:
    ids = [f"{k:06d}" for k in range(25_000)]
    run_id = next_run(ledger, val=["a"])  # type: ignore[arg-type]
    report = write_back(ledger, known=ids, min_confidence=0.5).publish(
        run_id, (says(item, (k % 10) / 10) for k, item in enumerate(ids))
    )
    assert (report.n_read, report.n_written, report.n_skipped_low_confidence) == (25_000, 12_500, 12_500)
    again = write_back(ledger, known=ids, min_confidence=0.9).republish()
    assert (again.n_written, again.n_superseded_cleared) == (2_500, 10_000)
    assert len(shown(ledger)) == 2_500


class TestOnTheRecordedLedger:
    """141 predictions that the annotation server's own runs made; alice rejected mr-01111."""

    @pytest.fixture
    def recorded(self, tmp_path: Path) -> Ledger:
        return Ledger(copy_recorded("sentiment", tmp_path) / "project.sqlite", "Movie snippet sentiment")

    @pytest.fixture
    def known(self, recorded: Ledger) -> KnownItems:
        return KnownItems({item for item, _, _ in predictions.shown(recorded)})

    def write_back(self, recorded: Ledger, known: KnownItems, *schemas: str) -> WriteBack:
        sentiment = Schema("sentiment", "radio", Kind.NOMINAL, options=("positive", "neutral", "negative"))
        return WriteBack(recorded, WritebackSettings(schemas), (sentiment,), known)

    def test_a_start_puts_them_through_the_checks(self, recorded: Ledger, known: KnownItems) -> None:
        report = self.write_back(recorded, known, "sentiment").republish()
        # The server itself showed 139 of them after a restart.
        assert (report.n_read, report.n_written) == (141, 139)
        assert (report.n_skipped_rejected, report.n_skipped_train_split) == (1, 1)

    def test_without_an_enabled_schema_what_the_server_shows_stays(self, recorded: Ledger, known: KnownItems) -> None:
        report = self.write_back(recorded, known).republish()
        assert (report.n_written, report.n_skipped_train_split, report.n_skipped_rejected) == (0, 1, 1)
        assert report.summary.startswith("No predictions were published: write-back is not enabled for any schema")
        assert len(list(predictions.shown(recorded))) == 139

    def test_a_servers_run_can_be_retracted(self, recorded: Ledger) -> None:
        assert retract(recorded, "20261130T153219-7787b8").n_taken_down == 140
        assert len(list(predictions.shown(recorded))) == 1
