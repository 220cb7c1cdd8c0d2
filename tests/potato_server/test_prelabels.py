"""What an annotator of a real Potato server sees after our run."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.potato_server.server import Annotator, potato
from tests.studies import make_study

pytestmark = pytest.mark.slow

SCHEME = {
    "annotation_type": "radio",
    "name": "sentiment",
    "description": "Is this sentence positive or negative?",
    "labels": ["negative", "positive"],
}
PRAISE = ["great", "excellent", "lovely", "brilliant", "sturdy", "perfect"]
BLAME = ["broken", "awful", "useless", "noisy", "cheap", "terrible"]
THINGS = ["camera", "battery", "screen", "case", "lens", "button", "strap", "manual", "zoom", "menu"]
N_LABELLED = 80
MIN_CONFIDENCE = 0.7


def sentences() -> list[dict[str, str]]:
    """120 sentences, praise and blame in turn; every ninth says neither, so that the model is unsure of it."""
    items = []
    for k in range(120):
        words = (PRAISE if k % 2 else BLAME)[k % 5 : k % 5 + 2]
        said = "in the box" if k % 9 == 0 else " and ".join(words)
        items.append({"id": f"s{k:03}", "text": f"The {THINGS[k // 2 % 10]} is {said}."})
    return items


def answers() -> dict[str, dict[str, dict[str, Any]]]:
    def label(k: int) -> str:
        return "positive" if k % 2 else "negative"

    truth = {f"s{k:03}": {"sentiment": label(k)} for k in range(N_LABELLED)}
    contrary = {f"s{k:03}": {"sentiment": label(k + (k % 11 == 0))} for k in range(N_LABELLED)}
    return {"ann": truth, "ben": dict(truth), "cas": contrary}


def pipeline(*arguments: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "training_pipeline.cli", *arguments, "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def rows(study: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(study / "project.sqlite")) as connection:
        return connection.execute(query).fetchall()


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return make_study(
        tmp_path / "study",
        items=sentences(),
        schemes=[SCHEME],
        answers=answers(),
        training={"writeback": {"schemas": ["sentiment"], "min_confidence": MIN_CONFIDENCE, "include_unlabeled": True}},
        require_password=False,
        user_config={"allow_all_users": True},
        admin_api_key="lab-key",
    )


def test_an_annotator_sees_our_prelabels_and_none_after_a_retraction(config: Path) -> None:
    study = config.parent
    run = pipeline("run", str(config), "--schema", "sentiment")
    assert run["status"] == "success"
    train = {item for (item,) in rows(study, "SELECT instance_id FROM training_run_items WHERE split = 'train'")}
    stored = {
        item: json.loads(payload)
        for item, payload in rows(study, "SELECT instance_id, payload FROM pipeline_predictions")
    }
    below = {item for item, payload in stored.items() if payload["confidence"] < MIN_CONFIDENCE}
    assert len(train) > 40
    assert below, "the study must hold predictions that the threshold keeps back"

    rejected = next(item for item in sorted(stored) if item not in below)
    with potato(config):
        pass  # the server makes its tables
    with closing(sqlite3.connect(study / "project.sqlite")) as connection, connection:
        connection.execute(
            "INSERT INTO model_review_verdicts VALUES (?, ?, ?, ?, ?, ?, ?)",
            ("A small study", rejected, "sentiment", "ann", "reject", "", time.time()),
        )
    report = pipeline("publish", str(config))
    assert report["n_skipped_rejected"] == 1
    assert report["n_skipped_low_confidence"] == len(below)

    with potato(config) as address:
        shown = Annotator(address, "newcomer").prelabels()
    assert set(shown) == set(stored) - below - {rejected}
    assert not set(shown) & train
    assert all(shown[item]["sentiment"]["label"] == stored[item]["label"] for item in shown)

    assert pipeline("retract", run["run_id"], str(config))["retracted"] == len(stored)
    with potato(config) as address:
        assert Annotator(address, "another").prelabels() == {}


def test_the_prelabel_is_the_option_that_the_page_has_checked(config: Path) -> None:
    pipeline("run", str(config), "--schema", "sentiment")
    with potato(config) as address:
        annotator = Annotator(address, "newcomer")
        shown = annotator.prelabels()
        place = next(k for k in range(120) if f"s{k:03}" in shown)
        annotator.look_at(place)
        checked = [tag for tag in annotator.page().split("<input")[1:] if 'checked="True"' in tag.split(">")[0]]
    assert len(checked) == 1
    assert f'value="{shown[f"s{place:03}"]["sentiment"]["label"]}"' in checked[0]


def test_a_run_does_not_hurt_a_server_that_is_running(config: Path) -> None:
    with potato(config) as address:
        annotator = Annotator(address, "newcomer")
        annotator.look_at(0)
        run = pipeline("run", str(config), "--schema", "sentiment")
        assert run["status"] == "success"
        assert annotator.look_at(100)["instance_id"] == "s100"
        known = httpx_get(address, f"/admin/training/api/runs/{run['run_id']}")
    assert known["status"] == "success"
    assert known["n_train"] == run["n_train"]


def httpx_get(address: str, path: str) -> Any:
    import httpx

    return httpx.get(address + path, headers={"X-API-Key": "lab-key"}, timeout=30).raise_for_status().json()
