"""A read that is answered several times, for a client that has asked for that word (`repeat`)."""

import base64

import pytest

from worldfs.testing.served_tree import ServedNode
from worldfs.testing.waiting import soon
from worldfs.tree.verb_values import Content, Wait


class Stream(ServedNode):
    """Tells each reader the lines that are new since its own last read. A read begins with the number of lines."""

    lines = (b"a",)

    def read(self, last=b""):
        seen = int(last.split(b" ")[0]) if last else 0
        return Content(b"%d " % len(self.lines) + b",".join(self.lines[seen:]))

    def wait(self, last=b""):
        seen = int(last.split(b" ")[0]) if last else 0
        return Wait((self.path,), lambda: len(self.lines) > seen, 60.0) if last else None


@pytest.fixture
def run(hold):
    """Runs a life with a client whose fid 2 is a stream; `say(line)` adds to it."""

    def hold_on(life, extensions=("repeat",)):
        async def begin(stand):
            tree, Stream.lines = stand.tree, (b"a",)
            tree.files.update({"/stream": b"", "/plain": b"xyz"})
            plain = tree.walk
            tree.walk = lambda path: Stream(tree, path) if path == "/stream" else plain(path)

            def say(*lines):
                Stream.lines = (*Stream.lines, *lines)
                tree.feed.publish("/stream")

            async with stand.connect() as plug:
                await plug.ask("version", version="acheron-1", msize=8192, extensions=list(extensions))
                await plug.walk("/stream", 2)
                await life(plug, stand, say)

        hold(begin)

    return hold_on


def told(reply):
    """The content of a reply, and whether others follow."""
    return base64.b64decode(reply["payload"]["data_b64"]), reply["payload"].get("more", False)


async def waits(stand):
    await soon(lambda: stand.server.waiters.waiting == 1)


def test_each_reply_says_what_is_new_and_the_last_one_that_it_is_the_last(run):
    async def life(plug, stand, say):
        tag = await plug.post("read", fid=2, repeat=4)
        assert told(await plug.reply_to(tag)) == (b"1 a", True)
        for n, (lines, more) in enumerate([((b"b",), True), ((b"c", b"d"), True), ((b"e",), False)]):
            await waits(stand)
            say(*lines)
            content, followed = told(await plug.reply_to(tag))
            assert content.split(b" ")[1] == b",".join(lines) and followed is more, n
        assert stand.server.waiters.waiting == 0
        say(b"f")  # between two requests, and still not missed
        assert told(await plug.ask("read", fid=2)) == (b"6 f", False)

    run(life)


def test_other_requests_are_answered_meanwhile(run):
    async def life(plug, stand, say):
        tag = await plug.post("read", fid=2, repeat=3)
        await plug.reply_to(tag)
        assert (await plug.ask("stat", fid=1))["ok"]
        say(b"b")
        assert told(await plug.reply_to(tag)) == (b"2 b", True)
        assert (await plug.ask("stat", fid=1))["ok"]

    run(life)


@pytest.mark.parametrize("end", ["flush", "clunk"])
def test_it_is_ended_as_any_read_that_waits(run, end):
    async def life(plug, stand, say):
        tag = await plug.post("read", fid=2, repeat=60)
        await plug.reply_to(tag)
        await waits(stand)
        other = await plug.post(end, **({"oldtag": tag} if end == "flush" else {"fid": 2}))
        assert (await plug.reply_to(tag))["error"]["code"] == "eintr"
        assert (await plug.reply_to(other))["ok"] and stand.server.waiters.waiting == 0

    run(life)


def test_the_time_of_a_wait_is_for_all_of_them(run):
    async def life(plug, stand, say):
        tag = await plug.post("read", fid=2, repeat=60, wait_ms=200)
        assert told(await plug.reply_to(tag)) == (b"1 a", True)
        assert told(await plug.reply_to(tag)) == (b"1 ", False), "nothing new, and the last"

    run(life)


def test_a_peer_that_does_not_read_gets_what_is_new_as_the_last_reply(run):
    async def life(plug, stand, say):
        tag = await plug.post("read", fid=2, repeat=60)
        await plug.reply_to(tag)
        await waits(stand)
        (peer,) = stand.server.peers
        peer.transport.congested = True
        say(b"b")
        assert told(await plug.reply_to(tag)) == (b"2 b", False)

    run(life)


def test_what_does_not_fit_is_the_last_reply_and_can_be_read_on(run):
    async def life(plug, stand, say):
        tag = await plug.post("read", fid=2, repeat=60)
        await plug.reply_to(tag)
        await waits(stand)
        say(b"b" * 9000)
        reply = await plug.reply_to(tag)
        begin, more = told(reply)
        assert not more and reply["payload"]["eof"] is False
        rest = await plug.ask("read", fid=2, offset=len(begin))
        assert begin + told(rest)[0] == b"2 " + b"b" * 9000

    run(life)


@pytest.mark.parametrize("fields", [{"path": "/plain"}, {"wait_ms": 0}, {"offset": 1}, {"repeat": 1}, {"repeat": 0}])
def test_what_never_waits_is_read_once(run, fields):
    async def life(plug, stand, say):
        await plug.walk(fields.pop("path", "/stream"), 2)
        reply = await plug.ask("read", **{"fid": 2, "repeat": 9, **fields})
        assert "more" not in reply["payload"]
        assert (await plug.ask("stat", fid=1))["ok"]

    run(life)


def test_a_client_that_has_not_asked_for_the_word_gets_one_reply(run):
    async def life(plug, stand, say):
        assert told(await plug.ask("read", fid=2, repeat=9)) == (b"1 a", False)
        assert stand.server.waiters.waiting == 0

    run(life, extensions=("stats",))


def test_no_more_than_sixty_four_replies_are_sent(run):
    async def life(plug, stand, say):
        tag = await plug.post("read", fid=2, repeat=1_000_000)
        for n in range(64):
            assert told(await plug.reply_to(tag))[1] is (n < 63)
            say(b"x")

    run(life)


def test_a_read_that_may_no_longer_be_made_ends_it(run, monkeypatch):
    """Rights are judged for each reply, as for each read."""

    async def life(plug, stand, say):
        tag = await plug.post("read", fid=2, repeat=60)
        await plug.reply_to(tag)
        await waits(stand)
        monkeypatch.setattr(Stream, "read", lambda self, last=b"": self.tree.read("/gone"))
        say(b"b")
        assert (await plug.reply_to(tag))["error"]["code"] == "enoent"
        assert stand.server.waiters.waiting == 0

    run(life)
