"""Decisions and their feedback, one by one and in batches."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from fastapi import APIRouter, Request
from starlette.responses import Response

from matroid_bandits.service.background import in_background
from matroid_bandits.service.bodies import body_of
from matroid_bandits.service.commands import Answer, Command, Decide, Expire, Learn
from matroid_bandits.service.descriptions import record
from matroid_bandits.service.errors import ServiceError, invalid
from matroid_bandits.service.events import RecordedDecision
from matroid_bandits.service.labels import EarlyLabels
from matroid_bandits.service.routes.bandits import json_response
from matroid_bandits.service.routes.documented import BanditName, DecisionId, body, reading, writing
from matroid_bandits.service.schemas import (
    DecisionAnswer,
    DecisionBatch,
    DecisionBatchAnswer,
    DecisionRecord,
    DecisionRequest,
    ExpireAnswer,
    ExpireRequest,
    LearnedAnswer,
    RewardBatch,
    RewardBatchAnswer,
    RewardRequest,
)

if TYPE_CHECKING:
    from matroid_bandits.service.worker import Worker

__all__ = ["router"]

router = APIRouter(prefix="/v1/bandits/{name}", tags=["decisions"])


def _decide(form: DecisionRequest, labels: EarlyLabels) -> Decide:
    identifier = uuid4().hex if form.id is None else form.id
    return Decide(
        identifier,
        form.id is not None,
        None if form.available is None else labels.of(form.available),
        form.allow_smaller,
        form.client,
        None if form.shown is None else labels.of(form.shown),
        form.propensities,
    )


def _learn(identifier: str, form: RewardRequest, labels: EarlyLabels) -> Learn:
    if isinstance(form.rewards, dict):
        return Learn(identifier, list(form.rewards.items()), form.final)
    elements = labels.of([row.element for row in form.rewards])
    rewards = [row.reward for row in form.rewards]
    return Learn(identifier, list(zip(elements, rewards, strict=True)), form.final)


async def _answer(request: Request, name: str, command: Command) -> Response:
    worker: Worker = request.app.state.worker
    (outcome,) = await (await worker.queue(name)).submit([command])
    if isinstance(outcome, ServiceError):
        raise outcome
    return Response(outcome.text, outcome.status, media_type="application/json")


async def _answers(request: Request, name: str, commands: list[Command], place: str) -> Response:
    worker: Worker = request.app.state.worker
    if len(commands) > worker.limits.batch:
        raise invalid(
            f"a batch has at most {worker.limits.batch:,} items, got {len(commands):,}", place
        )
    outcomes = await (await worker.queue(name)).submit(commands)
    texts = [
        outcome.text if isinstance(outcome, Answer) else _error_text(outcome, request)
        for outcome in outcomes
    ]
    return Response(f'{{"results":[{",".join(texts)}]}}', media_type="application/json")


def _error_text(error: ServiceError, request: Request) -> str:
    content = error.content(request.scope.get("request_id"))
    return bytes(json_response(content).body).decode()


@router.post(
    "/decisions",
    status_code=201,
    summary="Decide",
    response_model=DecisionAnswer,
    responses=writing(404, 409, 429)
    | {200: {"model": DecisionAnswer, "description": "It was made before."}},
    openapi_extra=body(DecisionRequest),
)
async def decide(request: Request, name: BanditName) -> Response:
    """Make a decision. The same id again gets the same set, whatever else the request says."""
    command = await body_of(request, DecisionRequest, lambda form: _decide(form, EarlyLabels()))
    return await _answer(request, name, command)


@router.post(
    "/decisions/batch",
    summary="Make several decisions",
    response_model=DecisionBatchAnswer,
    responses=writing(404),
    openapi_extra=body(DecisionBatch),
)
async def decide_batch(request: Request, name: BanditName) -> Response:
    """Make several decisions; an answer or an error for each."""
    labels = EarlyLabels()
    commands: list[Command] = await body_of(
        request, DecisionBatch, lambda form: [_decide(item, labels) for item in form.decisions]
    )
    return await _answers(request, name, commands, "decisions")


@router.post(
    "/rewards/batch",
    summary="Report the feedback of several decisions",
    response_model=RewardBatchAnswer,
    responses=writing(404),
    openapi_extra=body(RewardBatch),
)
async def learn_batch(request: Request, name: BanditName) -> Response:
    """Learn the feedback of several decisions; an answer or an error for each."""
    labels = EarlyLabels()
    commands: list[Command] = await body_of(
        request,
        RewardBatch,
        lambda form: [_learn(item.id, item, labels) for item in form.rewards],
    )
    return await _answers(request, name, commands, "rewards")


@router.post(
    "/decisions/{id:path}/rewards",
    summary="Report feedback",
    response_model=LearnedAnswer,
    responses=writing(404, 409, 410),
    openapi_extra=body(RewardRequest),
)
async def learn(request: Request, name: BanditName, id: DecisionId) -> Response:  # noqa: A002
    """Learn rewards of elements of a decision. The same again changes nothing."""
    command = await body_of(request, RewardRequest, lambda form: _learn(id, form, EarlyLabels()))
    return await _answer(request, name, command)


@router.post(
    "/decisions/{id:path}/expire",
    summary="Expect no more feedback",
    response_model=ExpireAnswer,
    responses=writing(404, 409),
    openapi_extra=body(ExpireRequest),
)
async def expire(request: Request, name: BanditName, id: DecisionId) -> Response:  # noqa: A002
    """Close a decision; what is missing is learned as `reward`, if there is one."""
    form: ExpireRequest = await body_of(request, ExpireRequest)
    return await _answer(request, name, Expire(id, form.reward))


@router.get(
    "/decisions/{id:path}",
    summary="Look at a decision",
    response_model=DecisionRecord,
    responses=reading(404),
)
async def look_at(request: Request, name: BanditName, id: DecisionId) -> Response:  # noqa: A002
    """A decision as the log has it, with its feedback."""
    worker: Worker = request.app.state.worker
    await worker.queue(name)
    events = await worker.store.decision(name, id)
    if not events:
        raise ServiceError(404, "unknown_decision", f"there is no decision with the id {id!r}")
    return await in_background(lambda: json_response(record(RecordedDecision(events))))
