"""Pages for people: the dashboard and the reference of the API."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.responses import FileResponse, HTMLResponse
from starlette.staticfiles import StaticFiles

from matroid_bandits.service import dashboard
from matroid_bandits.service.background import in_background
from matroid_bandits.service.dashboard import api_page, bandit_page, list_page
from matroid_bandits.service.descriptions import bandit_view, short_view, view_without
from matroid_bandits.service.events import RecordedDecision

if TYPE_CHECKING:
    from starlette.responses import Response

    from matroid_bandits.service.worker import Worker

__all__ = ["router", "static_files"]

router = APIRouter(include_in_schema=False)
# Decisions on the page of a bandit.
_N_LATEST = 20
_STATIC = Path(dashboard.__file__).parent / "static"


class _Fresh(StaticFiles):
    """Files that a browser asks for again, as a new version may have others."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["cache-control"] = "no-cache"
        return response


def static_files() -> StaticFiles:
    """Styles and scripts of the pages."""
    return _Fresh(directory=_STATIC)


@router.get("/favicon.ico")
async def icon() -> FileResponse:
    """The icon for what is not a page, such as an answer of the API that somebody looks at."""
    return FileResponse(_STATIC / "icon.svg", headers={"cache-control": "max-age=86400"})


@router.get("/")
async def overview(request: Request) -> HTMLResponse:
    """All bandits."""
    worker: Worker = request.app.state.worker
    views = await worker.each(
        lambda bandit: in_background(short_view, bandit, worker.clock()), view_without
    )
    return HTMLResponse(await in_background(list_page, views, now=worker.clock()))


@router.get("/bandits/{name}")
async def one(request: Request, name: str) -> HTMLResponse:
    """One bandit."""
    worker: Worker = request.app.state.worker
    queue = await worker.queue(name)
    latest = [
        RecordedDecision(await worker.store.decision(name, event.decision or ""))
        for event in await worker.store.latest(name, "decided", _N_LATEST)
    ]
    async with queue.reading() as bandit:
        view = await in_background(bandit_view, bandit, latest, worker.clock())
    return HTMLResponse(await in_background(bandit_page, view, now=worker.clock()))


@router.get("/api")
async def reference(request: Request) -> HTMLResponse:
    """The reference, made from the OpenAPI document."""
    return HTMLResponse(api_page(request.app.openapi()))
