"""The verbs of one binding over one tree: what every interface calls, and where blocking and cancelling are decided.

A light node is answered without a wait; any other is asked in a thread. Cancelling the coroutine cancels a wait and
never a change: what was begun in a thread runs to its end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from typing import Final, TypeVar

from worldfs.access.decision import READ_ONLY
from worldfs.base.errors import BadInput, Conflict, NotFound, Unsafe, UserError
from worldfs.base.messages import coded
from worldfs.storage.store_interface import ANY, Expected
from worldfs.tree.verb_values import Stat, Wait, Written

from .bound_tree import BoundNode, BoundTree
from .fids import Fid, FidTable, Interrupted, OwnContent
from .past_time import NO_PAST
from .repeated_read import RepeatedRead, Send, can_repeat
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
        self, tree: BoundTree, waiters: Waiters, threads: Executor, *, own: Mapping[str, OwnContent] | None = None
    ) -> None:
        self._tree, self._waiters, self._threads = tree, waiters, threads
        self._own = own or {}
        self._fids = FidTable()

    def __len__(self) -> int:
        """Fids in use."""
        return len(self._fids)

    # -- finding ---------------------------------------------------------------------------------------------------

    async def attach(self, fid: int) -> BoundNode:
        """The root under a new fid (one in use is dropped)."""
        return await self._enter(fid, "/")

    async def walk(self, fid: int | None, newfid: int, names: Sequence[str]) -> BoundNode:
        """From a fid along names to a new fid, all or nothing; `.` and `..` work, and `..` of the root is the root.

        Without names: the same node under another fid.
        """
        start = self._fids[fid]
        if not names:
            self._fids.put(newfid, Fid(start.node, start.own))
            return start.node
        parts = start.node.path.strip("/").split("/") if start.node.path != "/" else []
        sure = True  # the path so far exists
        for name in names:
            if name == ".":
                continue
            if name == "..":
                if not sure:
                    await self._bind("/" + "/".join(parts))
                    sure = True
                del parts[-1:]
            elif not name or "/" in name or "\0" in name:
                raise NotFound(coded("tree.no_segment"), code="enoent")
            else:
                parts.append(name)
                sure = False
        return await self._enter(newfid, "/" + "/".join(parts))

    async def stat(self, fid: int | None) -> Stat:
        """Waits for nothing but the tree. The size is the true one, or that of the staged bytes."""
        held = self._fids[fid]
        node = held.node
        found = node.stat() if node.light else await self._thread(node.stat)
        if held.staging is not None:
            return _sized(found, len(held.staging.data))
        return found if held.own is None else _sized(found, len(held.own()))

    async def refusal(self, fid: int | None) -> UserError | None:
        """Why it may not be written; None: it may."""
        node = self._fids[fid].node
        try:
            await self._ask(node, lambda: node.require_writable("write"))
        except UserError as error:
            return error
        return None

    async def list(self, fid: int | None) -> Sequence[str]:
        """The names in a directory, sorted by bytes."""
        node = self._directory(fid)
        return await self._ask(node, node.list)

    async def entries(self, fid: int | None) -> Sequence[Stat]:
        """The stats of what is in a directory, in the order of the names; what is removed meanwhile is left out."""
        found = await self._thread(self._directory(fid).entries)
        return [stat if (own := self._own.get(stat.path)) is None else _sized(stat, len(own())) for stat in found]

    # -- reading ---------------------------------------------------------------------------------------------------

    async def open(
        self, fid: int | None, mode: str = "r", *, stage: bool = False, truncate: bool = False, control: bool = False
    ) -> BoundNode:
        """Check that `mode` ("r", or anything with a "w") is possible; the next read returns the present bytes.

        `stage`: writes are joined until `flush` or `clunk`; `control`: what is written is an order. `truncate`: with
        the first write, or at the clunk if there is none, nothing of the old content is left.
        """
        held = self._fids[fid]
        node = held.node
        if "w" in mode:
            if node.directory:
                raise BadInput(coded("tree.directory_open"), code="eisdir")
            if not await self._ask(node, node.writable):
                raise READ_ONLY.error()
        self._fids.keep(held, None)
        held.cut = truncate and "w" in mode and not stage and not node.promised
        if stage and "w" in mode:
            held.staging = Staging(
                b"" if truncate or control or node.promised else (await self._ask(node, node.read)).data,
                control=control,
            )
            held.staging.changed = truncate and not control
        return node

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
        else:
            node = held.node
            if not node.directory:
                last = held.kept or b""
                wait = node.wait(last) if not offset and wait_ms != 0 else None
                if wait is not None and not wait.ready():
                    await self._wait(held, wait, None if wait_ms is None else wait_ms / 1000, aside)
                content = node.read(last) if node.light else await self._thread(lambda: node.read(last))
                data = content.data if held.own is None else held.own()
            elif lines is not None:
                data = b"\n".join([lines(stat) for stat in await self.entries(fid)])
            else:
                data = "\n".join(await self.list(fid)).encode("utf-8", "surrogateescape")
            self._fids.keep(held, data)
        end = offset + count
        return data[offset:end], end >= len(data)

    def repeats(self, fid: int | None) -> bool:
        """Whether it is a file whose next read waits, so that `read_on` may follow."""
        return can_repeat(self._fids[fid])

    async def read_on(
        self, fid: int | None, replies: int, timeout: float | None, aside: AsideCallback, send: Send
    ) -> bytes:
        """So many more reads, each once there is something new; `timeout` is for all. `send` gets each but the last."""
        aside()
        return await RepeatedRead(self._fids[fid], self._fids, replies, send).run(self._waiters, timeout)

    async def wait(self, fid: int | None, wait: Wait, timeout: float | None = None) -> bool:
        """Any wait of an interface (poll of a mount): True when ready, False when the time is over."""
        return await self._wait(self._fids[fid], wait, timeout, None)

    # -- writing ---------------------------------------------------------------------------------------------------

    async def write(
        self,
        fid: int | None,
        offset: int,
        data: bytes,
        correlation: str = "",
        aside: AsideCallback | None = None,
        *,
        expect: Expected = ANY,
    ) -> Written:
        """Durable when it returns, unless the fid was opened to stage. A Control acts on exactly these bytes.

        `offset` -1 (staged only): at the end. `expect`: the revision that must be stored (`Conflict`); it is compared
        with whole contents only, so not with what is staged or written beyond the beginning.
        """
        held = self._fids[fid]
        if expect is not ANY and (offset or held.staging is not None):
            raise BadInput(coded("tree.compares_whole"), path=held.node.path, op="write", code="invalid")
        if held.node.directory:
            raise BadInput(coded("tree.write_fid"), code="eisdir")
        if offset + len(data) > MOST:
            raise BadInput(coded("tree.bad_offset"), expected=coded("common.at_most_bytes", n=MOST), code="invalid")
        if held.staging is not None:
            held.staging.write(offset, data)
            held.staging.correlation = correlation
            if held.staging.complete():
                return await self._deliver(held, held.staging, aside, n=len(data))
            return Written(len(data))
        self._fids.keep(held, None)
        return await self._put(held, data, offset, correlation, aside, expect=expect)

    async def truncate(self, fid: int | None, size: int) -> None:
        """Cut a file, or fill it with zeros; what is staged, where something is. A Control ignores it."""
        held = self._fids[fid]
        path = held.node.path
        if not 0 <= size <= MOST:
            raise BadInput(
                coded("tree.bad_size"), expected=coded("tree.up_to_bytes", n=MOST), path=path, code="invalid"
            )
        if held.staging is not None:
            held.staging.truncate(size)
            return
        if held.node.directory:
            raise BadInput(coded("tree.is_directory"), path=path, code="eisdir")
        await self._cut(held, size)

    async def touch(self, fid: int | None, mtime_ms: int | None) -> bool:
        """Set the time of last change (None: only ask whether it may be set); False: taken, and not kept there.

        What is staged gets it with the commit.
        """
        held = self._fids[fid]
        node = held.node
        if mtime_ms is not None and not 0 <= mtime_ms <= LATEST_MS:
            raise BadInput(
                coded("tree.bad_mtime"), expected=coded("tree.up_to", n=LATEST_MS), path=node.path, code="invalid"
            )
        if node.directory:
            raise BadInput(coded("tree.is_directory"), path=node.path, code="eisdir")
        if node.promised:
            return False
        kept = await self._thread(lambda: node.touch(mtime_ms))
        if kept and held.staging is not None:
            held.staging.mtime_ms = mtime_ms
        return kept

    async def flush(self, fid: int | None) -> None:
        """Commit what is staged since the last commit: one change. Nothing staged: nothing happens."""
        held = self._fids[fid]
        if held.staging is not None and held.staging.changed and not held.staging.delivered:
            await self._deliver(held, held.staging, None)

    async def create(self, fid: int | None, newfid: int, name: str, *, directory: bool = False) -> BoundNode:
        """A new file or directory under a new fid. Some files (a message) exist only with their first write."""
        node = self._fids[fid].node
        _check_name(name)
        made = await self._thread(lambda: node.create(name, directory=directory))
        self._fids.put(newfid, Fid(made))
        return made

    async def rename(self, fid: int | None, name: str, target: int | None, new: str) -> None:
        """From `name` in one directory to `new` in another; what is there is replaced."""
        old, to = self._fids[fid].node, self._fids[target].node
        _check_name(name)
        _check_name(new)
        await self._thread(lambda: old.rename(name, to, new))

    async def remove(self, fid: int | None, name: str) -> None:
        node = self._fids[fid].node
        _check_name(name)
        await self._thread(lambda: node.remove(name))

    # -- ending ----------------------------------------------------------------------------------------------------

    async def clunk(self, fid: int | None) -> None:
        """Drop a fid, unknown ones too: its waits end with `eintr`, staged bytes are committed."""
        if fid is None:
            raise BadInput(coded("tree.no_fid"), code="invalid")
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

    async def _enter(self, fid: int, path: str) -> BoundNode:
        node = await self._bind(path)
        self._fids.put(fid, Fid(node, self._own.get(path)))
        return node

    async def _bind(self, path: str) -> BoundNode:
        """The node of a path; an invalid path is `NotFound`, but one into the past says why."""
        try:
            if self._tree.light(path):
                return self._tree.walk(path)
            return await self._thread(lambda: self._tree.walk(path))
        except (NotFound, Unsafe, BadInput) as error:
            if error.code == NO_PAST:
                raise
            raise NotFound(coded("tree.no_segment"), code="enoent") from None

    def _directory(self, fid: int | None) -> BoundNode:
        node = self._fids[fid].node
        if not node.directory:
            raise BadInput(coded("tree.no_directory"), path=node.path, code="enotdir")
        return node

    async def _ask(self, node: BoundNode, question: Callable[[], T]) -> T:
        return question() if node.light else await self._thread(question)

    async def _thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def _wait(self, held: Fid, wait: Wait, timeout: float | None, aside: AsideCallback | None) -> bool:
        if aside is not None:
            aside()
        if held.waits is None:
            held.waits = set()
        return await self._waiters.wait(wait, timeout, held.waits)

    async def _put(
        self,
        held: Fid,
        data: bytes,
        offset: int,
        correlation: str,
        aside: AsideCallback | None,
        *,
        expect: Expected = ANY,
    ) -> Written:
        node = held.node
        if held.cut and offset:
            await self._cut(held, 0)
        whole, held.cut = held.cut, False  # also if it fails: the content stays as it was, and the clunk cuts nothing

        def work() -> Written:
            if not node.writable():
                raise READ_ONLY.error()
            if expect is not ANY:
                if not node.stat().revision:
                    raise Conflict(coded("tree.no_revision"), path=node.path, op="write")
                return node.write(data, offset=offset, correlation=correlation, expect=expect)
            if whole:
                return node.replace(data, correlation=correlation)
            return node.write(data, offset=offset, correlation=correlation)

        written = await self._thread(work)
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
        node, moment = held.node, staging.mtime_ms
        await self._thread(lambda: node.replace(data))
        if moment is not None:
            staging.mtime_ms = None
            await self._thread(lambda: node.touch(moment))
        return Written(n)

    async def _cut(self, held: Fid, size: int) -> None:
        node = held.node
        held.cut = False
        self._fids.keep(held, None)
        await self._thread(lambda: node.truncate(size))


def _check_name(name: str) -> None:
    if not name or name in (".", "..") or "/" in name or "\0" in name:
        raise BadInput(coded("tree.bad_name"), path=name, code="invalid")


def _sized(stat: Stat, size: int) -> Stat:
    return stat._replace(size=size, revision=f"{stat.revision}+{size}")
