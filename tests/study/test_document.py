"""YAML as values with places: what is found where, and what is refused."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import yaml

from tests.recorded import RECORDED
from training_pipeline.errors import ConfigError
from training_pipeline.study.document import MAX_VALUES, Document, Duplicate, Place, format_path, read_document


def document(directory: Path, text: str | bytes) -> Document:
    path = directory / "file.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_document(path)


def refusal(directory: Path, text: str | bytes) -> str:
    with pytest.raises(ConfigError) as caught:
        document(directory, text)
    return str(caught.value).removeprefix(f"{directory / 'file.yaml'}")


TEXT = """\
model_training:
  splits: {train: 0.7, val: 0.3}
  writeback:
    schemas:
      - sentiment
      - [a, b]
    yes: 1
    5: x
  other: &anchor
    deep: 1
  merged:
    <<: *anchor
    own: 2
  again: *anchor
"""


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), Place(1, 1)),
        (("model_training", "splits"), Place(2, 3)),
        (("model_training", "splits", "val"), Place(2, 24)),
        (("model_training", "splits", "test"), Place(2, 3)),
        (("model_training", "writeback", "schemas", 0), Place(5, 9)),
        (("model_training", "writeback", "schemas", 1, 1), Place(6, 13)),
        (("model_training", "writeback", "schemas", 7), Place(4, 5)),
        (("model_training", "writeback", True), Place(7, 5)),
        (("model_training", "writeback", "True"), Place(7, 5)),
        (("model_training", "writeback", 5), Place(8, 5)),
        (("model_training", "merged", "deep"), Place(10, 5)),
        (("model_training", "merged", "own"), Place(13, 5)),
        (("model_training", "again", "deep"), Place(10, 5)),
        (("nothing", "of", "this"), Place(1, 1)),
    ],
)
def test_places(tmp_path: Path, path: tuple[str | int, ...], place: Place) -> None:
    assert document(tmp_path, TEXT).place(path) == place


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*/config.yaml")), ids=lambda path: path.parent.name)
def test_values_are_those_that_pyyaml_reads(path: Path) -> None:
    assert read_document(path).values == yaml.safe_load(path.read_text())


def test_values_of_every_sort_are_those_that_pyyaml_reads(tmp_path: Path) -> None:
    text = (
        TEXT + "a: [1, 0o7, 0x1F, 1_000, 1:30:00, 01:30:00, 1.5, 1e3, 1.0e+3, .inf, no, 'no', ~, 2024-01-01]\n"
        'b: !!set {x, y}\nc: !!str 5\nd: |\n  two\n  lines\ne: "\\u00e9"\n? f\n: g\n'
    )
    assert document(tmp_path, text).values == yaml.safe_load(text)


def test_duplicates_are_found_wherever_they_stand(tmp_path: Path) -> None:
    found = document(tmp_path, "a: 1\nb:\n  - {c: 1, d: {e: 1, e: 2}, c: 3}\na: {b: 2}\n")
    assert found.values == {"a": {"b": 2}, "b": [{"c": 3, "d": {"e": 2}}]}
    assert found.duplicates == (
        Duplicate(("b", 0, "d", "e"), Place(3, 16), Place(3, 22)),
        Duplicate(("b", 0, "c"), Place(3, 6), Place(3, 29)),
        Duplicate(("a",), Place(1, 1), Place(4, 1)),
    )


def test_merged_and_aliased_keys_are_no_duplicates(tmp_path: Path) -> None:
    assert document(tmp_path, TEXT).duplicates == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1, 2\nb: 3\n", ", line 2, column 2: not YAML: "),
        ("a: 1\n\tb: 2\n", ", line 2, column 1: not YAML: "),
        ("\ta: 1", ", line 1, column 1: not YAML: "),
        ("a: 1\nb: \x07\n", ", line 2, column 4: not YAML: it holds the control character '\\x07'"),
        (b"a: 1\nb: \xff\n", ", line 2, column 4: not UTF-8: "),
        ("a: 1\n---\nb: 2\n", ", line 2, column 1: not YAML: a second document begins here; keep one"),
        ("a: *b", ", line 1, column 4: not YAML: nothing is called &b before this"),
        ("a: &a [*a]", ", line 1, column 8: not YAML: *a stands inside what it stands for"),
        ("a: &a {<<: *a}", ", line 1, column 12: not YAML: *a stands inside what it stands for"),
        ("a: 2024-13-45", ", line 1, column 4: not YAML: this value cannot be: month must be in 1..12; put a text in"),
        ("a: 99999999999999999999", ", line 1, column 4: not YAML: this number is too large"),
        ("a: 1" + "0" * 5000, ", line 1, column 4: not YAML: this value cannot be: "),
        ("a: !!bool x", ", line 1, column 4: not YAML: this value does not fit its tag; leave the tag out"),
        ("a: !!timestamp x", ", line 1, column 4: not YAML: this value does not fit its tag; leave the tag out"),
        ("a: !!int ''", ", line 1, column 4: not YAML: this value does not fit its tag; leave the tag out"),
        ("a: !!python/object/apply:os.system [ls]", ", line 1, column 4: not YAML: could not determine a constructor"),
        ("? [1]\n: 2", ", line 1, column 3: not YAML: found unhashable key"),
        ("a: " + "[" * 60 + "]" * 60, ", line 1, column 53: not YAML: nested more than 50 deep"),
        ("a: " + "[" * 100_000, ", line 1, column "),
        ("{a: " * 100_000, ", line 1, column "),
        ("", ", line 1: must hold a mapping of keys to values, not nothing"),
        ("just a text", ", line 1: must hold a mapping of keys to values, not a text"),
    ],
)
def test_what_is_no_config_is_refused_with_its_place(tmp_path: Path, text: str | bytes, message: str) -> None:
    assert refusal(tmp_path, text).startswith(message)


@pytest.mark.parametrize("step", ["[{}]", "{{<<: [{}]}}"])
def test_what_aliases_stand_for_is_counted(tmp_path: Path, step: str) -> None:
    bomb = "a0: &a0 {x: 1}\n" + "".join(
        f"a{level}: &a{level} {step.format(', '.join([f'*a{level - 1}'] * 10))}\n" for level in range(1, 12)
    )
    started = time.process_time()
    assert f"the file holds more than {MAX_VALUES:,} values, counting aliases" in refusal(tmp_path, bomb)
    assert time.process_time() - started < 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["a: '" + "x" * 10_000_000 + "'", "# comment\n" * 1_000_000 + "a: 1", "a: 1\n" + "  " * 5_000_000],
    ids=["text", "comments", "blanks"],
)
def test_ten_megabytes_are_read(tmp_path: Path, text: str) -> None:
    started = time.process_time()
    assert "a" in document(tmp_path, text).values
    assert time.process_time() - started < 10


@pytest.mark.slow
def test_ten_megabytes_of_keys_are_refused_in_bounded_time(tmp_path: Path) -> None:
    started = time.process_time()
    assert "keep items in data files" in refusal(tmp_path, "".join(f"key{n}: [a, {{b: 1}}]\n" for n in range(450_000)))
    assert time.process_time() - started < 30


def test_paths_are_written_as_people_write_them() -> None:
    path = ("backends", "gpu.lab", "env", "LANG", 0, "", 'a"b', "\ud800", "이름")
    assert format_path(path) == 'backends."gpu.lab".env.LANG[0]."".' + r'"a\"b"."\ud800".이름'
