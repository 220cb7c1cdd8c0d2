"""The web app: the pictures of a study's runs and nothing else of its files, and Dagster's UI beside them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import EmptyWorkspaceTarget
from starlette.testclient import TestClient

from tests.running import Ran
from training_pipeline.api.app import create_app
from training_pipeline.api.urls import picture_url
from training_pipeline.instance import open_instance


@pytest.fixture(scope="module")
def client(trained: Ran) -> Iterator[TestClient]:
    with (
        open_instance(trained.study) as instance,
        WorkspaceProcessContext(instance, EmptyWorkspaceTarget()) as workspace,
    ):
        yield TestClient(create_app(trained.study, workspace), base_url="http://127.0.0.1:8000")


def test_the_link_in_the_metadata_serves_the_picture(client: TestClient, trained: Ran) -> None:
    link = trained.metadata("sentiment/held_out_scores")["confusion matrix (test)"]
    url = link.partition("(")[2].removesuffix(")")
    answer = client.get(url)
    assert answer.status_code == 200
    assert answer.text == (trained.directory.pictures / "confusion_test.svg").read_text(encoding="utf-8")
    assert answer.headers["content-type"].startswith("image/svg+xml")
    assert answer.headers["content-security-policy"] == "default-src 'none'"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "/pictures/{run}/../spec.json",
        "/pictures/{run}/..%2Fspec.json",
        "/pictures/{run}/%2e%2e/spec.json",
        "/pictures/{run}/%2e%2e%2fspec.json",
        "/pictures/..%2f..%2f..%2fconfig.yaml/confusion_val.svg",
        "/pictures/../confusion_val.svg",
        "/pictures/{run}/spec.json",
        "/pictures/{run}/confusion_val.svg%00.svg",
        "/pictures/{run}/confusion_val.SVG",
        "/pictures/20990101T000000-000000/confusion_val.svg",
        "/pictures/{run}/confusion_train.svg",
        "/pictures/{run}/" + 300 * "a" + ".svg",
        "/pictures/" + 300 * "2" + "/confusion_val.svg",
        "/pictures/{run}/",
    ],
)
def test_nothing_but_a_picture_is_served(client: TestClient, trained: Ran, path: str) -> None:
    answer = client.get(path.format(run=trained.run.run_id), follow_redirects=False)
    assert answer.status_code == 404
    assert trained.run.run_id not in answer.text


def test_only_reading_is_allowed(client: TestClient, trained: Ran) -> None:
    assert client.post(picture_url(trained.run.run_id, "confusion_val.svg")).status_code in (404, 405)


def test_the_root_leads_to_dagsters_ui(client: TestClient) -> None:
    answer = client.get("/", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, "/dagster/")
    assert '"assetPrefix":"/dagster"' in client.get("/dagster/").text
