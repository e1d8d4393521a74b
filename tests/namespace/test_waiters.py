"""The index of who waits for what."""

import asyncio
import threading

import pytest

from worldfs.namespace.waiters import Waiters
from worldfs.testing.waiting import PATIENCE_S, soon
from worldfs.tree.change_feed import ChangeFeed
from worldfs.tree.verb_values import Wait


class Gate:
    """Something to wait for; counts how often it was looked at."""

    def __init__(self, *topics, timeout=PATIENCE_S):
        self.open, self.looked = False, 0
        self.wait = Wait(topics, self._look, timeout)

    def _look(self):
        self.looked += 1
        return self.open


def run(life):
    async def begin():
        feed = ChangeFeed()
        waiters = Waiters(feed, asyncio.get_running_loop())
        try:
            await life(feed, waiters)
        finally:
            waiters.close()

    asyncio.run(begin())


@pytest.mark.parametrize("published", [("/a/b",), ("/a/b/c",), ("/a",), ("/",), (), ("/x", "/a/b")])
def test_a_waiter_hears_of_its_topic_of_what_is_below_and_of_what_is_above(published):
    async def life(feed, waiters):
        gate = Gate("/a/b")
        task = asyncio.ensure_future(waiters.wait(gate.wait))
        await soon(lambda: waiters.waiting == 1)
        gate.open = True
        feed.publish(*published)
        assert await task is True

    run(life)


@pytest.mark.parametrize("published", [("/a/bc",), ("/b",), ("/a/c/b",)])
def test_what_concerns_others_costs_a_waiter_nothing(published):
    async def life(feed, waiters):
        gate, other = Gate("/a/b"), Gate(*published)
        task = asyncio.ensure_future(waiters.wait(gate.wait))
        its = asyncio.ensure_future(waiters.wait(other.wait))
        await soon(lambda: waiters.waiting == 2)
        looked = gate.looked
        other.open = True
        feed.publish(*published)
        assert await its is True
        assert gate.looked == looked
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(life)


def test_a_wait_whose_time_is_over_says_so():
    async def life(feed, waiters):
        assert await waiters.wait(Gate("/a", timeout=0.01).wait) is False
        assert waiters.waiting == 0

    run(life)


def test_what_is_ready_is_not_waited_for():
    async def life(feed, waiters):
        gate = Gate("/a")
        gate.open = True
        assert await waiters.wait(gate.wait) is True
        assert waiters.waiting == 0

    run(life)


def test_a_time_of_nothing_looks_once():
    async def life(feed, waiters):
        gate = Gate("/a")
        assert await waiters.wait(gate.wait, 0) is False
        assert gate.looked == 1

    run(life)


def test_a_change_between_the_look_and_the_wait_is_not_missed():
    async def life(feed, waiters):
        gate = Gate("/a")

        def look():
            gate.looked += 1
            if gate.looked == 1:  # somebody is faster than the index
                gate.open = True
                return False
            return gate.open

        assert await waiters.wait(Wait(("/a",), look, PATIENCE_S)) is True

    run(life)


def test_a_thousand_waiters_cost_a_publisher_one_call():
    async def life(feed, waiters):
        loop = asyncio.get_running_loop()
        calls = []
        ask = loop.call_soon_threadsafe
        loop.call_soon_threadsafe = lambda *given: (calls.append(given), ask(*given))
        gate = Gate("/a")
        tasks = [asyncio.ensure_future(waiters.wait(gate.wait)) for _ in range(1000)]
        await soon(lambda: waiters.waiting == 1000)
        gate.open = True

        def publish():
            for _ in range(50):
                feed.publish("/a/b")

        thread = threading.Thread(target=publish)
        thread.start()
        thread.join()
        assert len(calls) == 1
        assert await asyncio.gather(*tasks) == [True] * 1000

    run(life)


def test_a_cancelled_wait_leaves_nothing_in_the_index():
    async def life(feed, waiters):
        gate = Gate("/a/b/c")
        task = asyncio.ensure_future(waiters.wait(gate.wait))
        await soon(lambda: waiters.waiting == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert waiters.waiting == 0
        assert not waiters._at
        assert not waiters._below

    run(life)


def test_trouble_of_one_waiter_is_told_to_it_alone():
    async def life(feed, waiters):
        def broken():
            if len(looked) > 1:
                raise OSError("no disk")
            looked.append(1)
            return False

        looked = []
        gate = Gate("/a")
        bad = asyncio.ensure_future(waiters.wait(Wait(("/a",), broken, PATIENCE_S)))
        good = asyncio.ensure_future(waiters.wait(gate.wait))
        await soon(lambda: waiters.waiting == 2)
        gate.open = True
        feed.publish("/a")
        assert await good is True
        with pytest.raises(OSError, match="no disk"):
            await bad

    run(life)


def test_publishing_after_the_loop_is_closed_is_no_trouble():
    feed = ChangeFeed()

    async def life():
        Waiters(feed, asyncio.get_running_loop())

    asyncio.run(life())
    feed.publish("/a")
