"""What the commands print: texts out of a study stay texts."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from training_pipeline.cli import common
from training_pipeline.cli.common import print_table, visible


@pytest.mark.parametrize("text", ["[/b] x", "[bold] x", "[red]x[/red]", "[link=http://a]x"])
def test_no_text_in_a_table_is_markup(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    said = io.StringIO()
    monkeypatch.setattr(common, "out", Console(file=said, width=80))
    print_table(f"Study {text}", [{f"name {text}": f"cell {text}"}])
    assert [f"{part} {text}" in said.getvalue() for part in ("Study", "name", "cell")] == [True] * 3


def test_control_characters_in_a_table_are_shown_and_not_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    monkeypatch.setattr(common, "out", Console(file=said, width=80))
    print_table("a\x1b[2Jb", [{"c\x9bd": "e\x07\rf"}])
    assert all(shown in said.getvalue() for shown in (r"a\x1b[2Jb", r"c\x9bd", r"e\x07\rf"))
    assert not set(said.getvalue()) & set("\x1b\x9b\x07\r")


def test_lines_and_letters_of_any_script_stay() -> None:
    assert visible("zwei\n\tü 二 \N{GRINNING FACE}") == "zwei\n\tü 二 \N{GRINNING FACE}"
