"""What keeps other sites out of a web app that has no login.

Listening on the loopback address keeps other machines out, but not the pages that a browser on this machine has open:
any of them can send requests here. So a request must name this machine by a loopback name (a page of another site that
resolves its own name to 127.0.0.1 does not), must not come from another origin, and must not change anything by GET.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})
_CLOSED = 4403


class LocalOnly:
    """Wraps an app; refuses requests and websockets that do not come from this machine's own pages and programs."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 403."""
        reason = _refusal(scope) if scope["type"] in ("http", "websocket") else None
        if reason is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": _CLOSED, "reason": reason})
        else:
            await PlainTextResponse(reason, status_code=403)(scope, receive, send)


def _refusal(scope: Scope) -> str | None:
    headers = Headers(scope=scope)
    host = headers.get("host", "")
    if urlsplit(f"//{host}").hostname not in _LOOPBACK_NAMES:
        return "This app answers to 127.0.0.1 and localhost only."
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != host:
        return "Cross-origin request rejected."
    # GraphQL takes changes by GET too, and a GET needs no more than a picture's address on any page.
    is_query = scope["type"] == "http" and scope["method"] != "POST" and b"query=" in scope.get("query_string", b"")
    if is_query and scope["path"].endswith("/graphql"):
        return "Queries are taken by POST only."
    return None
