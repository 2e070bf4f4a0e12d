"""Bandits: create, list, look at, change, move, explain."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from matroid_bandits.service.background import in_background
from matroid_bandits.service.bodies import body_of
from matroid_bandits.service.commands import Command, Configure, Move
from matroid_bandits.service.descriptions import (
    confidence,
    description,
    explanation,
    line,
    line_without,
)
from matroid_bandits.service.errors import ServiceError, invalid
from matroid_bandits.service.problems import made_problem
from matroid_bandits.service.routes.documented import BanditName, body, reading, writing
from matroid_bandits.service.schemas import (
    BanditAnswer,
    BanditChanges,
    BanditList,
    BanditRequest,
    ConfidenceAnswer,
    ExplanationAnswer,
    ProblemRequest,
)
from matroid_bandits.service.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from matroid_bandits.service.bandit import Bandit
    from matroid_bandits.service.worker import Worker

__all__ = ["granted", "json_response", "router"]

router = APIRouter(prefix="/v1/bandits", tags=["bandits"])


def json_response(content: Any, status: int = 200) -> Response:
    """An answer in JSON."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return Response(text, status, media_type="application/json")


async def granted(worker: Worker, name: str, command: Command) -> None:
    """Handle one command, or raise its error."""
    (outcome,) = await (await worker.queue(name)).submit([command])
    if isinstance(outcome, ServiceError):
        raise outcome


async def _described(worker: Worker, name: str, status: int, *, elements: bool = True) -> Response:
    tell = partial(description, now=worker.clock(), with_elements=elements)
    return await _told(worker, name, tell, status)


async def _told(
    worker: Worker, name: str, tell: Callable[[Bandit], Any], status: int = 200
) -> Response:
    """What is told of a bandit, as JSON. It may be much, so other bandits do not wait for it."""
    async with (await worker.queue(name)).reading() as bandit:
        return await in_background(lambda: json_response(tell(bandit), status))


@router.post(
    "",
    status_code=201,
    summary="Create a bandit",
    response_model=BanditAnswer,
    responses=writing(409, 429)
    | {200: {"model": BanditAnswer, "description": "It was there already."}},
    openapi_extra=body(BanditRequest),
)
async def create(request: Request) -> Response:
    """Create a bandit. The same request again changes nothing."""
    form: BanditRequest = await body_of(request, BanditRequest)
    worker: Worker = request.app.state.worker
    if "max_open_decisions" in form.model_fields_set:
        _check_limit(form.max_open_decisions, worker)
    settings = Settings(
        expire_after=form.expire_after,
        missing_reward=form.missing_reward,
        sticky_for=form.sticky_for,
        max_open_decisions=min(form.max_open_decisions, worker.limits.open_decisions),
    )
    problem = form.problem.model_dump(exclude_unset=True)
    is_new = await worker.create(form.name, problem, form.policy, settings, form.coordinates)
    return await _described(worker, form.name, 201 if is_new else 200)


@router.get("", summary="List all bandits", response_model=BanditList, responses=reading())
async def list_all(request: Request) -> Response:
    """All bandits, by name."""
    worker: Worker = request.app.state.worker

    async def tell(bandit: Bandit) -> dict[str, Any]:
        return line(bandit)

    return json_response({"bandits": await worker.each(tell, line_without)})


@router.get(
    "/{name}",
    summary="Look at a bandit",
    response_model=BanditAnswer,
    responses=reading(404, 422),
)
async def look_at(
    request: Request,
    name: BanditName,
    elements: Annotated[bool, Query(description="Whether to tell of every element.")] = True,
) -> Response:
    """The leader, the counts, and every element in the order of the labels."""
    return await _described(request.app.state.worker, name, 200, elements=elements)


@router.patch(
    "/{name}",
    summary="Change settings; pause, archive",
    response_model=BanditAnswer,
    responses=writing(404),
    openapi_extra=body(BanditChanges),
)
async def change(request: Request, name: BanditName) -> Response:
    """Change some settings; those that are left out stay."""
    form: BanditChanges = await body_of(request, BanditChanges)
    worker: Worker = request.app.state.worker
    if "max_open_decisions" in form.model_fields_set:
        _check_limit(form.max_open_decisions, worker)
    changes = {key: getattr(form, key) for key in sorted(form.model_fields_set)}
    await granted(worker, name, Configure(changes))
    return await _described(worker, name, 200, elements=False)


@router.put(
    "/{name}/problem",
    summary="Move to a new problem",
    response_model=BanditAnswer,
    responses=writing(404, 409),
    openapi_extra=body(ProblemRequest),
)
async def move(request: Request, name: BanditName) -> Response:
    """Go on with other elements. What is known stays attached to labels; open decisions stay."""
    form: ProblemRequest = await body_of(request, ProblemRequest)
    worker: Worker = request.app.state.worker
    await worker.queue(name)
    spec = form.model_dump(exclude_unset=True, exclude={"prior"})
    problem = await asyncio.to_thread(made_problem, spec, worker.limits)
    if isinstance(form.prior, dict):
        prior = [(label, row.mean, row.count) for label, row in form.prior.items()]
    else:
        prior = [(row.element, row.mean, row.count) for row in form.prior or ()]
    await granted(worker, name, Move(spec, problem, prior))
    return await _described(worker, name, 200, elements=False)


@router.get(
    "/{name}/explain",
    summary="Why it would play a set now",
    response_model=ExplanationAnswer,
    responses=reading(404),
)
async def explain(request: Request, name: BanditName) -> Response:
    """Mean, count, index and partner of the set, and of its nearest contenders."""
    return await _told(request.app.state.worker, name, explanation)


@router.get(
    "/{name}/confidence",
    summary="May I stop?",
    response_model=ConfidenceAnswer,
    responses=reading(404, 422),
)
async def confide(
    request: Request,
    name: BanditName,
    delta: Annotated[
        float, Query(ge=1e-100, lt=0.5, description="The probability of a wrong answer.")
    ] = 0.05,
) -> Response:
    """Whether the best basis is settled: all exchanges are known to make it worse. However often
    one asks, the probability that a wrong basis is ever settled is at most delta.
    """
    return await _told(request.app.state.worker, name, partial(confidence, delta=delta))


def _check_limit(wanted: int, worker: Worker) -> None:
    most = worker.limits.open_decisions
    if wanted > most:
        raise invalid(f"must be at most {most:,}, got {wanted:,}", "max_open_decisions")
