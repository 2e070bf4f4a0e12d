"""The application: routes, errors, and what every request passes first."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from matroid_bandits.service.bodies import validation_error
from matroid_bandits.service.errors import ServiceError
from matroid_bandits.service.gate import Gate, error_response
from matroid_bandits.service.keys import KeyFile
from matroid_bandits.service.metrics import Metrics
from matroid_bandits.service.routes import bandits, decisions, logs, operations, pages
from matroid_bandits.service.routes.documented import openapi_of
from matroid_bandits.service.settings import LIMITS, Limits
from matroid_bandits.service.stores import EventStore, store_at
from matroid_bandits.service.worker import Worker

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncIterator, Iterable

    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["LOOPBACK", "create_app"]

_log = logging.getLogger("matroid_bandits.service")

_ROUTERS = tuple(module.router for module in (operations, decisions, logs, bandits, pages))

#: The names of this machine for itself.
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def create_app(
    database: str | os.PathLike[str] | EventStore = "bandits.sqlite",
    *,
    keys: str | os.PathLike[str] | None = None,
    hosts: Iterable[str] | None = LOOPBACK,
    limits: Limits = LIMITS,
) -> FastAPI:
    """The service as an ASGI application, for a server of your own.

    Parameters
    ----------
    database : path, str or EventStore
        A file of SQLite, or an address such as ``postgresql://user@host/name``.
    keys : path, optional
        A file of keys, made by ``matroid-bandits keys add``. Without it, everybody who reaches the
        application may do everything.
    hosts : iterable of str, optional
        The names by which it may be called (the Host header); by default those of this machine.
        None: any name; only together with keys.
    limits : Limits
        What it accepts.

    Returns
    -------
    fastapi.FastAPI

    Raises
    ------
    ValueError
        If the file of keys cannot be used, or if any host is allowed without keys.

    Examples
    --------
    >>> from matroid_bandits.service import create_app
    >>> app = create_app("bandits.sqlite")
    >>> app.title
    'matroid-bandits'
    """
    if keys is None and hosts is None:
        raise ValueError("hosts=None needs keys: anybody could change everything")
    key_file = None if keys is None else KeyFile(keys)
    if key_file is not None:
        key_file.read()
    is_store = hasattr(database, "transaction")
    store: Any = database if is_store else store_at(database)  # type: ignore[arg-type]
    worker = Worker(store, limits=limits)
    metrics = Metrics(worker)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await worker.start()
        try:
            yield
        finally:
            await worker.stop()

    app = FastAPI(
        title="matroid-bandits",
        lifespan=lifespan,
        # Those pages load scripts from elsewhere; `/api` is ours.
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
    )
    app.state.worker = worker
    app.state.metrics = metrics
    for router in _ROUTERS:
        app.include_router(router)
    app.mount("/static", pages.static_files(), name="static")
    app.openapi = partial(openapi_of, app)  # type: ignore[method-assign]
    handlers: dict[type[Exception], Any] = {
        ServiceError: _service_error,
        HTTPException: _http_error,
        RequestValidationError: _parameter_error,
        Exception: _fault,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)
    app.add_middleware(Gate, keys=key_file, hosts=hosts, limits=limits, metrics=metrics)
    return app


async def _service_error(request: Request, error: ServiceError) -> Response:
    return error_response(request.scope, error)


async def _http_error(request: Request, error: HTTPException) -> Response:
    """Answer what the router refuses."""
    path, method = request.scope["path"], request.scope["method"]
    headers = dict(error.headers or {})
    if error.status_code == 404:
        told = ServiceError(404, "unknown_route", f"there is nothing at {path}; see /api")
    elif error.status_code == 405:
        allowed = ", ".join(_methods_at(request))
        told = ServiceError(
            405, "method_not_allowed", f"{path} does not take {method}, but {allowed}; see /api"
        )
        headers = {"allow": allowed}
    else:
        told = ServiceError(error.status_code, "refused", str(error.detail))
    response = error_response(request.scope, told)
    response.headers.update(headers)
    return response


def _methods_at(request: Request) -> list[str]:
    """All methods that a path takes: each is a route of its own, and the router names one."""
    found = {
        method
        for route in chain(request.app.routes, *(router.routes for router in _ROUTERS))
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE
        for method in route.methods or ()
    }
    # What is below a path that has its own routes: files.
    return sorted(found or {"GET", "HEAD"})


async def _parameter_error(request: Request, error: RequestValidationError) -> Response:
    return error_response(request.scope, validation_error(list(error.errors())))


async def _fault(request: Request, error: Exception) -> Response:
    """Answer a fault of ours: it is logged with its traceback, which nobody else sees."""
    _log.error(
        "a request failed", exc_info=error, extra={"request_id": request.scope.get("request_id")}
    )
    told = ServiceError(
        500, "internal", "the request failed because of a fault in the server; it was logged"
    )
    return error_response(request.scope, told)
