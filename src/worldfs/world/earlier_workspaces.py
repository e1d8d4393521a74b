"""The workspaces that kernels of a home have served: a robot that one of them left moving stays a robot of the home.

    <home>/.paos/workspaces/<hash of the path>.json    {"workspace": path}

A kernel that starts writes its own, takes over into its log of stops what the others say of robots that may still move,
and forgets each of the others that no kernel serves, or that is gone. One that cannot be read is kept, and named.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.base.clock import Clock
from worldfs.base.dir_reader import DirReader, path_error
from worldfs.base.durable import Root
from worldfs.base.errors import WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object, as_text
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message
from worldfs.runtime.job_store import OPEN, JobStore
from worldfs.runtime.stop_log import STOPS, MayMove, StopLog
from worldfs.storage.engine_record import shared_engine
from worldfs.storage.lease import KERNEL_LEASE, node_lease
from worldfs.storage.revision import PRIVATE_DIR
from worldfs.storage.store_interface import Store

from .left_robots import left_finding, left_robots
from .workspace_engine import open_engine

if TYPE_CHECKING:
    from worldfs.base.model import Finding

RECORDS: Final = f"{PRIVATE_DIR}/workspaces"
READ_S: Final = 1.0  # for a workspace to answer
UNREAD: Final = "WORKSPACE_UNREAD"


class EarlierRobots(NamedTuple):
    """What the earlier workspaces of a home say."""

    moving: Mapping[str, MayMove]  # the robots that may still move
    unread: tuple[Finding, ...]  # of each that cannot be read

    def findings(self) -> list[Finding]:
        """All of it, where no workspace says which driver there is for them now."""
        return [*(left_finding(id, one, served=False) for id, one in sorted(self.moving.items())), *self.unread]


class EarlierWorkspaces:
    """Of a home, beside the workspace that it has now. `home`: "" has none."""

    def __init__(self, home: str, root: Path, clock: Clock) -> None:
        self._home, self._root, self._clock = home, root, clock

    def look(self) -> EarlierRobots:
        moving: dict[str, MayMove] = {}
        unread: list[Finding] = []
        for path in self._others():
            try:
                moving |= self._read(path) or {}
            except WorldError as error:
                unread.append(unread_finding(path, error))
        return EarlierRobots(moving, tuple(unread))

    def begin(self, log: StopLog) -> list[Finding]:
        """A kernel serves the workspace, whose log that is, from now on. The findings of those that cannot be read."""
        if not self._home:
            return []
        with suppress(WorldError, OSError):  # it serves all the same
            path = os.path.abspath(self._root)
            with closing(Root(self._home)) as home:
                home.replace(_record(path), json.dumps({"workspace": path}).encode() + b"\n", private=True)
        failed = self.take_over(log)
        for path in self._others():
            with suppress(WorldError, OSError):
                if path not in failed and self._read(path) == {}:
                    with closing(Root(self._home)) as home:
                        home.remove(_record(path))
        return [unread_finding(path, error) for path, error in failed.items()]

    def take_over(self, log: StopLog, nodes: Collection[str] | None = None) -> dict[str, WorldError]:
        """Keep in `log` what the earlier workspaces say of these robots, or of all, and no longer there. By path: why a
        workspace still has them."""
        failed: dict[str, WorldError] = {}
        for path in self._others():
            try:
                for _ in range(2):  # an order may lie below what the log says
                    left = self._read(path) or {}
                    moves = {id: one for id, one in left.items() if nodes is None or id in nodes}
                    known = log.moving() if moves else {}
                    log.note_moves({id: one for id, one in moves.items() if id not in known})
                    if moves:
                        with closing(open_engine(Path(path))) as store:
                            StopLog(store, self._clock).end_moves(moves)
            except WorldError as error:
                failed[path] = error
        return failed

    def _others(self) -> Iterator[str]:
        """The paths of the others that were served, each directory once."""
        if not self._home:
            return
        try:
            home = DirReader(self._home)
            names = home.folder(RECORDS).names()
        except (WorldError, OSError):  # no kernel of the home has ever started
            return
        seen, shared = {os.path.realpath(self._root)}, shared_engine(self._root)
        for name in sorted(names):
            path, record = "", f"{RECORDS}/{name}"
            with suppress(WorldError, OSError, ValueError):
                path = as_text(as_object(parse_json(home.read(record) or b"")).get("workspace"))
            path = path or os.path.join(self._home, record)  # a damaged one is a workspace that cannot be read
            real = os.path.realpath(path)
            if real not in seen and not (shared and shared_engine(path) == shared):  # else it is the same store
                seen.add(real)
                yield path

    def _read(self, path: str) -> dict[str, MayMove] | None:
        """As `_left`; a disk or a server that does not answer holds up no stop."""
        from worldfs.sessions.bounded_call import PluginLate, bounded  # seldom is there another workspace

        try:
            return bounded(path, self._clock, lambda: self._left(path), self._clock.monotonic() + READ_S)
        except PluginLate:
            raise WorldError(coded("stop.store_silent", s=READ_S), path=path, op="read") from None

    def _left(self, path: str) -> dict[str, MayMove] | None:
        """The robots that its last kernel left moving; None: a kernel that serves it knows more. Raises `WorldError`
        where that cannot be read."""
        try:
            os.stat(os.path.join(path, PRIVATE_DIR))
            with closing(open_engine(Path(path))) as store:
                if store.lease(KERNEL_LEASE).holder() is not None:
                    return None
                _demand_readable(store)
                return left_robots(
                    JobStore(store, self._clock), StopLog(store, self._clock), frozenset,
                    lambda node: store.lease(node_lease(node)).holder() is None,
                )  # fmt: skip
        except FileNotFoundError:  # it is gone
            return {}
        except OSError as error:
            if not os.path.lexists(path):
                return {}
            raise path_error(error, path, "read") from error


def _demand_readable(store: Store) -> None:
    """Raises `WorldError` where a record of stops, or an open order, cannot be read."""
    for folder in (STOPS, OPEN):
        for name in store.list(folder):
            if not name.endswith("/"):
                store.get(f"{folder}/{name}")


def _record(path: str) -> str:
    return f"{RECORDS}/{hashlib.sha256(os.fsencode(path)).hexdigest()[:32]}.json"


def unread_finding(path: str, error: WorldError) -> Finding:
    from worldfs.base.model import Finding  # hardly ever is there one to tell

    found = coded("stop.earlier_unread", why=error_message(error))
    return Finding(UNREAD, path, coded("stop.earlier"), found, coded("stop.earlier_fix"))
