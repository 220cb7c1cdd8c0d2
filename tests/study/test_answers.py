from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.recorded import RECORDED, copy_recorded, expected
from tests.studies import SENTIMENT, make_study, write_answers
from training_pipeline.errors import PipelineError
from training_pipeline.study.answers import (
    Answers,
    LeftOut,
    Value,
    annotated_items,
    answer_files,
    answers_version,
    read_answers,
)
from training_pipeline.study.config import Study, load_study
from training_pipeline.study.items import read_index
from training_pipeline.study.kinds import Kind


def read(study: Study, schema: str = "sentiment") -> tuple[dict[tuple[str, str], Value], LeftOut]:
    """The answers as {(annotator, item): value}, and what was left out."""
    answers, left_out = read_answers(study, study.schema(schema), set(read_index(study).ids))
    return rows(answers), left_out


def rows(answers: Answers) -> dict[tuple[str, str], Value]:
    table = {
        (answers.annotators[a], answers.items[i]): answers.values[v]
        for a, i, v in zip(answers.annotator, answers.item, answers.value, strict=True)
    }
    assert len(table) == len(answers)
    return table


def study_of(tmp_path: Path, answers: dict[str, Any], **keys: Any) -> Study:
    items = [{"id": name, "text": "t"} for name in ("a", "b", "c")]
    return load_study(make_study(tmp_path, items=items, answers=answers, **keys))


POSITIVE, NEGATIVE = {"sentiment": "positive"}, {"sentiment": "negative"}


def test_one_row_an_annotator_and_item_in_a_fixed_order(tmp_path: Path) -> None:
    study = study_of(tmp_path, {"bo": {"c": POSITIVE, "a": NEGATIVE}, "al": {"c": POSITIVE}, "idle": {}})
    answers, left_out = read_answers(study, study.schema("sentiment"), {"a", "b", "c"})
    assert answers.items == ["a", "c"]
    assert answers.annotators == ["al", "bo"]
    assert answers.values == ["negative", "positive"]
    assert list(zip(answers.annotator, answers.item, answers.value, strict=True)) == [(0, 1, 1), (1, 0, 0), (1, 1, 1)]
    assert left_out == LeftOut()


def test_nobody_has_answered(tmp_path: Path) -> None:
    answers, left_out = read_answers(study_of(tmp_path, {}), study_of(tmp_path, {}).schema("sentiment"), {"a"})
    assert (len(answers), answers.items, answers.annotators, answers.values) == (0, [], [], [])
    assert left_out == LeftOut()


def test_both_encodings_of_one_answer_are_one_value(tmp_path: Path) -> None:
    study = study_of(tmp_path, {"al": {"a": POSITIVE}})
    for annotator, value in (("bo", True), ("cy", "positive"), ("di", "true")):
        labels = {"a": {"sentiment": {"positive": value}}, "b": {"other": {"x": True}}}
        write_answers(study.output_dir, annotator, {}, instance_id_to_label_to_value=labels)
    assert read(study)[0] == {(name, "a"): "positive" for name in ("al", "bo", "cy", "di")}


def test_an_importers_file_holds_labels_alone(tmp_path: Path) -> None:
    study = study_of(tmp_path, {})
    (study.output_dir / "al").mkdir()
    state = {"user_id": "al", "instance_id_to_label_to_value": {"a": {"sentiment": {"negative": True}}}}
    (study.output_dir / "al" / "user_state.json").write_text(json.dumps(state))
    assert read(study)[0] == {("al", "a"): "negative"}


def test_true_and_one_are_told_apart(tmp_path: Path) -> None:
    schemes = [{"annotation_type": "slider", "name": "s", "min_value": 0, "max_value": 2}]
    answers = {"al": {"a": {"s": {"slider": 1}}, "b": {"s": {"slider": True}}, "c": {"s": {"slider": False}}}}
    study = study_of(tmp_path, answers, schemes=schemes)
    assert read(study, "s") == ({("al", "a"): 1.0}, LeftOut(n_undecodable=1))


def test_answers_to_items_that_are_gone_are_counted(tmp_path: Path) -> None:
    study = study_of(tmp_path, {"al": {"a": POSITIVE, "gone": POSITIVE}, "bo": {"gone": NEGATIVE}})
    assert read(study) == ({("al", "a"): "positive"}, LeftOut(unknown_items=(("al", "gone"), ("bo", "gone"))))


@pytest.mark.parametrize(
    "labels",
    [
        [["positive"]],
        [[{"name": "positive"}, "positive"]],
        [["sentiment", "positive"]],
        {"sentiment": "positive"},
        7,
        [[{"schema": "sentiment", "name": "positive"}, "x"], [{"schema": "sentiment", "name": "negative"}, "x"]],
    ],
)
def test_labels_that_mean_nothing_are_counted(tmp_path: Path, labels: Any) -> None:
    study = study_of(tmp_path, {})
    write_answers(study.output_dir, "al", {}, instance_id_to_label_to_value={"a": labels})
    assert read(study) == ({}, LeftOut(n_undecodable=1))


@pytest.mark.parametrize("odd", ["[" * 3000 + "]" * 3000, "1" * 5000], ids=["deep", "long"])
def test_a_file_that_python_cannot_hold_is_left_out_and_named(tmp_path: Path, odd: str) -> None:
    study = study_of(tmp_path, {"al": {"a": POSITIVE}, "bo": {"b": POSITIVE}})
    path = study.output_dir / "bo" / "user_state.json"
    path.write_text(f'{{"odd": {odd}, {path.read_text()[1:]}')
    found, left_out = read(study)
    assert found == {("al", "a"): "positive"}
    assert [name for name, _ in left_out.unreadable_files] == [path]


def test_an_answer_nested_deeper_than_python_follows_is_counted(tmp_path: Path) -> None:
    scheme = {"annotation_type": "image_annotation", "name": "boxes", "description": "d", "labels": ["x"]}
    study = study_of(tmp_path, {"al": {"a": {"boxes": []}, "b": {"boxes": []}}}, schemes=[scheme])
    path = study.output_dir / "al" / "user_state.json"
    deep = "[" * 990 + "]" * 990
    path.write_text(path.read_text().replace('"[]"', deep, 1))
    assert deep in path.read_text()
    found, left_out = read(study, "boxes")
    assert list(found) == [("al", "b")]
    assert left_out.n_undecodable == 1


def test_a_torn_file_is_left_out_and_named(tmp_path: Path) -> None:
    study = study_of(tmp_path, {"al": {"a": POSITIVE}, "bo": {"a": NEGATIVE}})
    torn = study.output_dir / "bo" / "user_state.json"
    torn.write_bytes(torn.read_bytes()[:-40])
    answers, left_out = read(study)
    assert answers == {("al", "a"): "positive"}
    ((path, reason),) = left_out.unreadable_files
    assert path == torn
    assert reason.startswith("not a whole JSON file: ")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not a whole JSON file: "),
        (b"\xff", "not a whole JSON file: "),
        (b"[]", "it holds no JSON object"),
        (b'{"instance_id_to_label_to_value": [1]}', "the answers in it are not kept by item"),
    ],
)
def test_the_run_fails_when_no_file_can_be_read(tmp_path: Path, content: bytes, reason: str) -> None:
    study = study_of(tmp_path, {"al": {}})
    (study.output_dir / "al" / "user_state.json").write_bytes(content)
    with pytest.raises(
        PipelineError, match=f"No annotator's file can be read.*\n.*user_state.json: {reason}"
    ) as caught:
        read(study)
    assert caught.value.code == "bundle_failed"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("shut", ["bo", "bo/user_state.json"])
def test_a_file_of_another_user_is_left_out_and_named(tmp_path: Path, shut: str) -> None:
    study = study_of(tmp_path, {"al": {"a": POSITIVE}, "bo": {"a": NEGATIVE}, "cy": {"a": NEGATIVE}})
    (study.output_dir / shut).chmod(0)
    answers, left_out = read(study)
    (study.output_dir / shut).chmod(0o700)
    assert answers == {("al", "a"): "positive", ("cy", "a"): "negative"}
    assert left_out.unreadable_files == ((study.output_dir / "bo" / "user_state.json", "Permission denied"),)


def test_without_an_output_folder_there_are_no_answers(tmp_path: Path) -> None:
    study = study_of(tmp_path, {})
    study.output_dir.rmdir()
    assert read(study) == ({}, LeftOut())


def test_a_file_with_pythons_nan_is_read(tmp_path: Path) -> None:
    study = study_of(tmp_path, {})
    write_answers(study.output_dir, "al", {"a": POSITIVE}, crowd_metadata={"score": float("nan")})
    assert read(study)[0] == {("al", "a"): "positive"}


def test_machines_do_not_vote(tmp_path: Path) -> None:
    study = study_of(
        tmp_path,
        {"al": {"a": POSITIVE}, "listed": {"a": NEGATIVE}},
        machine_annotators={"annotators": [{"id": "listed", "name": "A model"}]},
    )
    write_answers(study.output_dir, "marked", {"a": NEGATIVE}, origin={"type": "model"})
    assert read(study) == ({("al", "a"): "positive"}, LeftOut(machine_annotators=("listed", "marked")))


def test_a_span_schema_takes_spans_and_no_other_schemas(tmp_path: Path) -> None:
    schemes = [SENTIMENT, *({"annotation_type": "span", "name": name, "labels": ["x"]} for name in ("s", "t"))]
    spans = [{"start": 0, "end": 1, "name": "x"}]
    answers = {"al": {"a": {"s": spans, "sentiment": "positive"}, "b": {"t": spans}, "c": {"s": []}}}
    study = study_of(tmp_path, answers, schemes=schemes)
    assert read(study, "s")[0] == {("al", "a"): '[{"end":1,"name":"x","start":0}]'}
    assert read(study)[0] == {("al", "a"): "positive"}


def test_annotated_items_are_those_that_a_person_answered_for_any_schema(tmp_path: Path) -> None:
    schemes = [SENTIMENT, {"annotation_type": "span", "name": "s", "labels": ["x"]}]
    spans = [{"start": 0, "end": 1, "name": "x"}]
    answers = {"al": {"a": POSITIVE, "d": POSITIVE}, "bo": {"b": {"s": spans}, "c": {"sentiment": {"positive": False}}}}
    study = study_of(tmp_path, answers, schemes=schemes)
    write_answers(study.output_dir, "model", {"e": POSITIVE}, origin={"type": "model"})
    (study.output_dir / "torn").mkdir()
    (study.output_dir / "torn" / "user_state.json").write_text("{")
    assert annotated_items(study, {"a", "b", "c", "e"}) == {"a", "b"}
    assert annotated_items(study, set()) == set()


NAMES = ["None", "1", "a|b", "a, b", "true", "yes: no", "🥔"]


def test_any_text_is_a_label_and_any_text_an_id(tmp_path: Path) -> None:
    ids = [f"{name}/{'x' * 5_000}" for name in NAMES]
    scheme = {"annotation_type": "radio", "name": "r", "labels": NAMES}
    answers = {"al": {item: {"r": name} for item, name in zip(ids, NAMES, strict=True)}}
    items = [{"id": item} for item in ids]
    study = load_study(make_study(tmp_path, items=items, schemes=[scheme], answers=answers))
    assert read(study, "r")[0] == {("al", item): name for item, name in zip(ids, NAMES, strict=True)}


def test_the_recorded_radio_answers_are_the_votes_that_the_server_counted() -> None:
    study = load_study(RECORDED / "sentiment_2_12_1")
    answers, left_out = read(study)
    assert (len(answers), left_out) == (241 + 240 + 120, LeftOut())
    votes = expected("sentiment")["majority"]["votes"]
    n_answers = {item: sum(1 for _, answered in answers if answered == item) for item in votes}
    assert n_answers == {item: vote["num_annotators"] for item, vote in votes.items()}


@pytest.mark.parametrize(
    ("schema", "n_answers", "value"),
    [
        ("useful", 99, "no"),
        ("device", 99, "camera"),
        ("strength", 99, "1"),
        ("agree", 99, "disagree"),
        ("aspects", 99, ("other",)),
        ("valence", 93, -1.0),
        ("stars", 99, 2.0),
        ("note", 34, "bad: troubleshooting ad-2500 and ad-2600"),
    ],
)
def test_the_recorded_answers_of_each_type(schema: str, n_answers: int, value: Value) -> None:
    answers, left_out = read(load_study(RECORDED / "mixed_2_12_1"), schema)
    assert left_out == LeftOut()
    assert len(answers) == n_answers
    assert answers["alice", "az-1_1"] == value
    assert ("bob", "az-82_5") not in answers


def test_nothing_here_is_an_answer() -> None:
    answers, _ = read(load_study(RECORDED / "vision_2_12_1"), "objects")
    assert [name for name in ("alice", "bob") if answers[name, "img-007"] == "[]"] == ["alice", "bob"]


def test_every_recorded_span_decodes() -> None:
    study = load_study(RECORDED / "mixed_2_12_1")
    answers, left_out = read(study, "opinion")
    assert study.schema("opinion").kind is Kind.SPAN
    assert (len(answers), left_out.n_undecodable) == (93, 0)


def test_the_version_changes_exactly_when_a_file_does(tmp_path: Path) -> None:
    study = load_study(copy_recorded("sentiment", tmp_path))
    before = answers_version(study)
    (study.output_dir / "training").mkdir()
    (study.output_dir / "alice" / "annotation_history.jsonl").write_text("{}\n")
    assert answers_version(study) == before
    write_answers(study.output_dir, "dora", {"mr-09079": POSITIVE})
    with_dora = answers_version(study)
    assert with_dora != before
    (study.output_dir / "dora").rename(study.output_dir / "dana")
    assert answers_version(study) not in (before, with_dora)


def test_the_files_are_listed_with_their_size() -> None:
    study = load_study(RECORDED / "sentiment_2_12_1")
    files = answer_files(study)
    assert files.annotators == ("alice", "bob", "carol")
    assert files.n_bytes == sum(path.stat().st_size for path in study.output_dir.glob("*/user_state.json"))
