"""The law of the node FS: what is done over the protocol leaves what the same calls leave in a plain directory."""

import errno
import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from worldfs.plugins.node_fs.directory_source import DirectorySource
from worldfs.plugins.node_fs.fs_errors import FsError
from worldfs.testing.export_server import connected_client, run

NAMES = ("a", "b", "dir", "文", "x y")
NAME = st.sampled_from(NAMES)
PATH = st.lists(NAME, min_size=1, max_size=3).map(tuple)
DATA = st.binary(max_size=40)
STEP = st.one_of(
    st.tuples(st.just("create"), PATH, DATA),
    st.tuples(st.just("write"), PATH, st.integers(0, 50), DATA),
    st.tuples(st.just("truncate"), PATH, st.integers(0, 60)),
    st.tuples(st.just("mkdir"), PATH),
    st.tuples(st.just("rmdir"), PATH),
    st.tuples(st.just("unlink"), PATH),
    st.tuples(st.just("rename"), PATH, PATH),
    st.tuples(st.just("symlink"), PATH, NAME),
    st.tuples(st.just("read"), PATH, st.integers(0, 50), st.integers(0, 50)),
    st.tuples(st.just("list"), PATH),
    st.tuples(st.just("stat"), PATH),
    st.tuples(st.just("setxattr"), PATH, DATA),
)
SAME = {errno.EPERM: errno.EACCES, errno.ELOOP: errno.ENOENT}  # told so on the wire


class Plain:
    """The same calls on a directory of this machine, as a program there would make them."""

    def __init__(self, top):
        self.top = top

    def at(self, path):
        return self.top.joinpath(*path)

    def create(self, path, data):
        fd = os.open(self.at(path), os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o644)
        os.pwrite(fd, data, 0)
        os.close(fd)

    def write(self, path, offset, data):
        self.check_file(path)
        fd = os.open(self.at(path), os.O_WRONLY)
        os.pwrite(fd, data, offset)
        os.close(fd)

    def truncate(self, path, size):
        self.check_file(path)
        os.truncate(self.at(path), size)

    def check_file(self, path):
        if stat.S_ISDIR(os.stat(self.at(path)).st_mode):
            raise IsADirectoryError(errno.EISDIR, "")

    def mkdir(self, path):
        os.mkdir(self.at(path), 0o755)

    def rmdir(self, path):
        os.rmdir(self.at(path))

    def unlink(self, path):
        os.unlink(self.at(path))

    def rename(self, old, new):
        os.rename(self.at(old), self.at(new))

    def symlink(self, path, target):
        os.symlink(target, self.at(path))

    def read(self, path, offset, size):
        self.check_file(path)
        fd = os.open(self.at(path), os.O_RDONLY)
        try:
            return os.pread(fd, size, offset)
        finally:
            os.close(fd)

    def list(self, path):
        return sorted(os.listdir(self.at(path)))

    def stat(self, path):
        info = os.stat(self.at(path))
        return stat.S_ISDIR(info.st_mode), 0 if stat.S_ISDIR(info.st_mode) else info.st_size

    def setxattr(self, path, data):
        os.setxattr(self.at(path), "user.law", data)
        return os.listxattr(self.at(path))


class Far:
    """The calls over the protocol, by ids that are looked up on the way."""

    def __init__(self, fs, root):
        self.fs, self.root = fs, root

    async def node(self, path):
        node = self.root
        for name in path:
            node = (await self.fs.lookup(node, name)).id
        return node

    async def place(self, path):
        """A parent that is no directory is met on the way, before anything is looked for in another."""
        node = await self.node(path[:-1])
        if (await self.fs.getattr(node)).k != 2:
            raise FsError(errno.ENOTDIR)
        return node, path[-1]

    async def create(self, path, data):
        _, h = await self.fs.create(*await self.place(path))
        await self.fs.write(h, 0, data)
        await self.fs.close_handle(h)

    async def write(self, path, offset, data):
        h = await self.fs.open(await self.node(path), 1)
        await self.fs.write(h, offset, data)
        await self.fs.close_handle(h)

    async def truncate(self, path, size):
        await self.fs.truncate(await self.node(path), size)

    async def mkdir(self, path):
        await self.fs.mkdir(*await self.place(path))

    async def rmdir(self, path):
        await self.fs.rmdir(*await self.place(path))

    async def unlink(self, path):
        await self.fs.unlink(*await self.place(path))

    async def rename(self, old, new):
        await self.fs.rename(*await self.place(old), *await self.place(new))

    async def symlink(self, path, target):
        await self.fs.symlink(*await self.place(path), target)

    async def read(self, path, offset, size):
        h = await self.fs.open(await self.node(path))
        try:
            return (await self.fs.read(h, offset, size))[0]
        finally:
            await self.fs.close_handle(h)

    async def list(self, path):
        return [one.name for one in await self.fs.listing(await self.node(path))]

    async def stat(self, path):
        attr = await self.fs.getattr(await self.node(path))
        return attr.k == 2, 0 if attr.k == 2 else attr.sz

    async def setxattr(self, path, data):
        node = await self.node(path)
        await self.fs.setxattr(node, "user.law", data)
        assert await self.fs.getxattr(node, "user.law") == data
        return await self.fs.listxattr(node)


def said(call):
    try:
        return call()
    except OSError as error:
        return SAME.get(error.errno, error.errno)


async def told(call):
    try:
        return await call
    except FsError as error:
        return error.number


def tree(top):
    """Everything below: names, content, modes, link targets."""
    found = {}
    for path in sorted(top.rglob("*")):
        info = path.lstat()
        what = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(top))] = (stat.filemode(info.st_mode), what)
    return found


def agrees(steps):
    with tempfile.TemporaryDirectory() as folder:
        tops = [Path(folder) / name for name in ("plain", "far")]
        for top in tops:
            top.mkdir()

        async def work():
            plain = Plain(tops[0])
            async with connected_client(DirectorySource("far", str(tops[1]))) as fs:
                far = Far(fs, (await fs.exports())[0].root)
                for op, *args in steps:
                    here = said(lambda op=op, args=args: getattr(plain, op)(*args))
                    there = await told(getattr(far, op)(*args))
                    assert there == here, (op, args, here, there)

        run(work())
        assert tree(tops[1]) == tree(tops[0])


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEP, max_size=25))
def test_any_sequence_of_operations_ends_as_in_a_plain_directory(steps):
    agrees(steps)


@pytest.mark.proof
@settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEP, max_size=60))
def test_very_many_sequences_end_as_in_a_plain_directory(steps):
    agrees(steps)


ESCAPE = st.one_of(
    st.sampled_from(
        ["..", ".", "", "/", "//", "/etc", "../..", "a/../..", "\0", "a\0", "\n", "\x1b", "\x85", "~/", "link"]
    ),
    st.text(alphabet="./a\0\n\x7f文", max_size=6),
)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(ESCAPE, min_size=1, max_size=4),
    st.sampled_from(["../secret", "/etc/passwd", "..", "a/../../secret", "link/.."]),
)
def test_no_name_and_no_link_leads_out(names, target):
    folder = Path(tempfile.mkdtemp())
    try:
        top = folder / "top"
        (top / "a").mkdir(parents=True)
        (folder / "secret").write_bytes(b"secret")
        os.symlink(target, top / "link")
        inside = {os.stat(path).st_ino for path in (top, top / "a")}
        source = DirectorySource("top", str(top))
        try:
            for attr in source.walk(source.root, names):
                assert attr.id & (1 << 48) - 1 in inside
        except (FsError, OSError):
            pass
        for name in names:
            for act in (source.mkdir, source.rmdir, source.unlink):
                try:
                    act(source.root, name)
                except (FsError, OSError):
                    continue
        assert (folder / "secret").read_bytes() == b"secret"
        assert sorted(path.name for path in folder.iterdir()) == ["secret", "top"]
    finally:
        shutil.rmtree(folder)
