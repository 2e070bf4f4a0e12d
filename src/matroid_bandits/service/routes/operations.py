"""Health, readiness and metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from starlette.responses import Response

from matroid_bandits.service.errors import ServiceError
from matroid_bandits.service.routes.documented import errors

if TYPE_CHECKING:
    from matroid_bandits.service.worker import Worker

__all__ = ["router"]

router = APIRouter(tags=["operations"])


@router.get("/healthz", summary="Whether the process is alive", responses=errors())
async def healthz() -> Response:
    """Answer, whatever the database does."""
    return Response(b'{"status":"ok"}', media_type="application/json")


@router.get("/readyz", summary="Whether bandits can be served", responses=errors())
async def readyz(request: Request) -> Response:
    """Answer 200 once bandits can be served, 503 while they cannot."""
    worker: Worker = request.app.state.worker
    if not worker.is_ready:
        raise ServiceError(503, "unavailable", "the bandits are not loaded yet")
    await worker.store.check()
    return Response(b'{"status":"ready"}', media_type="application/json")


@router.get("/metrics", summary="Metrics for Prometheus", responses=errors())
async def metrics(request: Request) -> Response:
    """Counts, latencies, and how long ago something was learned."""
    text = request.app.state.metrics.text()
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")
