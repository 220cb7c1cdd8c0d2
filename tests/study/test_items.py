from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.recorded import RECORDED
from tests.studies import make_study
from training_pipeline.errors import ConfigError, PipelineError
from training_pipeline.study.config import Study, load_study
from training_pipeline.study.items import Item, iter_items, read_index


def study_of(directory: Path, files: dict[str, bytes], **keys: Any) -> Study:
    """A study whose data files hold these bytes."""
    encodings = keys.pop("encodings", {})
    entries = [{"path": f"data/{name}", "encoding": encodings.get(name, "utf-8")} for name in files]
    config = make_study(directory, data_files=entries, **keys)
    for name, content in files.items():
        (directory / "data" / name).write_bytes(content)
    return load_study(config)


def pairs(study: Study) -> list[tuple[str, str]]:
    return [(item.id, item.text) for item in iter_items(study)]


TWO = [("1", "one"), ("2", "zwei, ü")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("items.jsonl", '{"id": 1, "text": "one"}\n\n{"id": "2", "text": "zwei, ü"}'),
        ("items.jsonl", '\ufeff{"id": 1, "text": "one"}\r\n{"id": "2", "text": "zwei, ü"}\r\n'),
        ("items.json", '[{"id": 1, "text": "one"},\n {"id": "2", "text": "zwei, ü"}]'),
        ("items.json", '\ufeff[{"id": 1, "text": "one"}, {"id": "2", "text": "zwei, ü"}]'),
        ("items.json", '{"id": 1, "text": "one"}\r\n{"id": "2", "text": "zwei, ü"}\r\n'),
        ("items.csv", 'id,text\n1,one\n2,"zwei, ü"\n'),
        ("items.csv", '\ufeffid,text\r\n1,one\r\n\r\n2,"zwei, ü"\r\n'),
        ("items.csv", 'id,text\r1,one\r2,"zwei, ü"\r'),
        ("items.tsv", "id\ttext\n1\tone\n2\tzwei, ü\n"),
    ],
)
def test_formats(tmp_path: Path, name: str, content: str) -> None:
    assert pairs(study_of(tmp_path, {name: content.encode()})) == TWO


def test_parquet(tmp_path: Path) -> None:
    study = study_of(tmp_path, {"items.parquet": b""})
    table = pa.table({"id": [1, 2], "text": ["one", None], "stars": [5, 4]})
    pq.write_table(table, tmp_path / "data" / "items.parquet")
    assert list(iter_items(study)) == [
        Item("1", "one", {"id": 1, "text": "one", "stars": 5}),
        Item("2", "", {"id": 2, "text": None, "stars": 4}),
    ]


def test_a_single_object_is_one_item(tmp_path: Path) -> None:
    assert pairs(study_of(tmp_path, {"items.json": b'{"id": "a",\n "text": "one"}\n'})) == [("a", "one")]


@pytest.mark.parametrize("name", ["items.json", "items.jsonl", "items.csv", "items.tsv"])
def test_an_empty_file_holds_no_items(tmp_path: Path, name: str) -> None:
    study = study_of(tmp_path, {name: b""})
    assert pairs(study) == []
    assert len(read_index(study)) == 0


def test_an_encoding_that_is_named_is_used(tmp_path: Path) -> None:
    files = {
        "a.csv": "id,text\n1,café\n".encode("latin-1"),
        "b.jsonl": '{"id": 2, "text": "naïve"}\n'.encode("utf-16"),
    }
    study = study_of(tmp_path, files, encodings={"a.csv": "latin-1", "b.jsonl": "utf-16"})
    assert pairs(study) == [("1", "café"), ("2", "naïve")]


def test_cells_stay_the_text_that_stands_there(tmp_path: Path) -> None:
    study = study_of(tmp_path, {"items.csv": b"id,text,n\n007,NA,1.50\n1e3,None\n"})
    assert [dict(item.fields) for item in iter_items(study)] == [
        {"id": "007", "text": "NA", "n": "1.50"},
        {"id": "1e3", "text": "None", "n": ""},
    ]


def test_a_cell_may_be_longer_than_the_csv_modules_own_limit(tmp_path: Path) -> None:
    study = study_of(tmp_path, {"items.csv": b"id,text\n1," + b"x" * 200_000 + b"\n"})
    assert [len(text) for _, text in pairs(study)] == [200_000]


NASTY_IDS = ["img/0001.jpg", "a b", " lead", "🥔", 'it\'s "x"', "None", "../up", "x" * 10_000, "a\nb", "a,b", "\\"]


def test_any_text_is_an_id(tmp_path: Path) -> None:
    lines = "".join(json.dumps({"id": name, "text": "t"}) + "\n" for name in NASTY_IDS)
    study = study_of(tmp_path, {"items.jsonl": lines.encode()})
    assert read_index(study).ids == NASTY_IDS


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ('{"id": 1}', ""),
        ('{"id": 1, "text": null}', ""),
        ('{"id": 1, "text": NaN}', ""),
        ('{"id": 1, "text": ""}', ""),
        ('{"id": 1, "text": " "}', " "),
        ('{"id": 1, "text": 5}', "5"),
        ('{"id": 1, "text": ["hi", "ho"]}', "hi\nho"),
        ('{"id": 1, "text": {"b": 1, "a": "ü"}}', '{"a":"ü","b":1}'),
        ('{"id": 1, "text": "half \\ud83d"}', "half ?"),
    ],
)
def test_text_to_learn_from(tmp_path: Path, record: str, text: str) -> None:
    study = study_of(tmp_path, {"items.jsonl": record.encode()})
    assert pairs(study) == [("1", text)]
    assert read_index(study).n_empty_texts == (not text)


@pytest.mark.parametrize(
    ("name", "content", "where"),
    [
        (
            "i.jsonl",
            b'\n{"id": 1}\n{"id": "1"}\n',
            r"i\.jsonl, line 3: the id '1' stands at .*i\.jsonl, line 2 already",
        ),
        (
            "i.json",
            b'[{"id": 1},\n {"id": 2},\n\n {"id": "1"}]',
            r"i\.json, line 4: the id '1' stands at .*, line 1 al",
        ),
        ("i.json", b'{"id": 1}\n{"id": 1}\n', r"i\.json, line 2: the id '1' stands at .*line 1 already"),
        ("i.csv", b'id,text\n1,"a\nb"\n\n2,c\n1,d\n', r"i\.csv, line 6: the id '1' stands at .*i\.csv, line 2 already"),
        ("i.tsv", b"id\ttext\n1\ta\n1\tb\n", r"i\.tsv, line 3: the id '1' stands at .*i\.tsv, line 2 already"),
        ("i.jsonl", b'{"id": 1}\n{"text": "a"}\n', r"i\.jsonl, line 2: the item has no 'id'"),
        ("i.jsonl", b'{"id": null}\n', r"i\.jsonl, line 1: the item has no 'id'"),
        ("i.jsonl", b'{"id": NaN}\n', r"i\.jsonl, line 1: the item has no 'id'"),
        ("i.json", b'[{"id": 1},\n{"id": ""}]', r"i\.json, line 2: the item has no 'id'"),
        ("i.csv", b"id,text\n1,a\n,b\n", r"i\.csv, line 3: the item has no 'id'"),
        ("i.csv", b"name,text\n1,a\n", r"i\.csv, line 2: the item has no 'id'"),
        ("i.csv", b"id,text\n1,a,b\n", r"i\.csv, line 2: 3 cells under 2 names"),
        ("i.csv", b"id,text,id\n1,a,2\n", r"i\.csv, line 1: two columns are named 'id'"),
        ("i.csv", b"id,text\n1,a\n2,\xff\n", r"i\.csv, line 3: not utf-8: .*give the file's encoding in data_files"),
        ("i.jsonl", b'{"id": 1}\n{"id": 2, "text": "\xff"}\n', r"i\.jsonl, line 2: not utf-8"),
        ("i.jsonl", b'{"id": 1}\n{"id": \n', r"i\.jsonl, line 2: not JSON: Expecting value"),
        ("i.jsonl", b'{"id": 1}\n[1, 2]\n', r"i\.jsonl, line 2: an item must be an object of fields, not \[1, 2\]"),
        ("i.json", b'[{"id": 1},\n {"id" 2}]', r"i\.json, line 2: not JSON: .*, column 8"),
        ("i.json", b'[{"id": 1}, [],\n 3]', r"i\.json, line 1: an item must be an object of fields, not \[\]"),
        ("i.parquet", b"PAR?", r"i\.parquet: not parquet"),
    ],
)
def test_what_cannot_be_an_item_is_refused_by_file_and_line(
    tmp_path: Path, name: str, content: bytes, where: str
) -> None:
    study = study_of(tmp_path, {name: content})
    with pytest.raises(PipelineError, match=where) as caught:
        read_index(study)
    assert caught.value.code == "bad_items"
    with pytest.raises(PipelineError, match=where):
        list(iter_items(study))


def test_a_duplicate_across_files_names_both(tmp_path: Path) -> None:
    study = study_of(tmp_path, {"a.csv": b"id,text\n1,a\n", "b.parquet": b""})
    pq.write_table(pa.table({"id": ["0", "1"]}), tmp_path / "data" / "b.parquet")
    with pytest.raises(PipelineError, match=r"b\.parquet, row 2: the id '1' stands at .*a\.csv, line 2 already"):
        read_index(study)


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    study = study_of(tmp_path, {"a.jsonl": b""})
    (tmp_path / "data" / "a.jsonl").unlink()
    with pytest.raises(PipelineError, match=r"a\.jsonl: cannot be read: No such file"):
        read_index(study)


def test_items_that_the_server_added_while_it_ran_come_last(tmp_path: Path) -> None:
    study = load_study(make_study(tmp_path, items=[{"id": "a", "text": "one"}]))
    added = study.output_dir / "runtime_items.jsonl"
    added.write_text('{"id": "b", "data": {"id": "b", "text": "two"}}\n')
    assert pairs(study) == [("a", "one"), ("b", "two")]
    added.write_text('{"id": "b", "text": "two"}\n')
    with pytest.raises(PipelineError, match=r"runtime_items\.jsonl, line 1: not a record of an item added at run time"):
        pairs(study)


def test_groups_are_texts_in_the_order_of_the_ids(tmp_path: Path) -> None:
    items = [{"id": i, "text": "t", "review": review} for i, review in enumerate((7, "7", 8, "x y"))]
    study = load_study(make_study(tmp_path, items=items, training={"splits_by": "review"}))
    index = read_index(study)
    assert index.ids == ["0", "1", "2", "3"]
    assert index.groups == ["7", "7", "8", "x y"]


def test_without_splits_by_there_are_no_groups(tmp_path: Path) -> None:
    assert read_index(load_study(make_study(tmp_path, items=[{"id": 1}]))).groups is None


@pytest.mark.parametrize("review", [{}, {"review": None}, {"review": ""}])
def test_an_item_without_its_group_is_refused(tmp_path: Path, review: dict[str, Any]) -> None:
    items = [{"id": "a", "review": 1}, {"id": "b", **review}]
    study = load_study(make_study(tmp_path, items=items, training={"splits_by": "review"}))
    with pytest.raises(PipelineError, match=r"item 'b': has no 'review', the field of model_training\.splits_by"):
        read_index(study)


@pytest.mark.parametrize("as_list", [True, False])
def test_supplied_pre_labels_stand_in_the_item_or_else_in_the_file(tmp_path: Path, as_list: bool) -> None:
    guess = {"sentiment": "positive", "gone": "x"}
    items: list[dict[str, Any]] = [
        {"id": "own", "predictions": {"sentiment": {"label": "negative"}}},
        {"id": "own and empty", "predictions": {}},
        {"id": "filed"},
        {"id": "null", "predictions": {"sentiment": None}},
        {"id": "none"},
    ]
    by_id = {"filed": guess, "own and empty": guess, "elsewhere": guess}
    listed = [{"instance_id": item_id, "predictions": guess} for item_id in by_id]
    config = make_study(
        tmp_path, items=items, pre_annotation={"enabled": True, "predictions_file": "data/guesses.json"}
    )
    (tmp_path / "data" / "guesses.json").write_text(json.dumps(listed if as_list else by_id))
    assert read_index(load_study(config)).supplied == {("own", "sentiment"), ("filed", "sentiment")}


def test_a_predictions_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    keys = {"enabled": True, "predictions_file": "data/guesses.json"}
    study = load_study(make_study(tmp_path, pre_annotation=keys))
    with pytest.raises(ConfigError, match=r"pre_annotation\.predictions_file: .*guesses\.json cannot be read"):
        read_index(study)
    for content in ("{", "[1]", "3", DEEP, "1" * 5000):
        (tmp_path / "data" / "guesses.json").write_text(content)
        with pytest.raises(ConfigError, match=r"pre_annotation\.predictions_file: .*guesses\.json (is not|must hold)"):
            read_index(study)


def lines_of(record: str) -> bytes:
    return ('{"id": "a", "text": "t"}\n' + record + "\n").encode()


DEEP = "[" * 3000 + "]" * 3000
DEEP_AS_IT_CAN_BE_READ = "[" * 1000 + "]" * 1000


@pytest.mark.parametrize(
    ("record", "where"),
    [
        ('{"id": "b", "text": "t", "n": ' + "1" * 5000 + "}", r"items\.jsonl, line 2: .*4,300 digits, column 31"),
        ('{"id": "b", "text": "t", "n": ' + DEEP + "}", r"items\.jsonl, line 2: .*nested too deep"),
        ('{"id": "b", "text": ' + DEEP_AS_IT_CAN_BE_READ + "}", "item 'b': 'text' is nested too deep"),
        ('{"id": ' + DEEP_AS_IT_CAN_BE_READ + ', "text": "t"}', r"items\.jsonl, line 2: 'id' is nested too deep"),
        ('{"id": "b", "text": "t", "g": ' + DEEP_AS_IT_CAN_BE_READ + "}", "item 'b': 'g' is nested too deep"),
        (DEEP_AS_IT_CAN_BE_READ, r"items\.jsonl, line 2: an item must be an object"),
    ],
)
def test_a_record_that_python_cannot_hold_is_named(tmp_path: Path, record: str, where: str) -> None:
    lines = lines_of(record).replace(b'"text": "t"}', b'"text": "t", "g": "x"}', 1)
    study = study_of(tmp_path, {"items.jsonl": lines}, training={"splits_by": "g"})
    with pytest.raises(PipelineError, match=where) as refused:
        read_index(study)
    assert refused.value.code == "bad_items"


def test_an_array_that_python_cannot_hold_is_named(tmp_path: Path) -> None:
    study = study_of(tmp_path, {"items.json": f'[{{"id": "a"}},\n{{"id": "b", "n": {"1" * 5000}}}]'.encode()})
    with pytest.raises(PipelineError, match=r"items\.json, line 2: .*4,300 digits"):
        read_index(study)


def test_a_structure_with_no_number_in_a_number_is_a_text(tmp_path: Path) -> None:
    study = study_of(tmp_path, {"items.jsonl": lines_of('{"id": "b", "text": {"turn": "good", "score": NaN}}')})
    assert pairs(study) == [("a", "t"), ("b", '{"score":NaN,"turn":"good"}')]


def test_a_structure_with_a_date_in_parquet_is_a_text(tmp_path: Path) -> None:
    study = study_of(tmp_path, {"items.parquet": b""})
    pq.write_table(pa.table({"id": ["a"], "text": [{"day": date(2026, 1, 2)}]}), tmp_path / "data" / "items.parquet")
    assert pairs(study) == [("a", '{"day":"2026-01-02"}')]


def test_a_value_in_parquet_that_python_has_no_room_for_is_named(tmp_path: Path) -> None:
    study = study_of(tmp_path, {"items.parquet": b""})
    table = pa.table({"id": ["a"], "text": ["t"], "at": pa.array([2**62], pa.timestamp("us"))})
    pq.write_table(table, tmp_path / "data" / "items.parquet")
    with pytest.raises(PipelineError, match=r"items\.parquet: ") as refused:
        read_index(study)
    assert refused.value.code == "bad_items"


def test_the_recorded_studies() -> None:
    sentiment, mixed, vision = (
        read_index(load_study(RECORDED / f"{name}_2_12_1")) for name in ("sentiment", "mixed", "vision")
    )
    assert (len(sentiment), len(mixed), len(vision)) == (320, 59, 24)
    assert {item_id for item_id, _ in vision.supplied} == {"img-020", "img-021", "img-022", "img-023"}
    assert ("az-272_45", "opinion") in mixed.supplied
    assert sentiment.supplied == frozenset()
