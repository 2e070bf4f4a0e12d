"""A real browser, and servers with bandits to look at. Without a browser, the tests are skipped."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from matroid_bandits.client import Client
from matroid_bandits.service import demo

# Seconds that something may take before a test fails; much more than it takes.
PATIENCE = 45.0

HOSTILE = [
    "<script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 1">',
    "<svg onload=window.hacked=1>",
    "javascript:window.hacked=1",
    "</table></main><h1>Mine</h1>",
    "x" * 700,
]

CITIES = {city: list(place) for city, place in demo._CITIES.items()}
LINKS = [list(link) for link in demo._LINKS]
SECTIONS = {"world": ["flood", "summit", "border"], "sport": ["derby", "record", "coach"]}

_ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def until(condition: Callable[[], Any], what: str) -> Any:
    """Wait until a condition is true, and return what it returned."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, f"in {PATIENCE:g} s, this did not happen: {what}"
        time.sleep(0.05)
    return found


# ---- the server ----


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[str]:
    """Run ``matroid-bandits serve`` on a free port; its address."""
    command = [sys.executable, "-m", "matroid_bandits", "serve", "--port", "0", *options]
    output, errors = folder / "serve.out", folder / "serve.err"
    with output.open("w") as out, errors.open("w") as err:
        process = subprocess.Popen(
            [*command, "--database", str(folder / "bandits.sqlite")], stdout=out, stderr=err
        )
    try:

        def address() -> str | None:
            assert process.poll() is None, errors.read_text()
            found = re.search(r"serving at (\S+)", output.read_text())
            return found and found[1]

        yield until(address, "the server serves")
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(20)


def make_news(client: Client, name: str = "news", **settings: Any) -> list[str]:
    """Make a bandit with rewards; its labels."""
    groups = [section for section, titles in SECTIONS.items() for _ in titles]
    labels = [title for titles in SECTIONS.values() for title in titles]
    matroid = {"type": "partition", "groups": groups, "capacities": 1}
    problem = {"matroid": matroid, "labels": labels, "sense": "max"}
    client.create(name, problem, "MAUB(index=kl)", **settings)
    return labels


def play(client: Client, name: str, means: dict[Any, float], rounds: int) -> None:
    """Make decisions one by one, each with all its feedback, which is near the means."""
    rng = random.Random(7)
    for _ in range(rounds):
        decision = client.decide(name)
        near = {e: means[e] * rng.uniform(0.9, 1.1) for e in decision.elements}
        client.learn(name, decision, near)


def _make_bandits(client: Client) -> None:
    labels = make_news(client, expire_after=3600, missing_reward=0)
    play(client, "news", {label: 0.7 / (k + 1) for k, label in enumerate(labels)}, 60)
    for _ in range(3):
        client.decide("news")
    client.expire("news", client.decide("news"))
    client.create(
        "backbone",
        {"matroid": {"type": "graphic", "edges": LINKS}, "labels": LINKS, "sense": "min"},
        "MAUB(noise=2)",
        coordinates=CITIES,
    )
    play(client, "backbone", {tuple(link): 10.0 + k for k, link in enumerate(LINKS)}, 40)
    client.create(
        "hostile",
        {"matroid": {"type": "uniform", "size": len(HOSTILE), "rank": 2}, "labels": HOSTILE},
        "MAUB",
    )
    play(client, "hostile", dict.fromkeys(HOSTILE, 0.5), 10)
    client.decide("hostile", id=HOSTILE[1])
    client.create("untouched", {"matroid": {"type": "uniform", "size": 4, "rank": 2}}, "OMM")
    make_news(client, "ignored")
    client.decide_many("ignored", 30)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with bandits, which tests do not change."""
    with serving(tmp_path_factory.mktemp("served")) as url:
        with Client(url) as client:
            _make_bandits(client)
        yield url


@pytest.fixture
def client(served: str) -> Iterator[Client]:
    """A client of that server."""
    with Client(served) as client:
        yield client


# ---- the browser ----


class Browser:
    """A tab of the browser, with what the tests look at."""

    def __init__(self, driver: webdriver.Chrome, *servers: str) -> None:
        self._driver = driver
        #: The addresses that may be asked.
        self.servers = {*servers}
        self.get = driver.get
        self.cdp = driver.execute_cdp_cmd

    @property
    def title(self) -> str:
        return self._driver.title

    def js(self, script: str, *arguments: Any) -> Any:
        return self._driver.execute_script(script, *arguments)

    def all(self, selector: str) -> list[WebElement]:
        return self._driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str) -> WebElement:
        found = self.all(selector)
        assert len(found) == 1, (selector, len(found))
        return found[0]

    def text(self, selector: str) -> str:
        return self.one(selector).text

    def texts(self, selector: str) -> list[str]:
        """All texts in one call: elements found one by one may be replaced in between."""
        script = (
            "return [...document.querySelectorAll(arguments[0])]"
            ".map(e => e.innerText ?? e.textContent)"
        )
        return [" ".join(text.split()) for text in self.js(script, selector)]

    def rows(self, table: str) -> list[list[str]]:
        """The cells of the body of a table."""
        script = (
            "return [...document.querySelectorAll(arguments[0] + ' > tbody > tr')]"
            ".map(row => [...row.cells].map(cell => cell.innerText))"
        )
        return [[" ".join(text.split()) for text in row] for row in self.js(script, table)]

    def figures(self) -> dict[str, int]:
        """The large numbers on the page of a bandit."""
        names, values = self.texts(".figures dt"), self.texts(".figures dd")
        return {n: int(v.replace(",", "")) for n, v in zip(names, values, strict=True)}

    def press(self, key: str, *, backwards: bool = False) -> None:
        """Press a key on whatever has the focus, with Shift to go backwards."""
        actions = webdriver.ActionChains(self._driver)
        if backwards:
            actions.key_down(Keys.SHIFT).send_keys(key).key_up(Keys.SHIFT).perform()
        else:
            actions.send_keys(key).perform()

    def refresh_soon(self) -> None:
        """Let the page look for news now, as it does when it is seen again."""
        self.js("document.dispatchEvent(new Event('visibilitychange'))")

    def emulate(self, *, width: int | None = None, scheme: str = "light") -> None:
        """The window has a width, and the reader prefers light or dark colors."""
        if width is not None:
            size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": True}
            self.cdp("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.cdp("Emulation.setEmulatedMedia", {"features": features})

    def errors(self) -> list[str]:
        """What the console says since the last call, apart from chatter."""
        entries = self._driver.get_log("browser")
        return [e["message"] for e in entries if e["level"] not in {"DEBUG", "INFO"}]

    def requests(self) -> list[str]:
        """The addresses of all requests over the network since the last call."""
        events = [json.loads(e["message"])["message"] for e in self._driver.get_log("performance")]
        urls = [
            event["params"].get("url") or event["params"]["request"]["url"]
            for event in events
            if event["method"] in {"Network.requestWillBeSent", "Network.webSocketCreated"}
        ]
        return [url for url in urls if urlsplit(url).scheme in {"http", "https", "ws", "wss"}]


def _executable(name: str) -> str | None:
    fixed = Path("/usr/bin", name)
    return str(fixed) if fixed.exists() else shutil.which(name)


@pytest.fixture(scope="session")
def _driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    chromium, chromedriver = _executable("chromium"), _executable("chromedriver")
    if chromium is None or chromedriver is None:
        pytest.skip("needs a browser: install chromium and chromedriver (Debian: chromium-driver)")
    options = Options()
    options.binary_location = chromium
    for argument in (*_ARGUMENTS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # A group of processes of its own, which can be ended as a whole.
    service = Service(chromedriver, popen_kw={"start_new_session": True})
    try:
        driver = webdriver.Chrome(options, service)
        try:
            yield driver
        finally:
            driver.quit()
    finally:
        if getattr(service, "process", None) is not None:
            with suppress(ProcessLookupError):
                os.killpg(service.process.pid, signal.SIGKILL)


@pytest.fixture
def browser(_driver: webdriver.Chrome, served: str) -> Iterator[Browser]:
    """A new tab. No test may leave an error in the console, or a request to another server."""
    before = _driver.current_window_handle
    target = _driver.execute_cdp_cmd("Target.createTarget", {"url": "about:blank"})["targetId"]
    _driver.switch_to.window(target)
    browser = Browser(_driver, served)
    browser.emulate()
    browser.errors()
    browser.requests()
    yield browser
    errors, requests = browser.errors(), browser.requests()
    _driver.close()
    _driver.switch_to.window(before)
    assert not errors
    asked = {urlsplit(url)._replace(path="", query="", fragment="") for url in requests}
    assert {f"{url.scheme}://{url.netloc.rpartition('@')[2]}" for url in asked} <= browser.servers
