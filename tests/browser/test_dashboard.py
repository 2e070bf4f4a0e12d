"""The dashboard in a real browser, with a real server. `conftest` checks that no test leaves an
error in the console or asks another server for anything.
"""

import base64
import json
import re
import subprocess
import sys
import time
from itertools import combinations, pairwise
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import urlopen

import pytest
from selenium.webdriver.common.keys import Keys

from matroid_bandits.client import Client

from .conftest import CITIES, HOSTILE, LINKS, Browser, make_news, play, serving, until

PAGES = ["/", "/api", *(f"/bandits/{n}" for n in ("news", "backbone", "hostile", "untouched"))]

# For every element that has text of its own: the contrast of its color with what is behind it.
CONTRASTS = """
const channels = (color) => color.match(/[0-9.]+/g).map(Number);
const luminance = ([r, g, b]) => {
  const part = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
};
const behind = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const color = channels(getComputedStyle(e).backgroundColor);
    if (color.length === 3 || color[3] === 1) return color;
  }
  return [255, 255, 255];
};
const hasText = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
return [...document.querySelectorAll("body *:not(svg *, noscript)")].filter(hasText).map((e) => {
  const [a, b] = [channels(getComputedStyle(e).color), behind(e)].map(luminance);
  return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.tagName, e.className, b];
});
"""


def value(text: str) -> float | None:
    """A number as the page writes it; None for a dash."""
    return None if text == "\N{EN DASH}" else float(text.replace(",", "").replace("\u2212", "-"))


def test_from_the_list_to_a_bandit(browser: Browser, served: str, client: Client) -> None:
    browser.get(f"{served}/")
    bandits = client.bandits()
    assert [row[0] for row in browser.rows("#bandits table")] == [b["name"] for b in bandits]
    browser.one("a[href='/bandits/news']").click()
    until(lambda: "news" in browser.title, "the page of the bandit is there")
    assert browser.text("h1").split() == ["news", "active"]
    browser.one(".site nav a[href='/']").click()
    until(lambda: browser.title == "Bandits", "the list is there again")


@pytest.mark.parametrize("name", ["news", "backbone"])
def test_the_numbers_are_those_of_the_api(
    name: str, browser: Browser, served: str, client: Client
) -> None:
    browser.get(f"{served}/bandits/{name}")
    told = client.bandit(name)
    shown = browser.figures()
    complete = "rewarded" if name == "news" else "costs known"
    assert shown == {
        "decided": told["decided"],
        complete: told["rewarded"],
        "pending": told["open_decisions"],
        "expired": told["expired"],
    }
    assert browser.text("#may-stop p") == client.confidence(name)["text"]
    rows = {row[0].removesuffix(" leader"): row for row in browser.rows("table.elements")}
    labels = {_text(e["element"]): e for e in told["elements"]}
    assert rows.keys() == labels.keys()
    for label, element in labels.items():
        _, mean, interval, _, count, pending, plays, share, _ = rows[label]
        low, high = interval.split(" to ") if " to " in interval else (interval, interval)
        numbers = [value(x) for x in (mean, low, high)]
        expected = [element[key] for key in ("mean", "low", "high")]
        assert numbers == pytest.approx(expected, rel=1e-3, abs=1e-4)
        assert [value(x) for x in (count, pending, plays)] == [
            *(element["count"], element["pending"], element["plays"]),
        ]
        part = 100 * element["plays"] / told["decided"]
        assert float(share.strip("<% ")) == pytest.approx(part, abs=0.11)
    leading = [row[0].removesuffix(" leader") for row in rows.values() if "leader" in row[0]]
    assert sorted(leading) == sorted(map(_text, told["leader"]))
    assert [row[0] for row in browser.rows("#leader table")] == [*map(_text, told["leader"])]
    latest = client.decision(
        name,
        browser.js(
            "return document.querySelector(arguments[0]).title", "table.latest tbody th .label"
        ),
    )
    assert browser.rows("table.latest")[0][2] == f"{latest['round']:,}"


def _text(label: object) -> str:
    return label if isinstance(label, str) else " \N{EN DASH} ".join(label)


def test_a_page_keeps_itself_up_to_date(browser: Browser, served: str, client: Client) -> None:
    labels = make_news(client, "busy")
    play(client, "busy", {label: 0.8 / (k + 1) for k, label in enumerate(labels)}, 40)
    browser.get(f"{served}/bandits/busy")
    assert browser.text("#live-controls p") == "Live"
    browser.one("#elements-help > summary").click()
    browser.js(
        "window.sameDocument = true; document.activeElement.isSame = true;"
        "document.activeElement.scrollIntoView({block: 'center'})"
    )
    place = "return Math.round(document.activeElement.getBoundingClientRect().top)"
    before = browser.js(place)
    assert browser.js("return scrollY") > 0
    client.decide_many("busy", 25)
    # Nobody does anything: the page asks again every two seconds.
    until(lambda: browser.figures()["decided"] == 65, "the page shows the new decisions")
    assert browser.figures()["pending"] == 25
    play(client, "busy", dict.fromkeys(labels, 0.5), 10)
    browser.refresh_soon()
    until(lambda: browser.figures()["rewarded"] == 50, "the page shows the new rewards")
    assert browser.js("return window.sameDocument && document.activeElement.isSame")
    assert browser.js("return document.querySelector('#elements-help').open")
    # What is above may have become longer; what the reader looks at has not moved.
    assert browser.js(place) == before
    assert len(browser.rows("table.latest")) == 20
    browser.get(f"{served}/")
    client.decide("busy")
    until(
        lambda: {r[0]: r[4] for r in browser.rows("#bandits table")}["busy"] == "76",
        "the list shows the new decision",
    )


def test_updates_can_be_paused(browser: Browser, served: str, client: Client) -> None:
    make_news(client, "calm")
    browser.get(f"{served}/bandits/calm")
    button = browser.one("#live-controls button")
    assert button.text == "Pause updates"
    button.click()
    assert (button.text, browser.text("#live-controls p")) == ("Resume updates", "Paused")
    client.decide("calm")
    browser.requests()
    browser.refresh_soon()
    # Longer than the two seconds after which it would ask.
    time.sleep(2.5)
    assert not browser.requests()
    assert browser.figures()["decided"] == 0
    button.click()
    until(lambda: browser.figures()["decided"] == 1, "the page goes on")


def test_a_lost_connection_is_told(browser: Browser, served: str) -> None:
    browser.get(f"{served}/bandits/news")
    network = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.cdp("Network.enable", {})
    browser.cdp("Network.emulateNetworkConditions", {**network, "offline": True})
    browser.refresh_soon()
    until(lambda: browser.text("#live-message"), "the page says that the server is away")
    assert "The connection is lost" in browser.text("#live-message")
    assert browser.text("#live-message").endswith(f"{browser.text('[data-as-of]')}.")
    assert all("ERR_INTERNET_DISCONNECTED" in error for error in browser.errors())
    browser.cdp("Network.emulateNetworkConditions", {**network, "offline": False})
    browser.refresh_soon()
    until(lambda: "is back" in browser.text("#live-message"), "the page says that it is back")


@pytest.mark.parametrize("path", PAGES)
def test_without_javascript_pages_are_complete(path: str, browser: Browser, served: str) -> None:
    browser.get(served + path)
    parts = "h1, h2, h3, caption, thead th, tbody th, .figures dt, .drawing text, svg > title"
    with_scripts = [text for text in browser.texts(parts) if text]
    browser.cdp("Emulation.setScriptExecutionDisabled", {"value": True})
    browser.get(served + path)
    advice = [] if path == "/api" else ["Reload the page for newer numbers."]
    assert browser.texts("#live-controls") == advice
    assert [text for text in browser.texts(parts) if text] == with_scripts
    assert len(with_scripts) > 10


@pytest.mark.parametrize("path", [*PAGES, "/bandits/nobody"])
def test_pages_are_well_made(path: str, browser: Browser, served: str) -> None:
    browser.get(served + path)
    if path == "/bandits/nobody":
        [error] = browser.errors()
        assert "404" in error
    levels = browser.js(
        "return [...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1])"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    # Pictures have a title, or stand beside the numbers that they show.
    untitled = browser.js(
        "return [...document.querySelectorAll('svg')].filter(s => s.ariaHidden !== 'true'"
        " && !document.getElementById(s.getAttribute('aria-labelledby'))?.textContent).length"
    )
    assert untitled == 0
    # Styles have come.
    assert browser.js("return getComputedStyle(document.querySelector('main')).maxWidth") != "none"
    # On a telephone, tables move in boxes of their own; the page does not.
    browser.emulate(width=360)
    sizes = browser.js("return [document.documentElement.scrollWidth, innerWidth]")
    assert sizes == [360, 360]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/", "/bandits/news", "/bandits/ignored", "/api"])
def test_texts_can_be_read(path: str, scheme: str, browser: Browser, served: str) -> None:
    browser.emulate(scheme=scheme)
    browser.get(served + path)
    found = browser.js(CONTRASTS)
    assert len(found) > 15
    assert [one for one in found if one[0] < 4.5] == []
    backgrounds = [background for *_, background in found]
    assert max(backgrounds) < 0.1 if scheme == "dark" else min(backgrounds) > 0.5


def test_hostile_texts_stay_texts(browser: Browser, served: str, client: Client) -> None:
    browser.get(f"{served}/bandits/hostile")
    for _ in range(2):
        shown = [row[0].removesuffix(" leader") for row in browser.rows("table.elements")]
        assert sorted(shown)[:-1] == sorted(HOSTILE)[:-1]
        assert max(shown) == "x" * 119 + "\N{HORIZONTAL ELLIPSIS}"
        assert browser.js("return window.hacked === undefined")
        assert not browser.all("img, main script, main > h1, svg[onload]")
        # The same once more after an update, which makes rows in another way.
        client.decide("hostile", id=f"{HOSTILE[0]}{time.time_ns()}")
        n = client.bandit("hostile")["decided"]
        browser.refresh_soon()
        until(lambda n=n: browser.figures()["decided"] == n, "the page has been updated")
    # The id of a decision is in an address, too.
    browser.one(f"a[href$='{quote(HOSTILE[1], safe='')}']").click()
    until(lambda: "/v1/" in browser.js("return location.pathname"), "the decision is shown")
    assert json.loads(browser.js("return document.body.innerText"))["id"] == HOSTILE[1]


def test_the_leader_is_drawn_thick(browser: Browser, served: str, client: Client) -> None:
    browser.get(f"{served}/bandits/backbone")
    told = client.bandit("backbone")
    widths = browser.js(
        "return [...document.querySelectorAll('#drawing path.edge')]"
        ".map(p => [parseFloat(getComputedStyle(p).strokeWidth), p.parentNode.textContent])"
    )
    assert len(widths) == len(told["elements"]) == len(LINKS)
    thick = [title for width, title in widths if width >= 3]
    assert len(thick) == len(told["leader"]) == len(CITIES) - 1
    assert all("in the leader" in title for title in thick)
    assert max(width for width, title in widths if title not in thick) < 2
    browser.get(f"{served}/bandits/news")
    assert not browser.all("#drawing")


@pytest.mark.parametrize("width", [1280, 360])
def test_names_in_a_drawing_do_not_cover_each_other(
    width: int, browser: Browser, served: str
) -> None:
    browser.emulate(width=width)
    browser.get(f"{served}/bandits/backbone")
    boxes = browser.js(
        "return [...document.querySelectorAll('#drawing text')].map(t => [t.textContent,"
        " t.getBoundingClientRect()]).filter(([_, b]) => b.width).map(([n, b]) =>"
        " [n, b.left, b.top, b.right, b.bottom])"
    )
    assert sorted(name for name, *_ in boxes) == sorted(CITIES)
    frame = browser.js("return document.querySelector('#drawing').getBoundingClientRect().toJSON()")
    for name, left, top, right, bottom in boxes:
        assert frame["left"] <= left < right <= frame["right"], name
        assert frame["top"] <= top < bottom <= frame["bottom"], name
    for (a, *one), (b, *other) in combinations(boxes, 2):
        # The lines of letters may touch.
        wide = min(one[2], other[2]) - max(one[0], other[0])
        tall = min(one[3], other[3]) - max(one[1], other[1])
        assert wide <= 1 or tall <= 4, (a, b)


def test_warnings_are_in_the_list_and_on_the_page(browser: Browser, served: str) -> None:
    browser.emulate(width=360)
    browser.get(f"{served}/")
    assert {row[0]: row[-1] for row in browser.rows("#bandits table")}["ignored"] == "1"
    # On a telephone, that column is out of sight.
    script = "return getComputedStyle(document.querySelector(arguments[0]), '::after').content"
    assert "warnings" in browser.js(script, "tr[data-key=ignored] th")
    assert browser.js(script, "tr[data-key=news] th") == "none"
    browser.get(f"{served}/bandits/ignored")
    assert "1 warning" in browser.title
    assert browser.texts("#warnings li") == [
        "30 decisions were made, and nothing was ever learned."
    ]


def test_an_unknown_bandit(browser: Browser, served: str) -> None:
    browser.get(f"{served}/bandits/nobody")
    [error] = browser.errors()
    assert "404" in error
    assert browser.text("h1") == "Not Found 404"
    assert "There is no bandit 'nobody'" in browser.text("main")
    browser.one("main a").click()
    until(lambda: browser.title == "Bandits", "the list is there")


def test_the_reference_has_all_routes(browser: Browser, served: str) -> None:
    with urlopen(f"{served}/openapi.json", timeout=30) as answer:
        paths = json.load(answer)["paths"]
    routes = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    browser.get(f"{served}/api")
    assert len(routes) > 12
    assert set(browser.texts("article.route h3")) == routes
    assert set(browser.texts(".contents li a")) == routes
    missing = browser.js(
        "return [...document.querySelectorAll('a[href^=\"#\"]')].map(a => a.hash.slice(1))"
        ".filter(id => !document.getElementById(id))"
    )
    assert missing == []


def test_the_keyboard_is_enough(browser: Browser, served: str) -> None:
    focused = "return document.activeElement.innerText.trim()"
    browser.get(f"{served}/bandits/news")
    browser.press(Keys.TAB)
    assert browser.js(focused) == "Skip to content"
    assert browser.js("return document.activeElement.getBoundingClientRect().top") >= 0
    browser.press(Keys.ENTER)
    until(lambda: browser.js("return document.activeElement.id") == "main", "main has the focus")
    browser.press(Keys.TAB)
    assert browser.js(focused) == "Leader"
    assert browser.js("return document.querySelector('main').contains(document.activeElement)")
    # Without the shortcut, in the order of the page.
    browser.get(f"{served}/bandits/news")
    order = []
    for _ in range(6):
        browser.press(Keys.TAB)
        order.append(browser.js(focused))
    assert order == [
        *("Skip to content", "matroid-bandits", "Bandits", "API", "Pause updates", "Leader"),
    ]
    browser.press(Keys.TAB, backwards=True)
    browser.press(Keys.SPACE)
    assert browser.text("#live-controls p") == "Paused"


def test_with_keys_the_browser_asks_for_one(browser: Browser, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    secrets = {role: _new_key(role, keys) for role in ("reader", "admin")}
    with serving(tmp_path, "--keys", str(keys)) as url:
        browser.servers.add(url)
        with Client(url, key=secrets["admin"]) as client:
            make_news(client)
        with pytest.raises(HTTPError) as refused:
            urlopen(f"{url}/", timeout=30)
        with refused.value as answer:
            assert answer.code == 401
            assert answer.headers["www-authenticate"].startswith("Basic ")
            assert "enter the key as the password" in answer.read().decode()
        browser.get(f"{url}/")
        assert all("401" in error for error in browser.errors())
        assert not browser.all("#bandits")
        # As an address; the browser keeps the key for what comes after.
        with_key = url.replace("//", f"//me:{secrets['reader']}@")
        browser.get(f"{with_key}/bandits/news")
        assert browser.text("h1").split() == ["news", "active"]
        with Client(url, key=secrets["admin"]) as client:
            client.decide("news")
        until(lambda: browser.figures()["decided"] == 1, "the page is updated, with the key")
        # As a header, for every request.
        given = base64.b64encode(f"me:{secrets['reader']}".encode()).decode()
        browser.cdp("Network.enable", {})
        header = {"Authorization": f"Basic {given}"}
        browser.cdp("Network.setExtraHTTPHeaders", {"headers": header})
        browser.get(f"{url}/")
        assert [row[0] for row in browser.rows("#bandits table")] == ["news"]


def _new_key(role: str, keys: Path) -> str:
    command = [sys.executable, "-m", "matroid_bandits", "keys", "add", role, "--role", role]
    done = subprocess.run(
        [*command, "--keys", str(keys)], capture_output=True, text=True, check=True, timeout=60
    )
    return re.search(r"^mb_\S+$", done.stdout, re.MULTILINE)[0]
