"""The log of a bandit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response, StreamingResponse

from matroid_bandits.service.export import json_lines, parquet
from matroid_bandits.service.routes.documented import BanditName, reading

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from matroid_bandits.service.worker import Worker

__all__ = ["router"]

router = APIRouter(prefix="/v1/bandits/{name}", tags=["logs"])


@router.get(
    "/log",
    summary="Read the log",
    response_class=Response,
    responses=reading(404, 422)
    | {
        200: {
            "description": "JSON lines, an event each; or a Parquet table, a row per element.",
            "content": {
                "application/jsonl": {"schema": {"type": "string"}},
                "application/vnd.apache.parquet": {
                    "schema": {"type": "string", "format": "binary"}
                },
            },
        }
    },
)
async def read(
    request: Request,
    name: BanditName,
    format: Annotated[  # noqa: A002
        Literal["jsonl", "parquet"], Query(description="JSON lines, or a Parquet table.")
    ] = "jsonl",
    after: Annotated[
        int, Query(ge=0, le=2**62, description="The number of the last event that is known.")
    ] = 0,
) -> Response:
    """All events after a number."""
    worker: Worker = request.app.state.worker
    await worker.queue(name)
    if format == "jsonl":
        pieces, kind, headers = json_lines(worker.store, name, after), "jsonl", {}
    else:
        pieces, kind = parquet(worker.store, name, after), "vnd.apache.parquet"
        headers = {"content-disposition": f'attachment; filename="{name}.parquet"'}
    # An error must come before the answer begins.
    first = await anext(pieces, b"")
    return StreamingResponse(
        _joined(first, pieces), headers=headers, media_type=f"application/{kind}"
    )


async def _joined(first: bytes, others: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in others:
        yield piece
