"""`audit`: exit status 1 names the items where leakage is planted, 0 where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.test_leakage import copy_first_row
from tests.cli.running import call
from tests.ledger.making import execute
from tests.running import InstantBackend, Ran, review_study, reviews, train
from training_pipeline.bundle.reader import Bundle


@pytest.fixture
def ran(tmp_path: Path) -> Ran:
    return train(review_study(tmp_path), backend=InstantBackend())


def test_no_leakage(ran: Ran) -> None:
    said = call("audit", str(ran.study.config_path), "--json")
    assert said.status == 0
    assert said.document == {
        "leakage": False,
        "published_in_train": [],
        "runs": {ran.run.run_id: {"in_two_splits": [], "differs_from_ledger": [], "identical_texts": []}},
    }


def test_a_pre_label_on_a_train_item_is_named(ran: Ran) -> None:
    item = next(Bundle.open(ran.directory.bundle).rows("train")).instance_id
    execute(
        ran.ledger.path,
        "INSERT INTO training_predictions VALUES (?, ?, 'sentiment', ?, '{}', 0.9, 1)",
        *(ran.study.name, item, ran.run.run_id),
    )
    said = call("audit", str(ran.study.config_path), "--json")
    assert said.status == 1
    assert [row["instance_id"] for row in said.document["published_in_train"]] == [item]
    people = call("audit", str(ran.study.config_path))
    assert people.status == 1
    assert item in people.out
    assert people.out.splitlines()[-1] == "Leakage was found."


def test_an_item_in_two_splits_is_named(ran: Ran) -> None:
    item = copy_first_row(ran.directory.bundle, "test", "train")
    said = call("audit", str(ran.study.config_path), "--json")
    assert said.status == 1
    found = said.document["runs"][ran.run.run_id]
    assert found["in_two_splits"] == [{"what": "item", "key": item, "splits": ["test", "train"]}]
    assert item in call("audit", str(ran.study.config_path)).out


def test_a_split_that_the_ledger_has_otherwise_is_named(ran: Ran) -> None:
    item = next(Bundle.open(ran.directory.bundle).rows("val")).instance_id
    execute(ran.ledger.path, "UPDATE training_run_items SET split = 'test' WHERE instance_id = ?", item)
    said = call("audit", str(ran.study.config_path), "--json")
    assert (said.status, said.document["runs"][ran.run.run_id]["differs_from_ledger"]) == (1, [item])


def test_identical_texts_warn_and_are_listed(tmp_path: Path) -> None:
    items = [{**item, "text": f"the same {k // 3}"} for k, item in enumerate(reviews(60))]
    ran = train(review_study(tmp_path, items=items, n_labelled=60), backend=InstantBackend())
    said = call("audit", str(ran.study.config_path))
    assert said.status == 0
    assert f"held-out items of {ran.run.run_id} have the same text as an item of another split" in said.err
    assert f"{ran.run.run_id}: identical texts" in said.out


def test_a_torn_bundle_is_refused_in_a_sentence(ran: Ran) -> None:
    rows = ran.directory.bundle / "val.jsonl"
    rows.write_text(rows.read_text()[:-20])
    said = call("audit", str(ran.study.config_path), "--json")
    assert (said.status, said.document["code"]) == (1, "bad_bundle")
    assert said.document["error"].startswith(f"{rows}, line 13, is no row: ")
