"""What was just learned of a tree."""

import asyncio

from worldfs.namespace.read_cache import FRESH_S, ReadCache, WriteCounter
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.served_tree import ServedTree
from worldfs.tree.change_feed import ChangeFeed
from worldfs.tree.verb_values import Content


class StampedTree(ServedTree):
    def __init__(self, feed):
        super().__init__(feed)
        self.present, self.looks = object(), 0

    def stamp(self):
        self.looks += 1
        return self.present


def run(life, tree=ServedTree, clock=None):  # on a clock that stands still, nothing is forgotten by time alone
    async def begin():
        feed = ChangeFeed()
        served = tree(feed)
        served.files["/a"] = b"first"
        await life(ReadCache(served, feed, clock=clock or ManualClock()), served, feed)

    asyncio.run(begin())


def learn(known, tree, feed, path="/a"):
    known.learn(path, tree.stat(path), known.now)
    known.learn_content(path, tree.read(path), known.now)


def test_what_was_learned_is_known_until_something_is_published():
    async def life(known, tree, feed):
        assert known.stat("/a") is None
        assert known.content("/a") is None
        learn(known, tree, feed)
        assert known.stat("/a").size == 5
        assert known.content("/a").data == b"first"
        feed.publish("/somewhere/else")
        assert known.stat("/a") is None
        assert known.content("/a") is None

    run(life)


def test_what_was_asked_before_a_publication_is_not_kept():
    async def life(known, tree, feed):
        asked, stat = known.now, tree.stat("/a")
        feed.publish("/a")
        known.learn("/a", stat, asked)
        known.learn_content("/a", Content(b"old", ""), asked)
        assert known.stat("/a") is None
        assert known.content("/a") is None

    run(life)


def test_a_write_of_one_is_a_write_for_all():
    async def life(known, tree, feed):
        writes = WriteCounter()
        one, other = ReadCache(tree, feed, writes, ManualClock()), ReadCache(tree, feed, writes, ManualClock())
        learn(one, tree, feed)
        learn(other, tree, feed)
        one.invalidate()
        assert other.content("/a") is None
        assert one.stat("/a") is None

    run(life)


def test_nothing_is_known_for_long():
    clock = ManualClock()

    async def life(known, tree, feed):
        learn(known, tree, feed)
        assert known.stat("/a") is not None
        clock.advance(FRESH_S)
        assert known.stat("/a") is not None
        clock.advance(0.001)
        assert known.stat("/a") is None

    run(life, clock=clock)


def test_a_tree_whose_stamp_changed_is_asked_again_and_looked_at_once_in_a_turn():
    async def life(known, tree, feed):
        learn(known, tree, feed)
        known.stat("/a")  # the first look at the stamp
        learn(known, tree, feed)
        await asyncio.sleep(0)
        looks = tree.looks
        assert known.content("/a").data == b"first"
        assert known.stat("/a") is not None
        assert tree.looks == looks + 1
        await asyncio.sleep(0)
        tree.present = object()  # a manifest was edited
        assert known.content("/a") is None

    run(life, StampedTree)


def test_what_a_connection_waits_for_is_not_shared():
    async def life(known, tree, feed):
        tree.files["/agents/self/events/next.json"] = b"{}"
        learn(known, tree, feed, "/agents/self/events/next.json")
        assert known.stat("/agents/self/events/next.json") is None
        assert known.content("/agents/self/events/next.json") is None

    run(life)


def test_contents_are_bounded(monkeypatch):
    monkeypatch.setattr("worldfs.namespace.read_cache.MOST_BYTES", 1000)
    monkeypatch.setattr("worldfs.namespace.read_cache.LARGE", 600)

    async def life(known, tree, feed):
        for name in ("/a", "/b", "/c"):
            known.learn_content(name, Content(bytes(500), ""), known.now)
        assert [name for name in ("/a", "/b", "/c") if known.content(name)] == ["/c"]
        known.learn_content("/d", Content(bytes(601), ""), known.now)
        assert known.content("/d") is None

    run(life)
