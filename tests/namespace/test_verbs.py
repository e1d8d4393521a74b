"""The verbs over a tree in memory."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from worldfs.base.errors import BadInput, Conflict, NotFound, NotPermitted
from worldfs.namespace import staging
from worldfs.namespace.fids import Interrupted
from worldfs.namespace.past_time import NO_PAST
from worldfs.namespace.staging import MOST
from worldfs.namespace.suspended_coroutine import SuspendedCoroutine, start_eagerly
from worldfs.namespace.verbs import Verbs
from worldfs.namespace.waiters import Waiters
from worldfs.testing.served_tree import ServedNode, ServedTree, ShapedTree
from worldfs.testing.waiting import PATIENCE_S, soon
from worldfs.tree.change_feed import ChangeFeed
from worldfs.tree.verb_values import Stat, Wait, Written


def run(life, tree=ServedTree, own=None):
    async def start():
        feed = ChangeFeed()
        waiters = Waiters(feed, asyncio.get_running_loop())
        served = tree(feed)
        served.files.update({"/a/one": b"first", "/a/two": b"second", "/b": b"third"})
        with ThreadPoolExecutor(2) as threads:
            verbs = Verbs(served, waiters, threads, own=own)
            await verbs.attach(1)
            async with asyncio.timeout(PATIENCE_S):
                await life(verbs, served)
        waiters.close()

    asyncio.run(start())


async def at(verbs, path, fid=2):
    await verbs.walk(1, fid, [part for part in path.split("/") if part])
    return fid


def test_walking_and_reading_from_memory_needs_no_task():
    async def life(verbs, tree):
        assert start_eagerly(verbs.walk(1, 2, ["a", "one"])).path == "/a/one"
        assert start_eagerly(verbs.read(2, 0, 100)) == (b"first", True)
        assert start_eagerly(verbs.stat(2)).size == 5

    run(life)


@pytest.mark.parametrize(
    ("names", "path"),
    [
        ([], "/"),
        (["a"], "/a"),
        (["a", "..", "b"], "/b"),
        (["..", "a", ".", "one"], "/a/one"),
        (["a", "one", ".."], "/a"),
    ],
)
def test_dots_are_walked(names, path):
    async def life(verbs, tree):
        assert (await verbs.walk(1, 2, names)).path == path

    run(life)


@pytest.mark.parametrize("names", [["no"], ["a", "no", ".."], ["a/one"], [""], ["a", ""], ["b", "x"], ["a\0"]])
def test_a_walk_that_fails_makes_no_fid(names):
    async def life(verbs, tree):
        with pytest.raises(NotFound, match="walk segment not found"):
            await verbs.walk(1, 2, names)
        with pytest.raises(NotFound, match="unknown fid"):
            await verbs.stat(2)

    run(life)


def test_an_offset_is_cut_from_what_the_first_read_saw():
    async def life(verbs, tree):
        fid = await at(verbs, "/a/one")
        assert await verbs.read(fid, 0, 2) == (b"fi", False)
        tree.put("/a/one", b"XXXXXXXXX")
        assert await verbs.read(fid, 2, 100) == (b"rst", True)
        assert await verbs.read(fid, 5, 100) == (b"", True)
        assert await verbs.read(fid, 0, 100) == (b"XXXXXXXXX", True)

    run(life)


def test_a_directory_reads_as_sorted_names():
    async def life(verbs, tree):
        assert await verbs.read(1, 0, 100) == (b"a\nb", True)
        assert await verbs.read(1, 2, 1) == (b"b", True)
        assert await verbs.list(1) == ["a", "b"]
        with pytest.raises(BadInput):
            await verbs.list(await at(verbs, "/b"))

    run(life)


def test_a_stat_asks_the_node():
    async def life(verbs, tree):
        fid = await at(verbs, "/b")
        assert (await verbs.stat(fid)).size == 5
        tree.put("/b", b"longer than before")
        assert (await verbs.stat(fid)).size == 18

    run(life)


def test_a_read_says_what_is_there_now_whether_or_not_it_was_published():
    async def life(verbs, tree):
        fid = await at(verbs, "/b")
        assert await verbs.read(fid, 0, 10) == (b"third", True)
        tree.files["/b"] = b"unpublished"
        assert await verbs.read(fid, 0, 20) == (b"unpublished", True)
        tree.heavy.add("/a")
        fid = await at(verbs, "/a/one")
        assert await verbs.read(fid, 0, 20) == (b"first", True)
        tree.files["/a/one"] = b"edited by hand"
        assert await verbs.read(fid, 0, 20) == (b"edited by hand", True)

    run(life)


def test_a_write_is_seen_by_the_next_read_whatever_was_known():
    async def life(verbs, tree):
        tree.controls["/b"] = lambda data: tree.files.update({"/b": data}) or Written(len(data))
        fid = await at(verbs, "/b")
        assert await verbs.read(fid, 0, 10) == (b"third", True)
        await verbs.write(fid, 0, b"quiet")
        assert await verbs.read(fid, 0, 10) == (b"quiet", True)

    run(life)


def test_a_heavy_path_is_asked_in_a_thread():
    async def life(verbs, tree):
        tree.heavy.add("/a")  # the tree asserts that it is not asked on the loop
        rest = start_eagerly(verbs.walk(1, 2, ["a", "one"]))
        assert isinstance(rest, SuspendedCoroutine)
        assert (await rest).path == "/a/one"
        assert await verbs.read(2, 0, 10) == (b"first", True)

    run(life)


def test_a_read_waits_says_so_and_goes_on_when_the_file_opens():
    async def life(verbs, tree):
        tree.closed.add("/b")
        fid, said = await at(verbs, "/b"), []
        task = asyncio.ensure_future(verbs.read(fid, 0, 100, aside=lambda: said.append("aside")))
        await soon(lambda: said)
        assert said == ["aside"]
        assert not task.done()
        tree.open("/b", b"now")
        assert await task == (b"now", True)

    run(life)


@pytest.mark.parametrize(("offset", "wait_ms"), [(0, 0), (1, None), (0, 20)])
def test_a_read_that_may_not_wait_long_does_not(offset, wait_ms):
    async def life(verbs, tree):
        tree.closed.add("/b")
        fid = await at(verbs, "/b")
        assert await verbs.read(fid, offset, 100, wait_ms) == (b"third"[offset:], True)

    run(life)


@pytest.mark.parametrize("end", ["clunk", "rewalk", "close"])
def test_giving_up_a_fid_interrupts_its_waits(end):
    async def life(verbs, tree):
        tree.closed.add("/b")
        fid = await at(verbs, "/b")
        task = asyncio.ensure_future(verbs.read(fid, 0, 100))
        await soon(lambda: verbs._waiters.waiting == 1)
        if end == "clunk":
            await verbs.clunk(fid)
        elif end == "rewalk":
            await verbs.walk(1, fid, [])
        else:
            verbs.close()
        with pytest.raises(Interrupted):
            await task

    run(life)


def test_a_write_is_refused_where_nothing_is_written():
    async def life(verbs, tree):
        tree.read_only.add("/b")
        fid = await at(verbs, "/b")
        with pytest.raises(NotPermitted, match="read-only"):
            await verbs.open(fid, "rw")
        with pytest.raises(NotPermitted, match="read-only"):
            await verbs.write(fid, 0, b"x")
        with pytest.raises(BadInput, match="requires file"):
            await verbs.write(1, 0, b"x")
        with pytest.raises(BadInput, match="read-only opens"):
            await verbs.open(1, "w")
        with pytest.raises(BadInput, match="out of range"):
            await verbs.write(fid, 2**63, b"x")

    run(life)


def test_a_write_waits_for_what_it_started_and_is_answered_even_if_interrupted():
    async def life(verbs, tree):
        done = threading.Event()
        wait = Wait(("/job",), done.is_set, PATIENCE_S)
        tree.controls["/b"] = lambda data: Written(len(data), {"job": "job-1"}, wait)
        fid = await at(verbs, "/b")
        task = asyncio.ensure_future(verbs.write(fid, 0, b"go"))
        await soon(lambda: verbs._waiters.waiting == 1)
        assert not task.done()
        done.set()
        tree.feed.publish("/job")
        assert (await task).extra == {"job": "job-1"}
        done.clear()
        task = asyncio.ensure_future(verbs.write(fid, 0, b"go"))
        await soon(lambda: verbs._waiters.waiting == 1)
        task.cancel()
        assert (await task).extra == {"job": "job-1"}

    run(life)


def test_staged_writes_are_one_change():
    async def life(verbs, tree):
        fid = await at(verbs, "/b")
        await verbs.open(fid, "rw", stage=True)
        await verbs.write(fid, 0, b"TH")
        await verbs.write(fid, -1, b"!")
        assert await verbs.read(fid, 0, 100) == (b"THird!", True)
        assert (await verbs.stat(fid)).size == 6
        assert tree.files["/b"] == b"third"
        await verbs.truncate(fid, 4)
        await verbs.flush(fid)
        assert tree.files["/b"] == b"THir"
        await verbs.write(fid, 0, b"t")
        await verbs.clunk(fid)
        assert tree.files["/b"] == b"tHir"

    run(life, ShapedTree)


def test_a_flush_of_what_was_not_written_does_nothing():
    async def life(verbs, tree):
        fid = await at(verbs, "/b")
        await verbs.open(fid, "w", stage=True)
        await verbs.flush(fid)
        await verbs.clunk(fid)
        assert tree.files["/b"] == b"third"
        fid = await at(verbs, "/b")
        await verbs.open(fid, "w", stage=True, truncate=True)
        await verbs.clunk(fid)
        assert tree.files["/b"] == b""

    run(life, ShapedTree)


def test_a_control_acts_once_when_its_document_is_whole():
    async def life(verbs, tree):
        tree.controls["/b"] = lambda data: Written(len(data))
        fid = await at(verbs, "/b")
        await verbs.open(fid, "w", stage=True, truncate=True, control=True)
        await verbs.write(fid, 0, b'{"tool":')
        assert tree.writes == []
        await verbs.write(fid, 8, b'"x"}')
        assert [given.data for given in tree.writes] == [b'{"tool":"x"}']
        await verbs.flush(fid)
        await verbs.clunk(fid)
        assert len(tree.writes) == 1

    run(life)


def test_words_to_a_control_are_delivered_at_the_end():
    async def life(verbs, tree):
        tree.controls["/b"] = lambda data: Written(len(data))
        fid = await at(verbs, "/b")
        await verbs.open(fid, "w", stage=True, control=True)
        await verbs.write(fid, 0, b"clear ")
        await verbs.write(fid, 6, b"the table")
        await verbs.clunk(fid)
        assert [given.data for given in tree.writes] == [b"clear the table"]

    run(life)


def test_names_are_made_and_unmade_where_the_tree_allows_it():
    async def life(verbs, tree):
        await verbs.walk(1, 2, ["a"])
        await verbs.create(2, 3, "new")
        await verbs.write(3, 0, b"x")
        await verbs.rename(2, "new", 1, "moved")
        assert tree.files["/moved"] == b"x"
        await verbs.remove(1, "moved")
        assert "/moved" not in tree.files
        with pytest.raises(BadInput):
            await verbs.create(2, 3, "..")

    run(life, ShapedTree)


class Letters(ShapedTree):
    """A tree whose new files are there with their first write."""

    promises = True


def test_a_promised_file_is_there_with_its_first_write():
    async def life(verbs, tree):
        await verbs.walk(1, 2, ["a"])
        await verbs.create(2, 3, "letter")
        assert (await verbs.stat(3)).writable and "/a/letter" not in tree.files
        await verbs.open(3, "w")
        await verbs.write(3, 0, b"whole")
        assert tree.files["/a/letter"] == b"whole"
        await verbs.create(2, 4, "staged")
        await verbs.open(4, "w", stage=True, truncate=True)
        await verbs.write(4, 0, b"in ")
        await verbs.write(4, 3, b"pieces")
        assert "/a/staged" not in tree.files
        await verbs.clunk(4)
        assert tree.files["/a/staged"] == b"in pieces"

    run(life, Letters)


def test_names_are_not_made_where_the_tree_has_no_such_verb():
    async def life(verbs, tree):
        with pytest.raises(NotPermitted):
            await verbs.create(1, 3, "new")

    run(life)


def test_own_files_are_read_from_the_connection_where_the_tree_has_them():
    async def life(verbs, tree):
        fid = await at(verbs, "/b")
        assert await verbs.read(fid, 0, 100) == (b"mine", True)
        assert (await verbs.stat(fid)).size == 4
        with pytest.raises(NotFound):
            await at(verbs, "/no")

    run(life, own={"/b": lambda: b"mine", "/no": lambda: b"hidden"})


def test_fids_are_bounded():
    async def life(verbs, tree):
        with pytest.raises(BadInput, match="too many fids"):
            for fid in range(2, 20_000):
                await verbs.walk(1, fid, [])
        assert len(verbs) == 16_384

    run(life)


def test_snapshots_are_bounded(monkeypatch):
    monkeypatch.setattr("worldfs.namespace.fids.MOST_KEPT", 1000)

    async def life(verbs, tree):
        tree.files["/big"] = bytes(600)
        for fid in (2, 3, 4):
            await at(verbs, "/big", fid)
            assert await verbs.read(fid, 0, 100) == (bytes(100), False)
        assert sum(len(held.kept or b"") for held in verbs._fids._held.values()) == 600
        assert await verbs.read(2, 500, 200) == (bytes(100), True)  # rendered again

    run(life)


def test_a_write_is_refused_before_the_tree_is_asked_when_the_file_may_not_be_written():
    async def life(verbs, tree):
        tree.read_only.add("/b")
        fid = await at(verbs, "/b")
        for ask in (lambda: verbs.open(fid, "w"), lambda: verbs.write(fid, 0, b"mine")):
            with pytest.raises(NotPermitted) as refused:
                await ask()
            assert refused.value.code == "eperm"  # the tree itself would say another code
        assert tree.files["/b"] == b"third"

    run(life)


def test_a_right_that_ends_after_the_open_stops_the_write_that_would_replace_the_file():
    async def life(verbs, tree):
        fid = await at(verbs, "/b")
        await verbs.open(fid, "w", truncate=True)
        tree.read_only.add("/b")  # the tree of this test replaces without asking, as a node's export does
        with pytest.raises(NotPermitted):
            await verbs.write(fid, 0, b"mine")
        assert tree.files["/b"] == b"third"

    run(life, ShapedTree)


def test_what_is_computed_has_no_revision_to_compare_with(monkeypatch):
    async def life(verbs, tree):
        fid = await at(verbs, "/b")
        tree.stat = lambda path: Stat(False, 5, writable=True, path=path)
        without_comparing = lambda node, data, **more: tree.write(node.path, data)  # noqa: E731  # as a control does
        monkeypatch.setattr(ServedNode, "write", without_comparing)
        with pytest.raises(Conflict):
            await verbs.write(fid, 0, b"mine", expect="1")
        assert tree.files["/b"] == b"third"

    run(life)


@pytest.mark.parametrize("staged", [False, True])
def test_a_revision_is_compared_with_whole_contents_only(staged):
    async def life(verbs, tree):
        fid = await at(verbs, "/b")
        revision = tree.stat("/b").revision
        if staged:
            await verbs.open(fid, "w", stage=True)
        with pytest.raises(BadInput) as refused:
            await verbs.write(fid, 0 if staged else 2, b"mine", expect=revision)
        assert refused.value.code == "invalid"
        await verbs.clunk(fid)
        assert tree.files["/b"] == b"third"

    run(life)


@pytest.mark.parametrize("size", [-1, MOST + 1])
def test_a_file_is_cut_to_a_size_that_a_file_can_have(size):
    async def life(verbs, tree):
        with pytest.raises(BadInput) as refused:
            await verbs.truncate(await at(verbs, "/b"), size)
        assert refused.value.code == "invalid" and tree.files["/b"] == b"third"

    run(life, ShapedTree)


@pytest.mark.parametrize(
    "change",
    [
        lambda staging: staging.write(-1, b"sixth."),
        lambda staging: staging.write(10, b"x"),
        lambda staging: staging.truncate(11),
    ],
)
def test_what_is_staged_is_bounded_wherever_its_end_is(monkeypatch, change):
    monkeypatch.setattr(staging, "MOST", 10)
    staged = staging.Staging(b"third")
    with pytest.raises(BadInput) as refused:
        change(staged)
    assert refused.value.code == "invalid" and bytes(staged.data) == b"third" and not staged.changed


@pytest.mark.parametrize(("path", "time", "code"), [("/a", 1, "eisdir"), ("/a", None, "eisdir"), ("/b", -1, "invalid")])
def test_a_time_is_refused_before_the_tree_is_asked(path, time, code):
    async def life(verbs, tree):
        with pytest.raises(BadInput) as refused:
            await verbs.touch(await at(verbs, path), time)
        assert refused.value.code == code

    run(life)


def test_a_walk_into_a_past_that_is_not_known_says_why():
    async def life(verbs, tree):
        tree.walk = partial(fail, BadInput("nothing was recorded", code=NO_PAST))
        with pytest.raises(BadInput, match="nothing was recorded"):
            await verbs.walk(1, 2, ["at", "1d", "b"])

    run(life)


def fail(error, path):
    raise error
