"""Requests that a page of another site can make a browser send."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from training_pipeline.api.local_only import LocalOnly

OWN = "http://127.0.0.1:8000"


def answer(_request: Request) -> PlainTextResponse:
    return PlainTextResponse("here")


async def talk(socket: WebSocket) -> None:
    await socket.accept()
    await socket.close()


@pytest.fixture
def client() -> TestClient:
    routes = [
        Route("/", answer),
        Route("/dagster/graphql", answer, methods=["GET", "POST"]),
        WebSocketRoute("/dagster/socket", talk),
    ]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(LocalOnly)]), base_url=OWN)


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "localhost", "[::1]:8000"])
def test_this_machine_s_names_are_answered(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example.com", "evil.example.com:8000", "127.0.0.1.evil.com", "10.0.0.1", ""])
def test_another_name_for_the_same_address_is_refused(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 403


@pytest.mark.parametrize("origin", ["http://evil.example.com", "http://127.0.0.1:9000", "null"])
def test_another_origin_is_refused(client: TestClient, origin: str) -> None:
    assert client.post("/dagster/graphql", headers={"origin": origin}).status_code == 403


def test_own_pages_and_programs_may_ask(client: TestClient) -> None:
    assert client.post("/dagster/graphql", headers={"origin": OWN}).status_code == 200
    assert client.post("/dagster/graphql").status_code == 200


def test_nothing_is_changed_by_the_address_of_a_picture(client: TestClient) -> None:
    assert client.get("/dagster/graphql", params={"query": "mutation{x}"}).status_code == 403
    assert client.get("/dagster/graphql", headers={"accept": "text/html"}).status_code == 200


def test_websockets_of_other_origins_are_closed(client: TestClient) -> None:
    with client.websocket_connect("/dagster/socket", headers={"origin": OWN, "host": "127.0.0.1:8000"}):
        pass
    with (
        pytest.raises(WebSocketDisconnect) as closed,
        client.websocket_connect("/dagster/socket", headers={"origin": "http://evil.example.com"}),
    ):
        pass
    assert closed.value.code == 4403
