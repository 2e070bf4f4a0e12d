"""The pages of the dashboard, without a browser."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from matroid_bandits.service import dashboard
from matroid_bandits.service.dashboard import api_page, bandit_page, error_page, list_page
from matroid_bandits.service.dashboard.formatting import (
    ago,
    duration,
    iso_time,
    number,
    percent,
    short,
    utc,
)
from matroid_bandits.service.dashboard.views import BanditView, ElementView, Series
from matroid_bandits.service.descriptions import view_without
from matroid_bandits.specs import policy_from_spec, problem_from_spec

from .dashboard_views import EVIL, NOW, backbone, empty, evil, news, series
from .html_tree import Node, check_page

DASH = "\N{EN DASH}"
STATIC = Path(dashboard.__file__).parent / "static"

OPENAPI = {
    "info": {"title": "Bandits", "version": "1.2", "description": "Learns `sets`.\n\n<b>Bold</b>"},
    "paths": {
        "/v1/bandits/{name}": {
            "parameters": [{"$ref": "#/components/parameters/name"}],
            "put": {
                "tags": ["Bandits"],
                "summary": "Change <it>",
                "security": [{"key": []}],
                "parameters": [
                    {
                        "name": "delta",
                        "in": "query",
                        "schema": {"type": "number", "default": 0.05, "exclusiveMinimum": 0.0},
                    }
                ],
                "requestBody": {
                    "content": {
                        "application/json": {
                            "schema": {"$ref": "#/components/schemas/Bandit"},
                            "examples": {"small": {"summary": "A small one", "value": {"a": [1]}}},
                        }
                    }
                },
                "responses": {
                    "200": {
                        "description": "Done",
                        "content": {
                            "application/json": {
                                "schema": {
                                    "type": "array",
                                    "items": {"$ref": "#/components/schemas/Tree"},
                                }
                            }
                        },
                    },
                    "404": {"$ref": "#/components/responses/missing"},
                },
            },
        },
        "/healthz": {"get": {"deprecated": True, "responses": {}}},
    },
    "components": {
        "parameters": {
            "name": {"name": "name", "in": "path", "required": True, "description": "Which one"}
        },
        "responses": {"missing": {"description": "There is none"}},
        "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        "schemas": {
            "Bandit": {
                "type": "object",
                "required": ["sense"],
                "properties": {
                    "sense": {"enum": ["max", "min"]},
                    "problem": {
                        "type": "object",
                        "properties": {
                            "labels": {
                                "anyOf": [
                                    {"type": "array", "items": {"type": "string"}, "maxItems": 9},
                                    {"type": "null"},
                                ],
                                "description": "What elements are called",
                            }
                        },
                    },
                    "parts": {
                        "type": "array",
                        "items": {"type": "object", "properties": {"mean": {"type": "number"}}},
                    },
                    "lost": {"$ref": "#/components/schemas/Nowhere"},
                    "times": {
                        "type": "object",
                        "additionalProperties": {"type": ["string", "null"], "format": "date-time"},
                    },
                },
                "examples": [{"sense": "max"}],
            },
            "Tree": {
                "allOf": [
                    {"properties": {"name": {"type": "string", "examples": ["oak"]}}},
                    {
                        "properties": {
                            "children": {
                                "type": "array",
                                "items": {"$ref": "#/components/schemas/Tree"},
                            }
                        }
                    },
                ]
            },
            "Loop": {"$ref": "#/components/schemas/Loop"},
        },
    },
}

PAGES = {
    "list": lambda: list_page([news(), backbone(), empty(), evil(), unavailable()], now=NOW),
    "no bandits": lambda: list_page([], now=NOW),
    "news": lambda: bandit_page(news(), now=NOW),
    "backbone": lambda: bandit_page(backbone(), now=NOW),
    "empty": lambda: bandit_page(empty(), now=NOW),
    "evil": lambda: bandit_page(evil(), now=NOW),
    "error": lambda: error_page(404, EVIL[0]),
    "api": lambda: api_page(OPENAPI),
    "empty api": lambda: api_page({}),
}


def unavailable() -> BanditView:
    return view_without("old", EVIL[0])


def page_of(view: BanditView) -> Node:
    return check_page(bandit_page(view, now=NOW))


def rows(table: Node) -> list[list[str]]:
    return [
        [cell.text for cell in row.children if isinstance(cell, Node)]
        for row in table.one("tbody").all("tr")
    ]


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_well_made(name: str) -> None:
    check_page(PAGES[name]())


@pytest.mark.parametrize("name", PAGES)
def test_only_pages_that_change_are_live(name: str) -> None:
    page = check_page(PAGES[name]())
    is_live = "data-live" in page.one("main").attributes
    assert is_live == (name not in {"error", "api", "empty api"})
    assert len(page.all("script")) == is_live
    # Parts are kept or replaced as a whole while text is selected, so each needs a name.
    if is_live:
        parts = [part for part in page.one("main").children if isinstance(part, Node)]
        assert all("id" in part.attributes for part in parts)
        assert "Reload the page" in page.one("noscript").text


def test_what_pages_refer_to_is_there() -> None:
    page = check_page(bandit_page(news(), now=NOW))
    linked = [link.attributes["href"] for link in page.all("link")]
    named = [*linked, page.one("script").attributes["src"]]
    assert sorted(named) == ["/static/icon.svg", "/static/live.js", "/static/style.css"]
    for address in named:
        text = (STATIC / address.removeprefix("/static/")).read_text()
        # The name of the SVG language looks like an address.
        assert "//" not in re.sub(r"(?m)^\s*//.*$|http://www.w3.org/2000/svg", "", text)
        assert not re.search(r"url\(|@import|innerHTML|eval\(", text)


def test_hostile_texts_stay_texts() -> None:
    text = bandit_page(evil(), now=NOW)
    page = check_page(text)
    assert not page.all("img")
    assert "<script>alert" not in text
    assert "49" not in page.one("h1").text
    assert page.one("h1").one("bdi").text == EVIL[0]
    shown = [row[0].removesuffix(" leader") for row in rows(page.one("table", class_="elements"))]
    assert EVIL[4] in shown
    assert shown.count("(blank)") == 2
    assert "\ufffd half, \ufffd nothing" in shown
    # Of 5,000 letters, few are shown at each of many places.
    assert len(text) < 200_000
    assert max(map(len, re.findall("x+", page.one("main").text))) < 600
    labels = page.one("table", class_="latest").all("bdi")
    assert all("label" in (label.attributes["class"] or "") for label in labels)


def test_hostile_names_are_quoted_in_addresses() -> None:
    names = ["a/../b?c#d", 'e"f', "\ud800"]
    page = check_page(list_page([replace(empty(), name=name) for name in names], now=NOW))
    links = [link.attributes["href"] for link in page.one("table").all("a")]
    assert links == ["/bandits/a%2F..%2Fb%3Fc%23d", "/bandits/e%22f", "/bandits/%3F"]


def test_list() -> None:
    page = check_page(list_page([news(), empty()], now=NOW))
    table = page.one("table")
    assert rows(table) == [
        [
            *("news", "active", "OMM", "52,311", "52,311", "50,000", "1,000", "1,111"),
            *("2 min ago", "2"),
        ],
        ["fresh", "active", "OMM", "0", "0", "0", "0", "0", "never", "0"],
    ]
    assert table.all("a")[0].attributes["href"] == "/bandits/news"


def test_without_bandits_the_example_works() -> None:
    page = check_page(PAGES["no bandits"]())
    command = page.all("pre")[0].text
    assert "/v1/bandits " in command
    request = json.loads(re.search(r"-d '(.*)'", command)[1])
    problem = problem_from_spec(request["problem"])
    policy = policy_from_spec(request["policy"], problem)
    decision = policy.decide()
    assert len(decision.elements) == 3
    # The second example sends back a reward for the first decision.
    bodies = re.findall(r"-d '(.*?)'", page.all("pre")[1].text)
    policy.learn(decision, json.loads(bodies[1])["rewards"])


def test_bandit() -> None:
    page = page_of(news())
    warnings = page.one(id="warnings")
    assert warnings.attributes["role"] == "status"
    assert [item.text for item in warnings.all("li")] == news().warnings
    figures = {d.one("dt").text: d.one("dd").text for d in page.one("dl").all("div")}
    assert figures == {
        "decided": "52,311",
        "rewarded": "50,000",
        "pending": "1,000",
        "expired": "1,111",
        "closed early": "200",
    }
    assert "last learned 2 min ago" in page.one(id="feedback").text
    assert rows(page.one(id="leader").one("table")) == [["flood", "0.2500", "summit"]]
    question = page.one(id="leader").one(id="may-stop")
    assert question.one("h3").text == "May I stop?"
    assert question.one("p").text == news().may_stop
    assert rows(page.one("table", class_="elements")) == [
        [
            *("flood leader", "0.2500", "0.1250 to 0.5000", "", "1,200", "3", "1,300", "75.0 %"),
            "would be replaced by summit",
        ],
        [
            *("summit", "0.06250", "0 to 0.5000", "", "40", "1", "41", "< 0.1 %"),
            "would replace flood",
        ],
        ["comet", DASH, DASH, "", "0", "0", "0", "0.0 %", DASH],
    ]
    assert page.one("span", class_="ends").text == "Scale from 0 to 0.5000"
    assert len(page.one("table", class_="elements").all("svg")) == 2
    assert rows(page.one("table", class_="latest")) == [
        [
            *("visit-2", "3 s ago 2026-09-21 16:21:37 UTC", "52,311", "summit", "open"),
            "explores summit",
        ],
        [
            *("visit-1", "2 h ago 2026-09-21 14:16:40 UTC", "52,310", "flood", "rewarded"),
            "the leader",
        ],
    ]
    chips = [chip.text for chip in page.all("li", class_="other")]
    assert chips == ["summit"]  # the only one outside of the leader
    times = page.one("table", class_="latest").all("time")
    assert times[0].attributes["datetime"] == "2026-09-21T16:21:37Z"
    assert len(rows(page.one(id="time-numbers").one("table"))) == 110


def test_costs_are_not_called_rewards() -> None:
    page = page_of(backbone())
    assert "reward" not in page.one("main").text.lower()
    assert "smallest sum" in page.one(id="leader").text
    assert page.one(id="chart-mean-title").text == "Mean cost over time"
    assert "mean cost 12.50" in page.one(id="drawing").text
    assert "cost" not in page_of(news()).one("main").text.lower()


def test_a_bandit_that_has_done_nothing() -> None:
    page = page_of(empty())
    assert not page.one(id="warnings").text
    text = page.one("main").text
    for sentence in (
        "Nothing has been learned yet.",
        "There is no leader yet.",
        "There are no elements to show.",
        "Nothing has happened yet.",
        "No decision has been made yet.",
    ):
        assert sentence in text
    page = page_of(replace(empty(), series=Series(1.0)))
    assert "Nothing has happened yet." in page.one("main").text


def test_decisions_without_any_reward() -> None:
    silent = series(3)
    silent = Series(64.0, [replace(bucket, observed=0, reward=0.0) for bucket in silent.buckets])
    page = page_of(replace(empty(), series=silent))
    assert page.all(id="chart-decisions")
    assert not page.all(id="chart-mean")
    assert "No reward has come yet." in page.one("main").text


def test_large_bandits_are_cut() -> None:
    names = [f"item {k}" for k in range(100)]
    elements = [ElementView(n, 1.0, 0.0, 2.0, 1, 1, 0, 0.5, None, is_in_leader=True) for n in names]
    page = page_of(replace(empty(), leader=names, elements=elements, n_elements_left_out=99_900))
    assert "and 99,900 more" in page.one(id="elements").text
    assert "100 of 100,000 elements" in page.one(id="elements-caption").text
    assert page.one(id="leader-rest").one("summary").text == "and 76 more"
    shown = [row[0] for table in page.one(id="leader").all("table") for row in rows(table)]
    assert shown == names
    assert page.one(id="leader").one("tfoot").text == "All 100 100.0"


def test_leader_that_the_table_of_elements_does_not_have() -> None:
    page = page_of(replace(empty(), leader=["flood", "derby"]))
    assert rows(page.one(id="leader").one("table")) == [
        ["flood", DASH, "nothing"],
        ["derby", DASH, "nothing"],
    ]
    assert not page.all("tfoot")


def test_errors() -> None:
    page = check_page(error_page(503, "The database is away."))
    assert page.one("h1").text == "Service Unavailable 503"
    assert "The database is away." in page.one("main").text
    assert check_page(error_page(599, "?")).one("h1").text == "Error 599"


def test_reference_of_the_interface() -> None:
    page = check_page(api_page(OPENAPI))
    assert page.one("h1").text == "Bandits 1.2"
    route = page.one("article", id="put-v1-bandits-name")
    assert route.one("h3").text == "PUT /v1/bandits/{name}"
    assert route.one("p", class_="summary").text == "Change <it>"
    assert "Needs a key." in route.text
    parameters, body = route.all("table")
    assert rows(parameters) == [
        ["name required", "path", "any value", "Which one"],
        ["delta", "query", "number", "default 0.05; more than 0"],
    ]
    assert rows(body) == [
        ["sense required", '"max" or "min"', ""],
        ["problem", "object", ""],
        [
            *("problem.labels", "list of string or null"),
            "What elements are called at most 9 items",
        ],
        ["parts", "list of object", ""],
        ["parts[].mean", "number", ""],
        ["lost", "Nowhere", ""],
        ["times", "object with values: string (date-time) or null", ""],
    ]
    assert [pre.text for pre in route.all("pre")] == ['{"a": [1]}', '{"sense": "max"}']
    assert "Example: A small one" in route.text
    answers = [div.text for div in route.one("dl", class_="responses").all("div")]
    assert answers == ["200 Done application/json: list of Tree", "404 There is none"]
    tree = page.one("article", id="schema-Tree")
    assert [row[0] for row in rows(tree.one("table"))] == ["name", "children"]
    assert 'for example "oak"' in tree.text
    assert "deprecated" in page.one("article", id="get-healthz").text
    assert page.one(id="keys").text == "Keys key the header Authorization: Bearer KEY"
    assert "<b>Bold</b>" in page.one(id="head").text


def test_long_examples_have_several_lines() -> None:
    example = {"labels": [f"article {k}" for k in range(12)], "sense": "max"}
    page = check_page(api_page({"components": {"schemas": {"A": {"example": example}}}}))
    [text] = page.one("pre").one("code").children
    assert json.loads(text) == example
    assert 3 < len(text.splitlines()) < 20


@pytest.mark.parametrize(
    "value, text",
    [
        (None, DASH),
        (float("nan"), DASH),
        (float("inf"), "∞"),
        (float("-inf"), "\N{MINUS SIGN}∞"),
        (0.0, "0"),
        (0.031254, "0.03125"),
        (0.5, "0.5000"),
        (-12.3456, "\N{MINUS SIGN}12.35"),
        (999.94, "999.9"),
        (999.96, "1,000"),
        (1234567.8, "1,234,568"),
        (0.0000123456, "1.235e\N{MINUS SIGN}5"),
        (-1e20, "\N{MINUS SIGN}1.000e20"),
    ],
)
def test_numbers(value: float | None, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    "seconds, text",
    [
        (None, "never"),
        (-5, "just now"),
        (0.4, "just now"),
        (59.9, "59 s ago"),
        (60, "1 min ago"),
        (7199, "1 h ago"),
        (86400, "1 day ago"),
        (1e9, "11,574 days ago"),
    ],
)
def test_how_long_ago(seconds: float | None, text: str) -> None:
    assert ago(seconds) == text


def test_other_texts() -> None:
    assert [duration(s) for s in (0.5, 64, 128, 1024, 16384, 524288)] == [
        *("0.5 s", "64 s", "2 min 8 s", "17 min 4 s", "4 h 33 min", "6 d 1 h"),
    ]
    assert [percent(s) for s in (0, 0.0004, 0.1234, 1, float("nan"))] == [
        *("0.0 %", "< 0.1 %", "12.3 %", "100.0 %", DASH),
    ]
    assert utc(0) == "1970-01-01 00:00:00 UTC"
    assert utc(float("nan")) == utc(1e30) == DASH
    assert iso_time(float("inf")) is None
    assert short("a" * 10, 4) == "aaa…"
