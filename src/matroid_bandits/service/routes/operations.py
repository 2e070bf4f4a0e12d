"""Health, readiness and metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

from matroid_bandits.service.errors import ServiceError
from matroid_bandits.service.routes.documented import errors
from matroid_bandits.service.schemas import StatusAnswer

if TYPE_CHECKING:
    from matroid_bandits.service.worker import Worker

__all__ = ["router"]

router = APIRouter(tags=["operations"])


# Keys are not needed to ask for these two.
_OPEN: dict[str, Any] = {"security": []}


@router.get(
    "/healthz",
    summary="Whether the process is alive",
    response_model=StatusAnswer,
    responses=errors(),
    openapi_extra=_OPEN,
)
async def healthz() -> Response:
    """Answer, whatever the database does."""
    return Response(b'{"status":"ok"}', media_type="application/json")


@router.get(
    "/readyz",
    summary="Whether bandits can be served",
    response_model=StatusAnswer,
    responses=errors(503),
    openapi_extra=_OPEN,
)
async def readyz(request: Request) -> Response:
    """Answer 200 once bandits can be served, 503 while they cannot."""
    worker: Worker = request.app.state.worker
    if not worker.is_ready:
        raise ServiceError(503, "unavailable", "the bandits are not loaded yet")
    await worker.store.check()
    return Response(b'{"status":"ready"}', media_type="application/json")


@router.get(
    "/metrics",
    summary="Metrics for Prometheus",
    response_class=PlainTextResponse,
    responses=errors(401),
)
async def metrics(request: Request) -> Response:
    """Counts, latencies, and how long ago something was learned."""
    text = request.app.state.metrics.text()
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")
