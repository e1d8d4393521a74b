"""The verbs of one binding over one tree: what every interface calls, and where blocking and cancelling are decided.

A light path is answered without a wait; any other is read in a thread. Cancelling the coroutine cancels a wait and
never a change: what was begun in a thread runs to its end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from typing import Final, TypeVar

from worldfs.base.errors import BadInput, NotFound, NotPermitted, Unsafe
from worldfs.tree.verb_values import Content, Stat, Wait, Written

from .bound_tree import BoundTree, DetailedTree, EditableTree, Timed
from .fids import Fid, FidTable, Interrupted
from .read_cache import ReadCache
from .staging import MOST, Staging
from .waiters import Waiters

T = TypeVar("T")
LATEST_MS: Final = 253_402_300_799_999  # the end of the year 9999
AsideCallback = Callable[[], None]


class Verbs:
    """`own`: files whose bytes belong to this connection alone, where the tree says that there is such a file.

    `aside` of a verb is called once before a wait that may be long: from then on other requests must not wait for it.
    """

    def __init__(
        self,
        known: ReadCache,
        waiters: Waiters,
        threads: Executor,
        *,
        own: Mapping[str, Callable[[], bytes]] | None = None,
        tree: BoundTree | None = None,
    ) -> None:
        """`tree`: this peer's own tree, where it differs from the one in the shared cache."""
        self._known, self._waiters, self._threads = known, waiters, threads
        self._tree = known.tree if tree is None else tree
        self._own = own or {}
        self._fids = FidTable()

    def __len__(self) -> int:
        """Fids in use."""
        return len(self._fids)

    # -- finding ---------------------------------------------------------------------------------------------------

    async def attach(self, fid: int) -> Stat:
        """The root under a new fid (one in use is dropped)."""
        return await self._enter(fid, "/")

    async def walk(self, fid: int | None, newfid: int, names: Sequence[str]) -> Stat:
        """From a fid along names to a new fid, all or nothing; `.` and `..` work, and `..` of the root is the root."""
        start = self._fids[fid]
        if not names:
            made = Fid(start.path, start.directory, start.id)
            found = await self._stat(start.path)
            self._fids.put(newfid, made)
            return found
        parts = start.path.strip("/").split("/") if start.path != "/" else []
        sure = True  # the path so far exists
        for name in names:
            if name == ".":
                continue
            if name == "..":
                if not sure:
                    await self._seen("/" + "/".join(parts))
                    sure = True
                del parts[-1:]
            elif not name or "/" in name or "\0" in name:
                raise NotFound("walk segment not found", code="enoent")
            else:
                parts.append(name)
                sure = False
        return await self._enter(newfid, "/" + "/".join(parts))

    async def stat(self, fid: int | None) -> Stat:
        """Waits for nothing but the tree. The size is the true one, or that of the staged bytes."""
        held = self._fids[fid]
        found = held.made or await self._stat(held.path)
        if held.staging is not None:
            return _sized(found, len(held.staging.data))
        return found

    async def list(self, fid: int | None) -> Sequence[str]:
        """The names in a directory, sorted by bytes."""
        held = self._fids[fid]
        if not held.directory:
            raise BadInput("not a directory", path=held.path, code="enotdir")
        return await self._ask(held.path, self._tree.list)

    async def entries(self, fid: int | None) -> Sequence[Stat]:
        """The stats of what is in a directory, in the order of the names; what is removed meanwhile is left out."""
        names = await self.list(fid)
        path, tree = self._fids[fid].path, self._tree
        if isinstance(tree, DetailedTree):
            found = await self._thread(lambda: tree.entries(path))
        else:
            found = []
            for name in names:
                with suppress(NotFound, NotPermitted):
                    found.append(await self._stat(f"{path.rstrip('/')}/{name}"))
        return [stat if (own := self._own.get(stat.path)) is None else _sized(stat, len(own())) for stat in found]

    # -- reading ---------------------------------------------------------------------------------------------------

    async def open(
        self, fid: int | None, mode: str = "r", *, stage: bool = False, truncate: bool = False, control: bool = False
    ) -> Stat:
        """Check that `mode` ("r", or anything with a "w") is possible; the next read returns the present bytes.

        `stage`: writes are joined until `flush` or `clunk`; `control`: what is written is an order. `truncate`: with
        the first write, or at the clunk if there is none, nothing of the old content is left.
        """
        held = self._fids[fid]
        found = held.made or await self._stat(held.path)
        if "w" in mode:
            if found.directory:
                raise BadInput("directories are read-only opens", code="eisdir")
            if not found.writable:
                raise NotPermitted("file is read-only", code="eperm")
        self._fids.keep(held, None)
        held.cut = truncate and "w" in mode and not stage and held.made is None
        if stage and "w" in mode:
            before = b"" if truncate or control or held.made else (await self._content(held.path)).data
            held.staging = Staging(before, control=control)
            held.staging.changed = truncate and not control
        return found

    async def read(
        self,
        fid: int | None,
        offset: int,
        count: int,
        wait_ms: int | None = None,
        aside: AsideCallback | None = None,
        *,
        lines: Callable[[Stat], bytes] | None = None,
    ) -> tuple[bytes, bool]:
        """At most `count` bytes from `offset`, and whether that is the end. A directory reads as its names, one a line,
        or as what `lines` makes of each entry.

        At offset 0 a blocking file is waited for (`wait_ms` instead of its own time; 0: not at all) and rendered
        again; the following offsets are cut from the same bytes.
        """
        held = self._fids[fid]
        if held.staging is not None:
            data = bytes(held.staging.data)
        elif offset and held.kept is not None:
            data = held.kept
        elif held.directory:
            if lines is not None:
                data = b"\n".join([lines(stat) for stat in await self.entries(fid)])
            else:
                names = await self._ask(held.path, self._tree.list)
                data = "\n".join(names).encode("utf-8", "surrogateescape")
            self._fids.keep(held, data)
        else:
            data = await self._fresh(held, wait_ms if not offset else 0, aside)
            self._fids.keep(held, data)
        end = offset + count
        return data[offset:end], end >= len(data)

    async def _fresh(self, held: Fid, wait_ms: int | None, aside: AsideCallback | None) -> bytes:
        """The present bytes of a file, after its wait if its row is blocking."""
        path = held.path
        known = None if path in self._own else self._known.content(path)
        if known is not None:
            return known.data
        wait = self._tree.waits(path)
        if wait is not None and wait_ms != 0 and not wait.ready():
            await self._wait(held, wait, None if wait_ms is None else wait_ms / 1000, aside)
            known = None if path in self._own else self._known.content(path)
            if known is not None:  # another waiter of the same file was faster
                return known.data
        asked = self._known.now
        content = await self._content(path)
        if path not in self._own and self._tree.light(path) and self._tree.waits(path) is None:
            self._known.learn_content(path, content, asked)
        return content.data

    async def wait(self, fid: int | None, wait: Wait, timeout: float | None = None) -> bool:
        """Any wait of an interface (poll of a mount): True when ready, False when the time is over."""
        return await self._wait(self._fids[fid], wait, timeout, None)

    # -- writing ---------------------------------------------------------------------------------------------------

    async def write(
        self, fid: int | None, offset: int, data: bytes, correlation: str = "", aside: AsideCallback | None = None
    ) -> Written:
        """Durable when it returns, unless the fid was opened to stage. A Control acts on exactly these bytes.

        `offset` -1 (staged only): at the end.
        """
        held = self._fids[fid]
        if held.directory:
            raise BadInput("write requires file fid", code="eisdir")
        if offset + len(data) > MOST:
            raise BadInput("write offset is out of range", expected=f"at most {MOST} bytes", code="invalid")
        if held.staging is not None:
            held.staging.write(offset, data)
            held.staging.correlation = correlation
            if held.staging.complete():
                return await self._deliver(held, held.staging, aside, n=len(data))
            return Written(len(data))
        if held.made is None and not (await self._stat(held.path)).writable:
            raise NotPermitted("file is read-only", code="eperm")
        self._fids.keep(held, None)
        return await self._put(held, data, offset, correlation, aside)

    async def truncate(self, fid: int | None, size: int) -> None:
        """Cut a file, or fill it with zeros; what is staged, where something is. A Control ignores it."""
        held = self._fids[fid]
        if not 0 <= size <= MOST:
            raise BadInput("size is out of range", expected=f"0 to {MOST} bytes", path=held.path, code="invalid")
        if held.staging is not None:
            held.staging.truncate(size)
            return
        if held.directory:
            raise BadInput("it is a directory", path=held.path, code="eisdir")
        await self._cut(held, size)

    async def touch(self, fid: int | None, mtime_ms: int | None) -> bool:
        """Set the time of last change (None: only ask whether it may be set); False: taken, and not kept there.

        What is staged gets it with the commit.
        """
        held, tree = self._fids[fid], self._tree
        if mtime_ms is not None and not 0 <= mtime_ms <= LATEST_MS:
            raise BadInput("mtime_ms is out of range", expected=f"0 to {LATEST_MS}", path=held.path, code="invalid")
        if held.directory:
            raise BadInput("it is a directory", path=held.path, code="eisdir")
        if not isinstance(tree, Timed):
            raise NotPermitted("times are not set here", path=held.path, code="eperm")
        path = held.path
        if held.made is not None:
            return False
        kept = await self._thread(lambda: tree.touch(path, mtime_ms))
        self._known.invalidate()
        if kept and held.staging is not None:
            held.staging.mtime_ms = mtime_ms
        return kept

    async def flush(self, fid: int | None) -> None:
        """Commit what is staged since the last commit: one change. Nothing staged: nothing happens."""
        held = self._fids[fid]
        if held.staging is not None and held.staging.changed and not held.staging.delivered:
            await self._deliver(held, held.staging, None)

    async def create(self, fid: int | None, newfid: int, name: str, *, directory: bool = False) -> Stat:
        """A new file or directory under a new fid. Some files (a message) exist only with their first write."""
        held = self._fids[fid]
        tree = self._shaped(held.path)
        path = _child(held.path, name)
        promised = None if directory else await self._thread(lambda: tree.promise(path))
        made = await self._thread(lambda: tree.create(path, directory=directory)) if promised is None else promised
        self._known.invalidate()
        entered = Fid(path, made.directory, made.id)
        entered.made = promised
        self._fids.put(newfid, entered)
        return made

    async def rename(self, fid: int | None, name: str, target: int | None, new: str) -> None:
        """From `name` in one directory to `new` in another; what is there is replaced."""
        old, to = _child(self._fids[fid].path, name), _child(self._fids[target].path, new)
        tree = self._shaped(old)
        await self._thread(lambda: tree.rename(old, to))
        self._known.invalidate()

    async def remove(self, fid: int | None, name: str) -> None:
        path = _child(self._fids[fid].path, name)
        tree = self._shaped(path)
        await self._thread(lambda: tree.remove(path))
        self._known.invalidate()

    # -- ending ----------------------------------------------------------------------------------------------------

    async def clunk(self, fid: int | None) -> None:
        """Drop a fid, unknown ones too: its waits end with `eintr`, staged bytes are committed."""
        if fid is None:
            raise BadInput("fid is required", code="invalid")
        gone = self._fids.drop(fid)
        if gone is not None and gone.staging is not None and gone.staging.changed and not gone.staging.delivered:
            await self._deliver(gone, gone.staging, None)
        elif gone is not None and gone.cut:
            await self._cut(gone, 0)

    def close(self) -> None:
        """Drop all fids; staged bytes that were never flushed are dropped too, as for a vanished writer."""
        for _ in self._fids.clear():
            pass

    # -- asking the tree -------------------------------------------------------------------------------------------

    async def _enter(self, fid: int, path: str) -> Stat:
        found = await self._seen(path)
        self._fids.put(fid, Fid(path, found.directory, found.id))
        return found

    async def _seen(self, path: str) -> Stat:
        """The stat of a path; an invalid path is `NotFound`."""
        try:
            return await self._stat(path)
        except (NotFound, Unsafe, BadInput):
            raise NotFound("walk segment not found", code="enoent") from None

    async def _stat(self, path: str) -> Stat:
        found = self._known.stat(path)
        if found is None:
            asked = self._known.now
            if self._tree.light(path):
                found = self._tree.stat(path)
                self._known.learn(path, found, asked)
            else:
                found = await self._thread(lambda: self._tree.stat(path))
                if found.directory:  # a directory has no content, and every walk asks for its stat
                    self._known.learn(path, found, asked)
        own = self._own.get(path)
        return found if own is None else _sized(found, len(own()))

    async def _content(self, path: str) -> Content:
        own = self._own.get(path)
        if own is not None:
            await self._stat(path)  # raises where the binding has no such file
            return Content(own(), "")
        return await self._ask(path, self._tree.read)

    async def _ask(self, path: str, question: Callable[[str], T]) -> T:
        if self._tree.light(path):
            return question(path)
        return await self._thread(lambda: question(path))

    async def _thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def _wait(self, held: Fid, wait: Wait, timeout: float | None, aside: AsideCallback | None) -> bool:
        if aside is not None:
            aside()
        if held.waits is None:
            held.waits = set()
        return await self._waiters.wait(wait, timeout, held.waits)

    async def _put(self, held: Fid, data: bytes, offset: int, correlation: str, aside: AsideCallback | None) -> Written:
        path, tree = held.path, self._tree
        if held.cut and offset:
            await self._cut(held, 0)
        if held.cut and isinstance(tree, EditableTree):
            whole = tree.replace
            held.cut = False  # also if it fails: the content stays as it was, and the clunk cuts nothing
            written = await self._thread(lambda: whole(path, data, correlation=correlation))
        else:
            written = await self._thread(lambda: tree.write(path, data, offset=offset, correlation=correlation))
        self._known.invalidate()
        held.made = None
        if written.until is not None and not written.until.ready():
            # The change has happened: the peer that flushed the tag gets its result, not an interruption.
            with suppress(asyncio.CancelledError, Interrupted):
                await self._wait(held, written.until, None, aside)
        return written

    async def _deliver(self, held: Fid, staging: Staging, aside: AsideCallback | None, n: int = 0) -> Written:
        """Commit what is staged: an order to a Control, a whole content to anything else."""
        data = bytes(staging.data)
        staging.changed, staging.delivered = False, staging.control
        if staging.control:
            done = await self._put(held, data, 0, staging.correlation, aside)
            return Written(n or done.n, done.extra)
        tree, path = self._tree, held.path
        if isinstance(tree, EditableTree):
            await self._thread(lambda: tree.replace(path, data))
            self._known.invalidate()
            held.made = None
        else:
            await self._put(held, data, 0, staging.correlation, aside)
        if isinstance(tree, Timed) and (moment := staging.mtime_ms) is not None:
            staging.mtime_ms = None
            await self._thread(lambda: tree.touch(path, moment))
            self._known.invalidate()
        return Written(n)

    async def _cut(self, held: Fid, size: int) -> None:
        path, tree = held.path, self._shaped(held.path)
        held.cut = False
        self._fids.keep(held, None)
        await self._thread(lambda: tree.truncate(path, size))
        self._known.invalidate()

    def _shaped(self, path: str) -> EditableTree:
        if not isinstance(self._tree, EditableTree):
            raise NotPermitted("you cannot create or delete files here", path=path, code="eperm")
        return self._tree


def _child(path: str, name: str) -> str:
    if not name or name in (".", "..") or "/" in name or "\0" in name:
        raise BadInput("not a valid file name", path=name, code="invalid")
    return f"{path.rstrip('/')}/{name}"


def _sized(stat: Stat, size: int) -> Stat:
    return stat._replace(size=size, revision=f"{stat.revision}+{size}")
