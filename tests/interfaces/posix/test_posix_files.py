"""The POSIX view of a tree: true sizes, revisions, commits by kind, scratch names, errno."""

from __future__ import annotations

import asyncio
import errno
import json
import os

import pytest

from worldfs.base.errors import WorldError
from worldfs.interfaces.cli.main import main
from worldfs.interfaces.posix import scratch_names
from worldfs.interfaces.posix.posix_errors import errno_of
from worldfs.namespace.staging import MOST
from worldfs.testing.waiting import PATIENCE_S

PROJECT = "/projects/main"
TASK = PROJECT + "/TASK.md"
WRITE = os.O_WRONLY | os.O_TRUNC


async def failing(work):
    """The errno of a failure."""
    with pytest.raises(WorldError) as caught:
        await work
    return errno_of(caught.value)


async def read(files, path):
    file = await files.open(path, os.O_RDONLY)
    data = await file.read(0, 1 << 30)
    await files.close_file(path, file)
    return data


async def write(files, path, *pieces, flags=WRITE):
    file = await files.open(path, flags)
    for piece in pieces:
        await file.write(file.size, piece)
    await file.flush()
    await files.close_file(path, file)


def test_every_file_of_the_tree_has_its_true_size_and_reads_as_the_tree_gives_it(view):
    async def work(files):
        seen, waiting = 0, ["/"]
        while waiting:
            path = waiting.pop()
            for name, directory in await files.list(path):
                below = f"{path.rstrip('/')}/{name}"
                entry = await files.look(below)
                assert entry.directory == directory
                if directory:
                    waiting.append(below)
                elif not entry.waits:
                    assert len(await read(files, below)) == entry.size, below
                    seen += 1
        return seen

    assert view(work) > 100


def test_a_new_revision_is_a_new_id_and_an_open_file_keeps_its_bytes(view):
    async def work(files):
        before = await files.look(TASK)
        file = await files.open(TASK, os.O_RDONLY, before)
        await write(files, TASK, b"# Task\n", b"one\n")
        after = await files.look(TASK)
        assert after.id != before.id
        assert after.size == len(b"# Task\none\n")
        assert len(await file.read(0, 1 << 20)) == before.size
        assert await read(files, TASK) == b"# Task\none\n"
        assert (await files.look(TASK)).id == after.id

    view(work, "planner")


def test_a_record_is_replaced_whole_at_the_flush_and_not_before(view):
    async def work(files):
        old = await read(files, TASK)
        file = await files.open(TASK, WRITE)
        await file.flush()  # the shell's own, before any write
        await file.write(0, b"half")
        assert await read(files, TASK) == old
        await file.write(4, b" done")
        await file.flush()
        assert await read(files, TASK) == b"half done"
        await file.write(9, b"!")
        await files.close_file(TASK, file)
        assert await read(files, TASK) == b"half done!"
        await files.close_file(TASK, await files.open(TASK, WRITE))
        assert await read(files, TASK) == b""

    view(work, "planner")


def test_what_a_killed_writer_left_half_is_committed_only_where_another_goes_on(view):
    async def work(files):
        await write(files, TASK, b"whole\n")
        for go_on, left in (
            (lambda file: file.flush(), b"whole\n"),
            (lambda file: file.write(4, b"!\n"), b"half!\n"),
            (lambda file: file.truncate(2), b"ha"),
        ):
            file = await files.open(TASK, WRITE)
            await file.write(0, b"half")
            file.abandoned = True
            await go_on(file)
            await files.close_file(TASK, file)
            assert await read(files, TASK) == left

    view(work, "planner")


def test_a_cut_to_the_size_that_it_has_goes_on_with_what_a_killed_writer_opened(view):
    async def work(files):
        for begun, size, left in ((b"", 0, b""), (b"half", 4, b"half")):
            await write(files, TASK, b"whole\n")
            file = await files.open(TASK, WRITE)
            if begun:
                await file.write(0, begun)
            file.abandoned = True
            await file.truncate(size)
            await files.close_file(TASK, file)
            assert await read(files, TASK) == left

    view(work, "planner")


def test_append_goes_to_the_end_whatever_the_offset(view):
    async def work(files):
        await write(files, TASK, b"a\n")
        file = await files.open(TASK, os.O_WRONLY | os.O_APPEND)
        await file.write(0, b"b\n")
        await file.flush()
        await files.close_file(TASK, file)
        assert await read(files, TASK) == b"a\nb\n"

    view(work, "planner")


def test_who_may_not_write_gets_eacces_and_what_is_hidden_is_not_there(view):
    async def work(files):
        assert await failing(files.open(TASK, WRITE)) == errno.EACCES
        assert await failing(files.look(PROJECT + "/SKILLS.md")) == errno.ENOENT
        assert "SKILLS.md" not in dict(await files.list(PROJECT))
        assert await failing(files.create(PROJECT + "/SKILLS.md", WRITE)) in (errno.EACCES, errno.ENOENT)

    view(work, "critic")


def test_a_scratch_name_is_private_and_renamed_onto_a_record_replaces_it_at_once(view, home):
    async def work(files):
        scratch = PROJECT + "/sedAb12"
        _, file = await files.create(scratch, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        await file.write(0, b"# new\n")
        await file.close()
        assert ("sedAb12", False) in await files.list(PROJECT)
        assert not list(home.rglob("sedAb12"))
        await files.rename(scratch, TASK)
        assert await read(files, TASK) == b"# new\n"
        assert await failing(files.look(scratch)) == errno.ENOENT
        assert (home / "workspace/TASK.md").read_bytes() == b"# new\n"

    view(work, "planner")


def test_no_scratch_name_where_the_actor_writes_nothing(view):
    async def work(files):
        assert await failing(files.create("/meta/x", WRITE)) == errno.EACCES
        assert await failing(files.create(PROJECT + "/artifacts/x", WRITE)) == errno.EACCES
        assert await failing(files.mkdir("/meta/x")) == errno.EACCES

    view(work, "critic")


def test_files_of_the_artifacts_are_made_renamed_over_each_other_and_removed(view):
    async def work(files):
        base = PROJECT + "/artifacts"
        await files.mkdir(base + "/d")
        for name, data in (("a", b"A"), ("b", b"B")):
            _, file = await files.create(f"{base}/d/{name}", WRITE | os.O_CREAT)
            assert (name, False) in await files.list(base + "/d")
            await file.write(0, data)
            await files.close_file(f"{base}/d/{name}", file)
        await files.rename(base + "/d/a", base + "/d/b")
        assert await files.list(base + "/d") == [("b", False)]
        assert await read(files, base + "/d/b") == b"A"
        assert await failing(files.remove(base + "/d", directory=True)) == errno.ENOTEMPTY
        await files.remove(base + "/d/b")
        await files.remove(base + "/d", directory=True)
        assert await failing(files.look(base + "/d")) == errno.ENOENT
        _, empty = await files.create(base + "/empty", WRITE | os.O_CREAT)
        await files.close_file(base + "/empty", empty)
        assert await read(files, base + "/empty") == b""

    view(work)


def test_a_control_answers_in_the_write_that_makes_a_whole_document(view):
    async def work(files):
        node = next(name for name, directory in await files.list("/nodes") if directory)
        stop = f"/nodes/{node}/film"
        file = await files.open(stop, WRITE)
        assert await failing(file.write(0, b"../../escape.gif\n")) == errno.EINVAL
        await files.close_file(stop, file)
        sentence = (await files.attributes(stop))["user.paos.error"].decode()
        assert "escape" in sentence
        assert sentence in (await read(files, f"/nodes/{node}/last_error")).decode()

    view(work)


def test_an_incomplete_document_is_refused_at_the_flush_and_changes_nothing(view, home):
    async def work(files):
        path = "/agents/rio/report.json"
        file = await files.open(path, WRITE)
        await file.write(0, b'{"summary": "ha')
        assert await failing(file.flush()) == errno.EINVAL
        await files.close_file(path, file)
        assert json.loads(await read(files, path))

    assert main(["--home", str(home), "agent", "init", "rio"]) == 0
    view(work, "agent", "rio")


def test_bad_names_get_the_errno_of_a_disk(view):
    async def work(files):
        base = PROJECT + "/artifacts/"
        assert await failing(files.look(base + "x" * 256)) == errno.ENAMETOOLONG
        for make in (files.create(base + "x" * 256, WRITE), files.mkdir(base + "x" * 256)):
            assert await failing(make) == errno.ENAMETOOLONG
        assert await failing(files.symlink(base + "x" * 256, b"to")) == errno.ENAMETOOLONG
        assert await failing(files.rename(TASK, base + "x" * 256)) == errno.ENAMETOOLONG
        assert await failing(files.create(base + "..", WRITE)) == errno.EINVAL
        assert await failing(files.rename(TASK, PROJECT + "/other.md")) in (errno.EACCES, errno.EXDEV)
        assert await failing(files.remove(TASK)) == errno.EACCES

    view(work)


def test_a_read_only_view_takes_no_change(view):
    async def work(files):
        assert await failing(files.open(TASK, WRITE)) == errno.EROFS
        assert await failing(files.mkdir(PROJECT + "/artifacts/x")) == errno.EROFS
        assert await read(files, TASK) is not None

    view(work, "planner", read_only=True)


def test_a_change_between_a_look_and_the_wait_is_not_missed(view):
    async def work(files):
        async with files.tree.changes(TASK) as until_next:
            for number in range(2):
                await write(files, TASK, b"- [ ] %d\n" % number)  # nobody waits yet
                async with asyncio.timeout(PATIENCE_S):  # less than the time after which a missed change is found
                    await until_next()
        return True

    assert view(work, "planner")


def test_an_order_in_words_acts_with_its_newline_or_at_the_flush(view):
    async def work(files):
        node = next(name for name, directory in await files.list("/nodes") if directory)
        film, stop = f"/nodes/{node}/film", f"/nodes/{node}/stop"
        file = await files.open(film, WRITE)
        await file.write(0, b"../../escape.gif")  # it may go on
        assert await failing(file.flush()) == errno.EINVAL
        await files.close_file(film, file)
        assert b"escape" in (await files.attributes(film))["user.paos.error"]
        await write(files, stop, b"stop")
        assert "user.paos.error" not in await files.attributes(stop)

    view(work)


def test_what_is_there_is_not_made_again_and_a_directory_is_no_file(view):
    async def work(files):
        base = PROJECT + "/artifacts"
        await files.create(PROJECT + "/sedAb12", WRITE)
        for path in (PROJECT + "/sedAb12", base, TASK):
            assert await failing(files.mkdir(path)) == errno.EEXIST
            assert await failing(files.symlink(path, b"x")) == errno.EEXIST
        for path in (PROJECT + "/sedAb12", TASK):
            assert await failing(files.create(path, WRITE | os.O_EXCL)) == errno.EEXIST
        for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR, WRITE):
            assert await failing(files.open(base, flags)) == errno.EISDIR
        assert await failing(files.create(base + "/a\nb", WRITE)) == errno.EINVAL
        assert await failing(files.truncate(TASK, MOST + 1)) == errno.EFBIG

    view(work, "planner")


def test_a_directory_in_which_a_file_is_being_made_is_not_empty(view):
    async def work(files):
        base = PROJECT + "/artifacts"
        await files.mkdir(base + "/d")
        await files.mkdir(base + "/e")
        _, file = await files.create(base + "/d/new", WRITE)  # in the tree with its first commit
        assert await failing(files.remove(base + "/d", directory=True)) == errno.ENOTEMPTY
        assert await failing(files.rename(base + "/e", base + "/d")) == errno.ENOTEMPTY
        await files.close_file(base + "/d/new", file)
        assert await read(files, base + "/d/new") == b""
        assert await failing(files.rename(base + "/d/new", "/nodes/franka_001/jobs/j/cancel")) == errno.EACCES

    view(work)


def test_a_message_that_was_sent_is_not_written_again(view, home):
    async def work(files):
        inbox = "/agents/rio/inbox"
        sent = next(f"{inbox}/{name}" for name, _ in await files.list(inbox) if name.endswith(".json"))
        before = await read(files, sent)
        assert await failing(files.open(sent, WRITE)) == errno.EEXIST
        _, scratch = await files.create("/agents/rio/sedAb12", WRITE)
        await scratch.write(0, before)
        assert await failing(files.rename("/agents/rio/sedAb12", sent)) == errno.EEXIST
        assert await read(files, sent) == before

    for words in (["init", "rio"], ["send", "rio", "hello"]):
        assert main(["--home", str(home), "agent", *words]) == 0
    view(work, "agent", "rio")


def test_scratch_files_are_bounded_in_number_and_in_bytes(view, monkeypatch):
    async def work(files):
        monkeypatch.setattr(scratch_names, "NAMES_MOST", 2)
        monkeypatch.setattr(scratch_names, "SCRATCH_MOST", 100)
        _, first = await files.create(PROJECT + "/sed1", WRITE)
        _, second = await files.create(PROJECT + "/sed2", WRITE)
        assert await failing(files.create(PROJECT + "/sed3", WRITE)) == errno.ENOSPC
        await first.write(0, b"x" * 60)
        assert await failing(second.write(0, b"x" * 41)) == errno.ENOSPC
        await first.truncate(59)
        await second.write(0, b"x" * 41)
        assert await failing(second.write(MOST, b"x")) == errno.EFBIG

    view(work, "planner")


ARTIFACTS = PROJECT + "/artifacts"
THEN_NS = 1_600_000_000_000 * 1_000_000


async def make(files, path, data=b"x"):
    _, file = await files.create(path, WRITE | os.O_CREAT)
    await file.write(0, data)
    await files.close_file(path, file)


def test_a_time_is_kept_at_once_with_the_commit_or_of_what_nobody_writes(view):
    async def work(files):
        path = ARTIFACTS + "/a"
        for case in ("nobody writes", "open, and nothing written", "written, not committed"):
            await make(files, path)
            file = None if case == "nobody writes" else await files.open(path, os.O_WRONLY)
            if case == "written, not committed":
                await file.write(0, b"y")
            await files.touch(path, THEN_NS)
            if case != "written, not committed":
                assert (await files.look(path)).mtime_ns == THEN_NS, case
            if file is not None:
                await files.close_file(path, file)
            assert (await files.look(path)).mtime_ns == THEN_NS, case

    view(work)


def test_a_scratch_link_holds_its_target_and_moves_with_its_name(view):
    async def work(files):
        entry = await files.symlink(PROJECT + "/.#TASK.md", b"me@host.1:2")
        assert entry.link and bytes(entry.scratch.data) == b"me@host.1:2"
        await files.rename(PROJECT + "/.#TASK.md", PROJECT + "/.#other")
        assert await failing(files.look(PROJECT + "/.#TASK.md")) == errno.ENOENT
        assert bytes((await files.look(PROJECT + "/.#other")).scratch.data) == b"me@host.1:2"

    view(work)


def test_a_directory_of_a_bad_name_is_not_made(view):
    async def work(files):
        before = await files.list(ARTIFACTS)
        for name in ("two\nlines", "x" * 256):
            expected = errno.ENAMETOOLONG if len(name) > 255 else errno.EINVAL
            assert await failing(files.mkdir(f"{ARTIFACTS}/{name}")) == expected
        assert await files.list(ARTIFACTS) == before

    view(work)


def test_a_directory_that_is_removed_takes_what_was_refused_there_with_it(view):
    async def work(files):
        base = ARTIFACTS + "/d"
        await files.mkdir(base)
        files.errors.add_below(base, WorldError("no", path=base))
        assert [name for name, _ in await files.list(base)] == ["last_error"]
        await files.remove(base, directory=True)
        await files.mkdir(base)
        assert await files.list(base) == []

    view(work)


def test_what_is_being_written_goes_with_the_name(view):
    async def work(files):
        await make(files, ARTIFACTS + "/a", b"old")
        file = await files.open(ARTIFACTS + "/a", os.O_WRONLY)
        await file.write(0, b"new")
        await files.rename(ARTIFACTS + "/a", ARTIFACTS + "/b")
        assert await read(files, ARTIFACTS + "/b") == b"new"
        await files.close_file(file.path, file)
        assert {"a", "b"} & {name for name, _ in await files.list(ARTIFACTS)} == {"b"}

    view(work)


def test_a_directory_moved_onto_an_empty_one_leaves_no_entry_behind(view):
    async def work(files):
        for name in ("/d", "/e"):
            await files.mkdir(ARTIFACTS + name)
        await make(files, ARTIFACTS + "/d/a")
        await files.touch(ARTIFACTS + "/d/a", THEN_NS)
        assert (await files.look(ARTIFACTS + "/d/a")).path in files.entries
        await files.rename(ARTIFACTS + "/d", ARTIFACTS + "/e")
        assert not [path for path in files.entries if path.startswith(ARTIFACTS + "/d")]
        assert await read(files, ARTIFACTS + "/e/a") == b"x"

    view(work)


def test_a_look_waits_for_a_file_that_is_being_closed(view, monkeypatch):
    async def work(files):
        path, commit, go = ARTIFACTS + "/a", files.commit, asyncio.Event()
        await make(files, path, b"old")

        async def held(*what):
            await go.wait()
            await commit(*what)

        monkeypatch.setattr(files, "commit", held)
        file = await files.open(path, WRITE)
        await file.write(0, b"newer")
        closing = asyncio.create_task(files.close_file(path, file))
        await asyncio.sleep(0)
        looking = asyncio.create_task(files.look(path))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not looking.done()
        go.set()
        async with asyncio.timeout(PATIENCE_S):
            assert (await looking).size == len(b"newer")
        await closing

    view(work)


def test_a_small_file_is_read_from_the_tree_once_a_revision(view, monkeypatch):
    async def work(files):
        await make(files, ARTIFACTS + "/a")
        await files.touch(ARTIFACTS + "/a", THEN_NS)
        first, asked = files.tree.read, []
        monkeypatch.setattr(files.tree, "read", lambda path: asked.append(path) or first(path))
        for _ in range(3):
            assert await read(files, ARTIFACTS + "/a") == b"x"
        assert len(asked) <= 1

    view(work)
