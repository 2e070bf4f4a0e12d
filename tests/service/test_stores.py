"""The contract of stores, on SQLite and on PostgreSQL."""

import asyncio
import random
import string

import pytest

from matroid_bandits.service.errors import UnavailableError
from matroid_bandits.service.stores import BanditRow, postgresql, sqlite, store_at
from matroid_bandits.service.stores.base import LONGEST_PAGE

from .ledger import events_of
from .places import KINDS, event, in_loop, opened, places

HOSTILE = [
    'it\'s "quoted"',
    "%",
    "%s %(name)s {} $1 ?",
    "'; DROP TABLE events; --",
    "naïve 日本語 😀",
    "back\\slash",
    "x" * 200,
    "😀" * 200,
    " spaces ",
    "a/b/../c",
]


@pytest.fixture(params=KINDS)
def place(request, tmp_path):
    with places(request, tmp_path) as made:
        yield made(request.param)


@pytest.fixture
def impatient(monkeypatch):
    """Others are waited for only shortly."""
    monkeypatch.setattr(sqlite, "_PATIENCE", 0.2)
    monkeypatch.setattr(postgresql, "_PATIENCE", 1)


async def appended(store, name, events):
    async with store.transaction(name) as transaction:
        await transaction.append(events)


# ---- reading and writing ----


@in_loop
async def test_an_empty_store(place):
    async with opened(place) as store:
        await store.check()
        assert await store.bandits() == []
        assert await store.events("a", 0, 10) == []
        assert await store.decision("a", "x") == []
        assert await store.latest("a", "decided", 5) == []
        assert await store.snapshots("a") == []
        async with store.transaction("a") as transaction:
            assert transaction.last_number == 0
            assert await transaction.events(0, 10) == []
            assert await transaction.decisions(["x"]) == {}
            await transaction.append([])
        # Nothing was appended, so there is no bandit.
        assert await store.bandits() == []


@in_loop
async def test_events_come_back_in_their_order(place):
    log = [event(n, f"d{n % 7}", time=n / 4, data=f'{{"n":{n}}}') for n in range(1, 2501)]
    async with opened(place) as store:
        await appended(store, "a", log[:1])
        await appended(store, "b", log[:3])
        await appended(store, "a", log[1:])
        assert await events_of(store, "a") == log
        assert await store.events("a", 10, 5) == log[10:15]
        assert await store.events("a", 2499, 5) == log[2499:]
        assert await store.bandits() == [BanditRow("a", 2500), BanditRow("b", 3)]
        async with store.transaction("a") as transaction:
            assert transaction.last_number == 2500
            assert await transaction.events(2497, 10) == log[2497:]
            assert await transaction.events(0, 2) == log[:2]
    async with opened(place) as store:
        assert await events_of(store, "a") == log


@in_loop
async def test_pages_end_after_some_bytes(place):
    """Whoever reads a page does so while others wait; a single event may have megabytes."""
    n_bytes = LONGEST_PAGE // 4
    data = f'"{"x" * n_bytes}"'
    long = [event(n, f"d{n}", data=data) for n in range(1, 21)]
    short = [event(n, f"d{n}") for n in range(21, 41)]
    log = [*long, *short, event(41, "d41", data=data * 9), event(42)]
    async with opened(place) as store:
        await appended(store, "a", log)
        assert await store.events("a", 0, 1_000) == log[:4]
        assert await store.events("a", 0, 3) == log[:3]
        assert await store.events("a", 18, 1_000) == log[18:41]
        assert await store.events("a", 41, 1_000) == log[41:]
        assert await events_of(store, "a") == log
        assert await store.latest("a", "decided", 1_000) == log[:-3:-1]
        assert await store.latest("a", "decided", 1_000, 40) == log[39:15:-1]
        async with store.transaction("a") as transaction:
            assert await transaction.events(0, 1_000) == log[:4]
            assert await transaction.events(40, 1_000) == log[40:41]


@in_loop
async def test_events_of_decisions(place):
    log = [event(1, kind="created")]
    log += [event(n, f"d{n % 5}", kind="decided" if n <= 6 else "rewarded") for n in range(2, 30)]
    own = {name: [one for one in log if one.decision == name] for name in ("d0", "d3")}
    async with opened(place) as store:
        await appended(store, "a", log)
        await appended(store, "b", [event(1, "d0", data='"of b"')])
        assert await store.decision("a", "d3") == own["d3"]
        assert await store.decision("a", "unknown") == []
        assert await store.decision("unknown", "d3") == []
        async with store.transaction("a") as transaction:
            found = await transaction.decisions(["d3", "unknown", "d0", "d3"])
            assert found == own
            assert await transaction.decisions([]) == {}
            # What was appended in this transaction is there too.
            await transaction.append([event(30, "d3", kind="expired")])
            assert (await transaction.decisions(["d3"]))["d3"][-1].number == 30
        assert (await store.decision("a", "d3"))[-1].number == 30
        assert await store.latest("a", "decided", 3) == log[5:2:-1]
        assert await store.latest("a", "moved", 3) == []


@in_loop
async def test_bandits_are_listed_by_name(place):
    names = ["b", "B", "a", "a.b", "a-b", "A", "10", "9", "a_b", "ab"]
    async with opened(place) as store:
        for name in names:
            await appended(store, name, [event(1)])
        assert [row.name for row in await store.bandits()] == sorted(names)


@in_loop
async def test_hostile_names_ids_and_data(place):
    async with opened(place) as store:
        for name in HOSTILE:
            log = [event(n, one, data=f'"{one!a}"') for n, one in enumerate(HOSTILE, 1)]
            await appended(store, name, log)
            assert await events_of(store, name) == log
            async with store.transaction(name) as transaction:
                found = await transaction.decisions(HOSTILE)
                assert found == {one.decision: [one] for one in log}
            for one in log:
                assert await store.decision(name, one.decision) == [one]
            await store.save_snapshot(name, 1, name.encode())
            assert await store.snapshots(name) == [(1, name.encode())]
        assert {row.name for row in await store.bandits()} == set(HOSTILE)


@in_loop
async def test_no_id_and_no_name_has_a_zero_character(place):
    """They can be in an address, and PostgreSQL has no such texts."""
    async with opened(place) as store:
        await appended(store, "a", [event(1, "d")])
        assert await store.events("a\0b", 0, 1) == []
        assert await store.decision("a", "d\0e") == []
        assert await store.decision("a\0", "d") == []
        async with store.transaction("a") as transaction:
            assert await transaction.decisions(["d\0e"]) == {}
            assert list(await transaction.decisions(["d\0e", "d"])) == ["d"]


@in_loop
async def test_times_come_back_bit_for_bit(place):
    numbers = random.Random(1)
    # Until 2106, microseconds are exact in floats.
    times = [0.0, 0.000001, 1.0, 1763431234.123457, 4102444800.999999]
    times += [round(numbers.uniform(0, 2**32), 6) for _ in range(500)]
    times += [n / 1e6 for n in range(1_763_431_234_000_000, 1_763_431_234_000_200)]
    log = [event(n, time=time) for n, time in enumerate(times, 1)]
    async with opened(place) as store:
        await appended(store, "a", log)
        assert [one.time.hex() for one in await events_of(store, "a")] == [t.hex() for t in times]


@in_loop
async def test_large_data(place):
    letters = random.Random(1)
    text = "".join(letters.choices(string.printable + "äß日😀", k=2**20))
    log = [event(1, data=text), event(2, data="x" * 2**20), event(3, data=text[::-1])]
    async with opened(place) as store:
        await appended(store, "a", log)
        assert await events_of(store, "a") == log


@in_loop
async def test_the_two_newest_snapshots_stay(place):
    data = bytes(range(256)) * 1000
    async with opened(place) as store:
        await appended(store, "a", [event(n) for n in range(1, 10)])
        await appended(store, "b", [event(1)])
        await store.save_snapshot("b", 1, b"of b")
        for number in (3, 5, 5, 9, 4):
            await store.save_snapshot("a", number, data + bytes([number]))
        assert await store.snapshots("a") == [(9, data + b"\x09"), (5, data + b"\x05")]
        assert await store.snapshots("b") == [(1, b"of b")]


# ---- all or nothing ----


async def failing(store, name, error):
    async with store.transaction(name) as transaction:
        await transaction.append([event(transaction.last_number + 1, "gone")])
        raise error


@pytest.mark.parametrize("error", [ValueError, UnavailableError, KeyboardInterrupt, SystemExit])
@in_loop
async def test_any_exception_rolls_back(place, error):
    async with opened(place) as store:
        await appended(store, "a", [event(1)])
        for name in ("a", "new"):
            with pytest.raises(error):
                await failing(store, name, error("on the way"))
        assert await store.bandits() == [BanditRow("a", 1)]
        assert await store.decision("a", "gone") == []
        await appended(store, "a", [event(2)])
        await appended(store, "new", [event(1)])
        assert await store.bandits() == [BanditRow("a", 2), BanditRow("new", 1)]


@in_loop
async def test_what_the_database_refuses_leaves_nothing(place):
    async with opened(place) as store:
        await appended(store, "a", [event(1), event(2)])
        with pytest.raises(UnavailableError):
            # The number is taken; the event before it is not.
            await appended(store, "a", [event(3), event(2)])
        assert await store.bandits() == [BanditRow("a", 2)]
        assert len(await events_of(store, "a")) == 2
        await appended(store, "a", [event(3)])
        assert await store.bandits() == [BanditRow("a", 3)]


@in_loop
async def test_nobody_sees_what_is_not_committed(place):
    async with opened(place) as store, opened(place) as other:
        await appended(store, "a", [event(1)])
        async with store.transaction("a") as transaction:
            await transaction.append([event(2, "d")])
            assert await other.bandits() == [BanditRow("a", 1)]
            assert await other.decision("a", "d") == []
        assert await other.bandits() == [BanditRow("a", 2)]
        assert await other.decision("a", "d") == [event(2, "d")]


@in_loop
async def test_cancelled_in_the_middle(place):
    async with opened(place) as store, opened(place) as other:
        await appended(store, "a", [event(1)])
        is_there = asyncio.Event()

        async def hang():
            async with store.transaction("a") as transaction:
                await transaction.append([event(2, "gone")])
                is_there.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(hang())
        await is_there.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        for one in (store, other):
            assert await one.bandits() == [BanditRow("a", 1)]
            await appended(one, "a", [event(2)])
            async with one.transaction("a") as transaction:
                assert transaction.last_number == 2
            place.execute("DELETE FROM events WHERE number = 2")
            place.execute("UPDATE bandits SET last_number = 1")


@in_loop
async def test_cancelled_at_any_moment(place):
    """A task that was cancelled has written all of its events, or none."""
    moments = random.Random(5)
    async with opened(place) as store:
        await appended(store, "a", [event(1)])
        n_done = 0
        for _ in range(60):

            async def write():
                async with store.transaction("a") as transaction:
                    last = transaction.last_number
                    await transaction.append([event(last + 1, "one"), event(last + 2, "two")])

            task = asyncio.create_task(write())
            await asyncio.sleep(moments.choice((0, 0, moments.uniform(0, 0.004))))
            task.cancel()
            (outcome,) = await asyncio.gather(task, return_exceptions=True)
            assert outcome is None or isinstance(outcome, asyncio.CancelledError)
            n_done += outcome is None
        await appended(store, "a", [])
        log = await events_of(store, "a")
        assert [one.number for one in log] == list(range(1, len(log) + 1))
        assert await store.bandits() == [BanditRow("a", len(log))]
        assert len(log) % 2 == 1
        assert len(log) >= 1 + 2 * n_done


# ---- locks ----


@in_loop
async def test_a_bandit_is_locked_in_all_stores(place):
    async with opened(place) as store, opened(place) as other:
        for name in ("new", "new"):
            seen = []

            async def wait_for_it(name=name, seen=seen):
                async with other.transaction(name) as transaction:
                    seen.append(transaction.last_number)
                    seen += await transaction.events(transaction.last_number - 1, 5)

            async with store.transaction(name) as transaction:
                task = asyncio.create_task(wait_for_it())
                await asyncio.sleep(0.1)
                assert not seen
                own = event(transaction.last_number + 1, "of the first")
                await transaction.append([own])
                await asyncio.sleep(0.05)
                assert not seen
            await task
            assert seen == [own.number, own]


@in_loop
async def test_many_writers_count_without_gaps(place):
    async with opened(place) as one, opened(place) as two, opened(place) as three:

        async def count(store, name):
            for _ in range(15):
                async with store.transaction(name) as transaction:
                    before = await transaction.events(transaction.last_number - 1, 9)
                    assert len(before) == min(1, transaction.last_number)
                    await transaction.append([event(transaction.last_number + 1)])

        await asyncio.gather(*(count(s, n) for s in (one, two, three, one) for n in ("a", "b")))
        for name in ("a", "b"):
            log = await events_of(two, name)
            assert [one.number for one in log] == list(range(1, 61))


@in_loop
async def test_locked_for_too_long(place, impatient):
    async with opened(place) as store, opened(place) as other:
        await appended(store, "a", [event(1)])
        async with store.transaction("a") as transaction:
            await transaction.append([event(2)])
            # All wait at the same time; one after the other, the test would never end.
            waiting = [appended(other, "a", [event(2)]) for _ in range(400)]
            for outcome in await asyncio.gather(*waiting, return_exceptions=True):
                assert isinstance(outcome, UnavailableError)
                assert (outcome.status, outcome.code) == (503, "unavailable")
            assert await other.bandits() == [BanditRow("a", 1)]
        await appended(other, "a", [event(3)])
        assert await other.bandits() == [BanditRow("a", 3)]


@in_loop
async def test_not_opened_or_closed(place):
    store = store_at(place.database)
    await store.open()
    await store.close()
    await store.close()
    again = store_at(place.database)
    await again.open()
    await again.check()
    await again.close()
