from __future__ import annotations

from pathlib import Path

from tests.ledger.making import make_ledger
from training_pipeline.ledger.pins import pin, pins, unpin


def test_pins_are_kept_once_and_taken_away(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path)
    assert pin(ledger, ["b", "a"], source="model-found-nothing") == 2
    assert pin(ledger, ["a", "c"]) == 1
    assert [(p.instance_id, p.source) for p in pins(ledger)] == [
        ("a", "model-found-nothing"),
        ("b", "model-found-nothing"),
        ("c", ""),
    ]
    assert unpin(ledger, ["a", "z"]) == 1
    assert [p.instance_id for p in pins(ledger)] == ["b", "c"]


def test_another_project_has_its_own(tmp_path: Path) -> None:
    pin(make_ledger(tmp_path, "another"), ["a"])
    ledger = make_ledger(tmp_path)
    assert pins(ledger) == []
    assert unpin(ledger, ["a"]) == 0
