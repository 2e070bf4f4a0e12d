"""Requests made from the OpenAPI document, good and bad ones, by schemathesis."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from matroid_bandits.client import Client
from matroid_bandits.service import create_app
from matroid_bandits.service.settings import Limits

from ..docs.serving import server
from .in_process import Service

# Requests of each operation; thousands in all with OPENAPI=500.
EXAMPLES = int(os.environ.get("OPENAPI", "25"))
CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
)
# What exists, so that requests get further than to an unknown name.
NAMES = ("news", "links", "paused", "archived")
IDS = ("open", "closed", "gone")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with some bandits."""
    with server(tmp_path_factory.mktemp("service")) as found:
        _fill(found)
        yield found


def _fill(url: str) -> None:
    with Client(url) as client:
        for name in NAMES:
            problem = {"matroid": "K4", "labels": [["a", i] for i in range(6)], "sense": "min"}
            if name == "news":
                problem = {"matroid": "U(2,4)", "labels": ["flood", "derby", "opera", "comet"]}
            client.create(name, problem, "MAUB(index=kl)", expire_after=1000)
            for one in IDS:
                client.decide(name, id=one)
            client.learn(name, client.decide(name, id="closed"), [0.5] * (2 + (name != "news")))
            client.expire(name, "gone")
        client.configure("paused", status="paused")
        client.configure("archived", status="archived")


def test_what_the_document_says_of_bodies_and_limits(tmp_path: Path) -> None:
    limits = Limits(batch=3, open_decisions=50)
    with Service(tmp_path / "bandits.sqlite", limits=limits) as service:
        service.create()
        document = service.get("/openapi.json").json()
        # No body is an empty object, which some operations take.
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                if "requestBody" not in operation:
                    continue
                target = path.format(name="news", id="abc")
                if path.endswith("{id}/expire"):
                    service.post("/v1/bandits/news/decisions", {"id": "abc"})
                reply = service.request(method.upper(), target)
                assert (reply.status == 422) == operation["requestBody"]["required"], path
        forms = document["components"]["schemas"]
        for path, item in (("decisions", {}), ("rewards", {"id": "abc", "rewards": {}})):
            form = f"{path.title()[:-1]}Batch"
            most = forms[form]["properties"][path]["maxItems"]
            for n, status in ((most, 200), (most + 1, 422)):
                reply = service.post(f"/v1/bandits/news/{path}/batch", {path: [item] * n})
                assert reply.status == status
        most = forms["BanditChanges"]["properties"]["max_open_decisions"]["maximum"]
        assert forms["BanditRequest"]["properties"]["max_open_decisions"]["maximum"] == most
        for n, status in ((most, 200), (most + 1, 422)):
            reply = service.request("PATCH", "/v1/bandits/news", {"max_open_decisions": n})
            assert reply.status == status


def test_every_answer_has_a_schema() -> None:
    for path, operations in create_app("unused.sqlite").openapi()["paths"].items():
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                for kind, content in answer["content"].items():
                    assert content["schema"], (path, status, kind)


def _aimed(case: Any, data: st.DataObject) -> Any:
    """The case, most of the time at what exists."""
    for key, known in (("name", NAMES), ("id", IDS)):
        if key in case.path_parameters and data.draw(st.integers(0, 9)) > 1:
            case.path_parameters[key] = data.draw(st.sampled_from(known))
    return case


def test_every_operation(url: str) -> None:
    """No fault of the server, and nothing that the document does not say."""
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    seen: Counter[int] = Counter()
    for operation in (found.ok() for found in schema.get_all_operations()):
        strategies = [operation.as_strategy()]
        if operation.body:
            strategies.append(
                operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE)
            )

        @given(case=st.one_of(strategies), data=st.data())
        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        def check(case: Any, data: st.DataObject) -> None:
            response = _aimed(case, data).call()
            seen[response.status_code] += 1
            case.validate_response(response, checks=CHECKS)
            if response.status_code >= 400:
                error = response.json()["error"]
                assert error.keys() == {"code", "message", "place", "request_id"}

        check()
    assert sum(seen.values()) >= EXAMPLES * 10
    assert seen.keys() >= {200, 201, 404, 422}
    with Client(url) as client:
        assert client.is_ready()
