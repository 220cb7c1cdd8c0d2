"""The web app of a study: pictures of its runs, and Dagster's UI under `/dagster`.

One origin serves both, so that a picture linked from an asset's metadata shows in place. It has no login yet: it must
be bound to a loopback address only, and answers this machine's own pages and programs only.
"""

from __future__ import annotations

import re
from typing import Any

from dagster._core.workspace.context import IWorkspaceProcessContext
from dagster_webserver.app import create_app_from_workspace_process_context
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from training_pipeline.api.local_only import LocalOnly
from training_pipeline.study.config import Study

_RUN_ID = re.compile(r"\d{8}T\d{6}-[0-9a-f]{6}")
_PICTURE = re.compile(r"[a-z_]+\.svg")
_LONGEST_NAME = 100
# A picture opened in a tab of its own must not run anything, whatever a label in it says.
_PICTURE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}


def create_app(study: Study, workspace: IWorkspaceProcessContext[Any]) -> Starlette:
    """Return the app that serves `study` and the code locations of `workspace`."""

    def home(_request: Request) -> Response:
        return RedirectResponse("/dagster/")

    def picture(request: Request) -> Response:
        run_id, name = request.path_params["run_id"], request.path_params["name"]
        # Before the disk is asked: it refuses a name that is too long in a way of its own.
        is_name = len(name) <= _LONGEST_NAME and _RUN_ID.fullmatch(run_id) and _PICTURE.fullmatch(name)
        path = study.runs_dir / run_id / "pictures" / name
        if not (is_name and path.is_file()):
            return PlainTextResponse("No such picture.", status_code=404)
        return FileResponse(path, media_type="image/svg+xml", headers=_PICTURE_HEADERS)

    return Starlette(
        routes=[
            Route("/", home),
            Route("/pictures/{run_id}/{name}", picture),
            # Last, and at the root: Dagster's app adds its own prefix to every route.
            Mount("/", create_app_from_workspace_process_context(workspace, path_prefix="/dagster")),
        ],
        middleware=[Middleware(LocalOnly)],
    )
