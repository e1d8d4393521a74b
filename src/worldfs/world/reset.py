"""Reset of a workspace: the scene, orders, missions and plans are removed; lessons and declarations stay.

The documents are copied below `.paos/before/STAMP/`, of a robot of a fleet in its own directory, before the first of
them changes; `undo_reset` puts the newest copies back. Each step can be repeated: the next reset completes an
interrupted one, whose copies stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from worldfs.access.roles import OPERATOR
from worldfs.base.clock import Clock, SystemClock
from worldfs.base.errors import NotFound, UserError
from worldfs.base.messages import coded
from worldfs.fleet.mission_store import MissionFiles
from worldfs.runtime.job_store import JobStore
from worldfs.storage.lease import KERNEL_LEASE
from worldfs.storage.store_interface import Store

from .home_world import open_robot
from .layout.versioned_rows import VERSIONED
from .templates import template
from .workspace_engine import open_engine

if TYPE_CHECKING:
    from worldfs.formats.config import Instance

BEFORE = ".paos/before"
FRESH = {
    "ENVIRONMENT.md": template("environment", ""),
    "ACTION.md": template("action", ""),
    "TASK.md": template("task", ""),
    "SESSIONS.md": None,
}
OWN = frozenset({"ACTION.md"})  # of these, what a robot of a fleet has in its own directory


class ResetLosses(NamedTuple):
    """What a reset would remove: documents with content, and jobs and missions that have not ended."""

    documents: tuple[str, ...]
    jobs: tuple[str, ...]
    missions: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.documents or self.jobs or self.missions)


def reset_losses(workspace: Path, robots: Sequence[Instance] = ()) -> ResetLosses:
    """What a reset would remove. Read only. `robots`: of a fleet, which have directories of their own."""
    with _opened(workspace, robots) as stores:
        return _before(stores)


def reset(workspace: Path, clock: Clock | None = None, robots: Sequence[Instance] = ()) -> str:
    """Reset; the copies' directory, relative to each workspace ("": no change). Raises `Busy` while a kernel runs."""
    with _opened(workspace, robots) as stores, _leased(stores):
        found = _before(stores)
        if not found:
            return ""
        kept = f"{BEFORE}/{(clock or SystemClock()).now():%Y%m%dT%H%M%S.%f}"
        places = [(stores[robot], name) for robot, _, name in (item.rpartition("/") for item in found.documents)]
        for store, name in places:
            if stored := store.get(name):
                store.put(f"{kept}/{name}", stored.data)
        jobs = JobStore(stores[""], clock or SystemClock())
        for id in found.jobs:  # the next kernel ends them as cancelled, before anything moves
            jobs.request_cancel(id, OPERATOR)
        missions = MissionFiles(stores[""], clock or SystemClock())
        for id in found.missions:  # the next orchestrator does, before it gives any out
            missions.request(id, "cancel", OPERATOR)
        for store, name in places:
            if (fresh := FRESH[name]) is None:
                store.delete(name)
            else:
                store.put(name, fresh)
        return kept if found.documents else ""


def undo_reset(workspace: Path, robots: Sequence[Instance] = ()) -> tuple[str, ...]:
    """Put the documents of the newest reset back; their names. Jobs and missions that it cancelled stay so. Raises
    `NotFound`."""
    with _opened(workspace, robots) as stores, _leased(stores):
        copies = {
            (f"{BEFORE}/{stamp.rstrip('/')}", robot): names
            for robot, store in stores.items()
            for stamp in store.list(BEFORE)
            if (names := store.list(f"{BEFORE}/{stamp.rstrip('/')}"))
        }
        if not copies:
            raise NotFound(coded("world.no_reset"), path=str(workspace), op="reset --undo")
        newest = max(kept for kept, _ in copies)
        last = [(stores[robot], robot, name) for (kept, robot), names in copies.items() if kept == newest
                for name in names]  # fmt: skip
        for store, _, name in last:
            if stored := store.get(f"{newest}/{name}"):
                store.put(name, stored.data)
        for store, _, name in last:
            store.delete(f"{newest}/{name}")
        return tuple(_named(robot, name) for _, robot, name in last)


@contextmanager
def _opened(workspace: Path, robots: Sequence[Instance]) -> Iterator[dict[str, Store]]:
    """The shared store, "", and by robot those of a fleet's directories that are there."""
    with ExitStack() as stack:
        stores = {"": stack.enter_context(closing(open_engine(workspace, versioned=VERSIONED)))}
        for robot in robots:
            if Path(robot.workspace).is_dir():
                stores[robot.robot_id] = stack.enter_context(closing(open_robot(workspace, robot)))
        yield stores


@contextmanager
def _leased(stores: Mapping[str, Store]) -> Iterator[None]:
    with ExitStack() as stack:
        for store in stores.values():
            stack.enter_context(store.lease(KERNEL_LEASE, "reset"))
        yield


def _before(stores: Mapping[str, Store]) -> ResetLosses:
    documents = [
        _named(robot, name)
        for robot, store in stores.items()
        for name, fresh in FRESH.items()
        if (name in OWN or not robot) and (stored := store.get(name)) is not None and stored.data != fresh
    ]
    jobs, missions = JobStore(stores[""], SystemClock()), MissionFiles(stores[""], SystemClock())
    called_off = {request.mission for request in missions.requests() if request.what == "cancel"}
    return ResetLosses(
        tuple(documents),
        tuple(id for id in jobs.open_ids() if not jobs.load(id).status.state.terminal),
        tuple(id for id in missions.open_ids() if id not in called_off and _is_open(missions, id)),
    )


def _is_open(missions: MissionFiles, id: str) -> bool:
    """One that cannot be read is begun by no orchestrator."""
    try:
        return not missions.load(id).status.state.ended
    except UserError:
        return False


def _named(robot: str, name: str) -> str:
    return f"{robot}/{name}" if robot else name
