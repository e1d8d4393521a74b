"""The fids of one 9P connection, and what each request does to them.

Every operation is a verb of the tree (`namespace.verbs`); what is decided here is only how 9P says it.
"""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Final, Protocol

from worldfs.base.errors import Exists, NotFound, UserError
from worldfs.namespace.bound_tree import BoundNode
from worldfs.namespace.path_id import path_id
from worldfs.namespace.verbs import AsideCallback, Verbs
from worldfs.tree.row_table import FileKind
from worldfs.tree.verb_values import Stat

from .ninep_frames import NO_FID, NinePRequest, data_field, numbers, qid, text_field

MOST_FIDS: Final = 16_000  # of one connection
MOST_LISTINGS: Final = 64  # directories being read at once; an older one is listed again
MOST_ATTACHES: Final = 32
REPLY_HEAD: Final = 11  # bytes of a read's reply before its data
NAME_MAX: Final = 255
_SCRATCH: Final = -1  # a fid of the verbs that no peer can name
_V9FS_MAGIC: Final = 0x0102_1997
_BLOCK: Final = 4_096
_REMOVE_DIRECTORY: Final = 0x200  # AT_REMOVEDIR
# flags of lopen, as on Linux whatever this machine is
_ACCESS, _WRONLY, _EXCL, _TRUNC, _APPEND, _DIRECTORY = 0o3, 0o1, 0o200, 0o1000, 0o2000, 0o200000
_SET_SIZE, _SET_MTIME, _MTIME_GIVEN = 0x8, 0x20, 0x100  # bits of setattr
_GETATTR_BASIC: Final = 0x7FF


class Attacher(Protocol):
    """Whose tree an attach gives. Raises `UserError`, and `NinePRefused`."""

    def auth(self, request: NinePRequest) -> bytes:
        """The qid of an authentication file for the request's afid."""
        ...

    def write_auth(self, afid: int, data: bytes) -> bool:
        """Whether the fid is one of authentication, and takes the data."""
        ...

    def clunk_auth(self, afid: int) -> bool: ...
    def attach(self, request: NinePRequest) -> Verbs: ...


class NinePRefused(Exception):
    """An error that has a number and no more."""

    def __init__(self, number: int) -> None:
        super().__init__(os.strerror(number))
        self.number = number


@dataclass(slots=True, eq=False)
class NinePFid:
    """What a fid of the peer stands for; the verbs know it under the same number."""

    verbs: Verbs
    node: BoundNode
    uid: int
    access: int | None = None  # the access mode that it is open with
    append: bool = False
    staged: bool = False
    listing: list[Stat] = field(default_factory=list)


class NinePSession:
    """From one version request to the next. `answer` gives the body of the reply."""

    def __init__(self, attacher: Attacher, msize: int) -> None:
        self._attacher, self.msize = attacher, msize
        self._fids: dict[int, NinePFid] = {}
        self._verbs: list[Verbs] = []
        self._listings: dict[NinePFid, None] = {}

    def __len__(self) -> int:
        return len(self._fids)

    def answer(self, request: NinePRequest, aside: AsideCallback) -> Coroutine[object, object, bytes]:
        """`aside` is called once before a wait that may be long."""
        return _OPERATIONS[request.name](self, request, aside)

    def close(self) -> None:
        for verbs in self._verbs:
            verbs.close()
        self._fids.clear()
        self._listings.clear()

    # -- fids ------------------------------------------------------------------------------------------------------

    def _held(self, number: int) -> NinePFid:
        held = self._fids.get(number)
        if held is None:
            raise NinePRefused(errno.EBADF)
        return held

    def _free(self, number: int) -> None:
        if number in self._fids or number == NO_FID:
            raise NinePRefused(errno.EINVAL)
        if len(self._fids) >= MOST_FIDS:
            raise NinePRefused(errno.EMFILE)

    async def auth(self, request: NinePRequest, aside: AsideCallback) -> bytes:
        self._free(request.number("afid"))
        return self._attacher.auth(request)

    async def attach(self, request: NinePRequest, aside: AsideCallback) -> bytes:
        fid = request.number("fid")
        self._free(fid)
        if len(self._verbs) >= MOST_ATTACHES:
            raise NinePRefused(errno.EUSERS)
        verbs = self._attacher.attach(request)
        node = await verbs.attach(fid)
        self._verbs.append(verbs)
        uid = request.number("uid", NO_FID)
        self._fids[fid] = NinePFid(verbs, node, os.getuid() if uid == NO_FID else uid)
        return qid(True, 0, node.id)

    async def walk(self, request: NinePRequest, aside: AsideCallback) -> bytes:
        fid, newfid, names = request.number("fid"), request.number("newfid"), request.names()
        held = self._held(fid)
        if newfid != fid:
            self._free(newfid)
        elif held.access is not None:  # from an open directory to another fid: diod's clients do
            raise NinePRefused(errno.EINVAL)
        try:
            node = await held.verbs.walk(fid, newfid, names)
        except NotFound:
            return await self._walk_some(held, fid, names)
        self._fids[newfid] = NinePFid(held.verbs, node, held.uid)
        return await _walked(held.verbs, newfid, held.node.path, names, node)

    async def _walk_some(self, held: NinePFid, fid: int, names: tuple[str, ...]) -> bytes:
        """The qids of as many names as there are; no fid is made. Raises `NotFound` if the first is missing."""
        for count in range(len(names) - 1, 0, -1):
            try:
                node = await held.verbs.walk(fid, _SCRATCH, names[:count])
            except NotFound:
                continue
            try:
                return await _walked(held.verbs, _SCRATCH, held.node.path, names[:count], node)
            finally:
                await held.verbs.clunk(_SCRATCH)
        raise NinePRefused(errno.ENOENT if held.node.directory else errno.ENOTDIR)

    async def clunk(self, request: NinePRequest, aside: AsideCallback) -> bytes:
        fid = request.number("fid")
        if not self._attacher.clunk_auth(fid):
            held = self._held(fid)
            del self._fids[fid]  # whatever comes of it: the number is free
            self._listings.pop(held, None)
            await held.verbs.clunk(fid)
        return b""

    # -- files -----------------------------------------------------------------------------------------------------

    async def lopen(self, request: NinePRequest, aside: AsideCallback) -> bytes:
        fid = request.number("fid")
        return await self._open(self._held(fid), fid, request.number("flags"))

    async def _open(self, held: NinePFid, fid: int, flags: int, *, made: bool = False) -> bytes:
        node, access = held.node, flags & _ACCESS
        if held.access is not None or access == _ACCESS:
            raise NinePRefused(errno.EINVAL)
        if node.directory and access:
            raise NinePRefused(errno.EISDIR)
        if flags & _DIRECTORY and not node.directory:
            raise NinePRefused(errno.ENOTDIR)
        version = 0
        if not node.directory:
            found = await held.verbs.stat(fid)
            version = _version(found)
            held.append = bool(flags & _APPEND)
            # A log takes each write as one entry; of everything else a commit is one change.
            held.staged = access != 0 and found.kind is not FileKind.LOG
            if access and found.kind is FileKind.LOG and not held.append:
                raise NinePRefused(errno.EPERM)
            await held.verbs.open(
                fid,
                "w" if access else "r",
                stage=held.staged,
                truncate=made or (bool(flags & _TRUNC) and found.kind is not FileKind.LOG),
                control=found.kind is FileKind.CONTROL,
            )
        held.access = access
        return qid(node.directory, version, node.id) + numbers("4", 0)

    async def lcreate(self, request: NinePRequest, aside: AsideCallback) -> bytes:
        """Afterwards the fid of the directory is that of the file."""
        fid, name, flags = request.number("fid"), _name(request.text("name")), request.number("flags")
        held = self._held(fid)
        if held.access is not None:
            raise NinePRefused(errno.EINVAL)
        if not flags & _ACCESS:
            flags |= _WRONLY + 1  # O_RDWR: what is created can be written by who created it
        made = True
        try:
            node = await held.verbs.create(fid, fid, name)
        except Exists:
            if flags & _EXCL:
                raise
            node, made = await held.verbs.walk(fid, fid, [name]), False
        made_fid = self._fids[fid] = NinePFid(held.verbs, node, held.uid)
        return await self._open(made_fid, fid, flags, made=made)

    async def read(self, request: NinePRequest, aside: AsideCallback) -> bytes:
        fid = request.number("fid")
        held = self._held(fid)
        if held.access is None or held.access == _WRONLY:
            raise NinePRefused(errno.EBADF)
        if held.node.directory:
            raise NinePRefused(errno.EISDIR)
        count = min(request.number("count"), self.msize - REPLY_HEAD)
        data, _ = await held.verbs.read(fid, request.number("offset"), count, aside=aside)
        return data_field(data)

    async def write(self, request: NinePRequest, aside: AsideCallback) -> bytes:
        fid, data = request.number("fid"), request.data()
        if self._attacher.write_auth(fid, data):
            return numbers("4", len(data))
        held = self._held(fid)
        if not held.access:
            raise NinePRefused(errno.EBADF)
        offset = -1 if held.append and held.staged else request.number("offset")
        done = await held.verbs.write(fid, offset, data, aside=aside)
        return numbers("4", min(done.n, len(data)))

    async def fsync(self, request: NinePRequest, aside: AsideCallback) -> bytes:
        fid = request.number("fid")
        await self._held(fid).verbs.flush(fid)
        return b""

    async def getattr(self, request: NinePRequest, aside: AsideCallback) -> bytes:
        fid = request.number("fid")
        held = self._held(fid)
        found = await held.verbs.stat(fid)
        second, milli = divmod(found.mtime_ms, 1_000)
        moment = second, milli * 1_000_000
        return (
            numbers("8", _GETATTR_BASIC)
            + qid(found.directory, _version(found), held.node.id)
            + numbers("444", found.mode, held.uid, os.getgid())
            + numbers("88888", 2 if found.directory else 1, 0, found.size, _BLOCK, -(-found.size // 512))
            + numbers("8888888888", *moment, *moment, *moment, 0, 0, 0, _version(found))
        )

    async def setattr(self, request: NinePRequest, aside: AsideCallback) -> bytes:
        """Modes and owners are taken and not kept: rights come from the tree."""
        fid, valid = request.number("fid"), request.number("valid")
        held = self._held(fid)
        if valid & _SET_SIZE:
            await held.verbs.truncate(self._writer(held, fid), request.number("size"))
        if valid & ~_SET_SIZE and not held.node.directory:
            given = valid & _SET_MTIME and valid & _MTIME_GIVEN
            moment = request.number("mtime_s") * 1_000 + request.number("mtime_ns") // 1_000_000
            await held.verbs.touch(fid, moment if given else None)
        return b""

    def _writer(self, held: NinePFid, fid: int) -> int:
        """The fid whose staged bytes a cut is meant for. A kernel opens with O_TRUNC and then cuts by another fid:
        no reader may see the file empty in between."""
        if held.staged:
            return fid
        same = (n for n, other in self._fids.items() if other.staged and other.node.path == held.node.path)
        return next(same, fid)

    async def statfs(self, request: NinePRequest, aside: AsideCallback) -> bytes:
        self._held(request.number("fid"))
        return numbers("44", _V9FS_MAGIC, _BLOCK) + numbers("8888884", 0, 0, 0, len(self._fids), 0, 0, NAME_MAX)

    async def readlink(self, request: NinePRequest, aside: AsideCallback) -> bytes:
        self._held(request.number("fid"))
        raise NinePRefused(errno.EINVAL)  # links of the tree are followed on the server's side

    # -- directories -----------------------------------------------------------------------------------------------

    async def readdir(self, request: NinePRequest, aside: AsideCallback) -> bytes:
        fid, offset = request.number("fid"), request.number("offset")
        held = self._held(fid)
        if not held.node.directory:
            raise NinePRefused(errno.ENOTDIR)
        if held.access is None:
            raise NinePRefused(errno.EBADF)
        if not offset or not held.listing:
            held.listing = await _listed(held, fid)
            self._listings[held] = None
            if len(self._listings) > MOST_LISTINGS:
                oldest = next(iter(self._listings))
                del self._listings[oldest]
                oldest.listing = []
        room, parts = min(request.number("count"), self.msize - REPLY_HEAD), []
        for at, stat in enumerate(held.listing[offset:], offset + 1):
            entry = qid(stat.directory, _version(stat), stat.id) + numbers("81", at, 4 if stat.directory else 8)
            part = entry + text_field(stat.name)
            room -= len(part)
            if room < 0:
                break
            parts.append(part)
        if room < 0 and not parts:
            raise NinePRefused(errno.EINVAL)  # not even one entry fits
        return data_field(b"".join(parts))

    async def mkdir(self, request: NinePRequest, aside: AsideCallback) -> bytes:
        fid = request.number("fid")
        held = self._held(fid)
        node = await held.verbs.create(fid, _SCRATCH, _name(request.text("name")), directory=True)
        await held.verbs.clunk(_SCRATCH)
        return qid(True, 0, node.id)

    async def unlinkat(self, request: NinePRequest, aside: AsideCallback) -> bytes:
        fid, name = request.number("fid"), _name(request.text("name"))
        held = self._held(fid)
        await _check_type(held, fid, name, directory=bool(request.number("flags") & _REMOVE_DIRECTORY))
        await held.verbs.remove(fid, name)
        return b""

    async def remove(self, request: NinePRequest, aside: AsideCallback) -> bytes:
        """The fid is gone, whether or not the file is."""
        fid = request.number("fid")
        held = self._held(fid)
        name = held.node.path.rpartition("/")[2]
        await held.verbs.walk(fid, _SCRATCH, [".."])
        await self.clunk(request, aside)
        try:
            await held.verbs.remove(_SCRATCH, name)
        finally:
            await held.verbs.clunk(_SCRATCH)
        return b""

    async def renameat(self, request: NinePRequest, aside: AsideCallback) -> bytes:
        fid, newfid = request.number("fid"), request.number("newfid")
        held, target = self._held(fid), self._held(newfid)
        if held.verbs is not target.verbs:
            raise NinePRefused(errno.EXDEV)
        await held.verbs.rename(fid, _name(request.text("name")), newfid, _name(request.text("newname")))
        return b""

    async def rename(self, request: NinePRequest, aside: AsideCallback) -> bytes:
        fid, dfid = request.number("fid"), request.number("dfid")
        held, target = self._held(fid), self._held(dfid)
        if held.verbs is not target.verbs:
            raise NinePRefused(errno.EXDEV)
        name = held.node.path.rpartition("/")[2]
        await held.verbs.walk(fid, _SCRATCH, [".."])
        try:
            await held.verbs.rename(_SCRATCH, name, dfid, _name(request.text("name")))
        finally:
            await held.verbs.clunk(_SCRATCH)
        return b""

    async def refuse_link(self, request: NinePRequest, aside: AsideCallback) -> bytes:
        raise NinePRefused(errno.EPERM)

    async def unsupported(self, request: NinePRequest, aside: AsideCallback) -> bytes:
        raise NinePRefused(errno.EOPNOTSUPP)


_Operation = Callable[[NinePSession, NinePRequest, AsideCallback], Coroutine[object, object, bytes]]
_OPERATIONS: Final[dict[str, _Operation]] = {
    "auth": NinePSession.auth,
    "attach": NinePSession.attach,
    "walk": NinePSession.walk,
    "clunk": NinePSession.clunk,
    "lopen": NinePSession.lopen,
    "lcreate": NinePSession.lcreate,
    "read": NinePSession.read,
    "write": NinePSession.write,
    "fsync": NinePSession.fsync,
    "getattr": NinePSession.getattr,
    "setattr": NinePSession.setattr,
    "statfs": NinePSession.statfs,
    "readlink": NinePSession.readlink,
    "readdir": NinePSession.readdir,
    "mkdir": NinePSession.mkdir,
    "unlinkat": NinePSession.unlinkat,
    "remove": NinePSession.remove,
    "renameat": NinePSession.renameat,
    "rename": NinePSession.rename,
    **dict.fromkeys(("symlink", "mknod", "link"), NinePSession.refuse_link),
    **dict.fromkeys(("xattrwalk", "xattrcreate", "lock", "getlock"), NinePSession.unsupported),
}


def _name(name: str) -> str:
    if len(name.encode("utf-8", "surrogateescape")) > NAME_MAX:
        raise NinePRefused(errno.ENAMETOOLONG)
    return name


def _version(stat: Stat) -> int:
    """The qid's version of a revision; 0, which never matches a cache, for what has none."""
    return zlib.crc32(stat.revision.encode()) if stat.revision else 0


async def _walked(verbs: Verbs, fid: int, path: str, names: tuple[str, ...], node: BoundNode) -> bytes:
    """The qids of a walk along `names` that ended at `node`: all before it are directories."""
    parts = [part for part in path.split("/") if part]
    found = []
    for name in names[:-1]:
        if name == "..":
            del parts[-1:]
        elif name != ".":
            parts.append(name)
        found.append(qid(True, 0, path_id("/" + "/".join(parts))))
    if names:
        version = 0
        if not node.directory:
            try:
                version = _version(await verbs.stat(fid))
            except UserError:  # a file that exists with its first write
                version = 0
        found.append(qid(node.directory, version, node.id))
    return numbers("2", len(found)) + b"".join(found)


async def _listed(held: NinePFid, fid: int) -> list[Stat]:
    path = held.node.path
    above = path.rpartition("/")[0] or "/"
    dots = [Stat(True, id=held.node.id, name=".", path=path), Stat(True, id=path_id(above), name="..", path=above)]
    return [*dots, *await held.verbs.entries(fid)]


async def _check_type(held: NinePFid, fid: int, name: str, *, directory: bool) -> None:
    """A file is not removed as a directory, nor a directory as a file."""
    node = await held.verbs.walk(fid, _SCRATCH, [name])
    await held.verbs.clunk(_SCRATCH)
    if node.directory != directory:
        raise NinePRefused(errno.ENOTDIR if directory else errno.EISDIR)
