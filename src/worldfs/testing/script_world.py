"""The world of a behaviour script: a world with a manual clock, and the verbs that act on it."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from difflib import unified_diff
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from worldfs.base.driver import PluginContext
from worldfs.base.durable import Disk
from worldfs.base.errors import NotFound, NotPermitted, UserError
from worldfs.base.json_values import as_object
from worldfs.base.model import Order
from worldfs.base.stop_signal import StopSignal
from worldfs.planning.planner import Planner
from worldfs.storage.disk_store import DiskStore
from worldfs.storage.memory_store import MemoryStore
from worldfs.world.home import Home
from worldfs.world.layout.versioned_rows import VERSIONED
from worldfs.world.onboard import onboard
from worldfs.world.world import GUARDED, World

from .manual_clock import ManualClock
from .null_driver import NullDriver, SimulatedPowerLoss

if TYPE_CHECKING:
    from worldfs.storage.store_interface import Store

_TIME = re.compile(r"\+(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNIT = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_FENCE = re.compile(r"^(`{3,}|~{3,})[ \t]*(?:json|JSON)[ \t]*\n(.*?)^\1[`~]*[ \t]*$", re.DOTALL | re.MULTILINE)


class ScriptWorld:
    """Every public method is a verb. A verb asserts; whatever else it raises is a mistake of the script or ours."""

    def __init__(
        self,
        root: Path,
        files: dict[str, str],
        *,
        disk: bool,
        update: bool = False,
        opened: Callable[[], Store] | None = None,
    ) -> None:
        """`disk`: the workspace's directory is the store. Else it is `opened` for each start, or a store in memory."""
        self._home = root / "home"
        self._files = files
        self._disk = disk
        self._opened = opened
        self._update = update
        self._actor = "operator"
        self._clock = ManualClock()
        self._store: Store | None = None
        self._world: World | None = None
        self._executed: list[Order] = []
        self._armed: tuple[str, str, int] | None = None  # boundary, pattern of paths, number of matches to skip
        self.updated = False

    # -- start and end -- ----------------------------------------------------------------------------------------

    def onboard(self, language: str = "en", profile: str = "", robot_id: str = "") -> None:
        """onboard [LANGUAGE [PROFILE [ROBOT_ID]]]: a home and its workspace, as `paos onboard` makes them."""

        onboard(Home(self._home), profile=profile, language=language, robot_id=robot_id)

    def start(self) -> None:
        """start: the world is opened and its kernel recovers; it moves in `tick` only."""
        assert self._world is None, "it is running already"
        self._world = self._open()

    def stop(self) -> None:
        """stop: the world is closed in good order."""
        self._running().close()
        self._world = None

    def crash(self, boundary: str = "", pattern: str = "*", skip: str = "0") -> None:
        """crash: the power goes now. crash BOUNDARY [PATH-PATTERN [SKIP]]: it will go at that write of a later tick."""
        if boundary:
            assert self._disk, "a crash at a boundary needs the disk store: name the script *.disk.txt"
            self._armed = (boundary, pattern, int(skip))
        else:
            self._die()

    def tick(self, count: str = "") -> None:
        """tick: until nothing progresses. tick N: N times. An armed crash ends it, and the world with it."""
        world = self._running()
        try:
            if count:
                for _ in range(int(count)):
                    world.tick()
            else:
                for _ in range(1000):
                    if not world.tick():
                        return
                raise AssertionError("after 1000 ticks it still goes forward")
        except SimulatedPowerLoss:
            self._die()

    def time(self, step: str) -> None:
        """time +30s: that much time passes (ms, s, m, h, d)."""
        found = _TIME.fullmatch(step)
        assert found, f"found {step!r}, expected for example +30s"
        self._clock.advance(float(found[1]) * _UNIT[found[2]])

    # -- actions -- -----------------------------------------------------------------------------------

    def as_(self, role: str) -> None:
        """as ROLE: what follows is done with the rights of that role."""
        self._actor = role

    def write(self, path: str, name: str) -> None:
        """write PATH FILE: through the tree."""
        world = self._running()
        world.namespace(self._actor).write(world.resolve(path), self._file(name))

    def put(self, key: str, name: str) -> None:
        """put NAME FILE: a foreign program renames a finished file into the workspace."""
        data = self._file(name)
        if not self._disk:
            self._memory().put(key, data)
            self._heard()
            return
        place = self._workspace / key
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = place.with_name(place.name + ".foreign")
        draft.write_bytes(data)
        draft.replace(place)

    def remove(self, key: str) -> None:
        """remove NAME: a foreign program deletes a file of the workspace."""
        if self._disk:
            (self._workspace / key).unlink()
        else:
            self._memory().delete(key)
            self._heard()

    def submit(self, node: str, op: str, params: str = "{}", id: str = "") -> None:
        """submit NODE OP [JSON [ID]]: an order, past all sheets."""
        self._running().submit(Order(id or f"job_{op}", node, op, json.loads(params)), self._actor)

    def cancel(self, job: str) -> None:
        """cancel JOB: as `paos cancel`."""
        self._running().cancel(job, self._actor)

    def do(self, text: str, verdict: str = "reached") -> None:
        """do "TEXT" [VERDICT]: the planner carries it out while the kernel runs in a thread."""

        world, stop = self._running(), StopSignal()
        kernel = threading.Thread(target=world.run, kwargs={"stop": stop}, daemon=True)
        kernel.start()
        try:
            report = Planner(world.planner_port()).run(text, stop)
        finally:
            stop.set()
            world.wake()
            kernel.join()
        assert report.verdict == verdict, f"found {report.verdict}: {report.reason}"

    # -- what must hold --------------------------------------------------------------------------------------------

    def read(self, path: str) -> None:
        """read PATH: it is there and may be read."""
        self._read(path)

    def absent(self, path: str) -> None:
        """absent PATH: nothing is there, or nothing that this role may see."""
        try:
            self._read(path)
        except NotFound:
            return
        raise AssertionError(f"{path} is there")

    def has(self, path: str, text: str) -> None:
        """has PATH TEXT: the file holds the text."""
        found = self._read(path)
        assert text in found, f"{path} does not hold {text!r}; it holds:\n{found}"

    def json(self, path: str, pointer: str, value: str) -> None:
        """json PATH POINTER VALUE: a value of the file (or of its fenced blocks); VALUE is JSON, or a bare word."""
        documents = list(_documents(self._read(path)))
        assert documents, f"{path} holds no JSON"
        wanted = _value(value)
        found = [_point(document, pointer) for document in documents]
        assert wanted in found, f"{path}{pointer}: found {json.dumps(found, ensure_ascii=False)}, expected {value}"

    def cmp(self, path: str, name: str) -> None:
        """cmp PATH FILE: the file is exactly this (UPDATE_SCRIPTS=1 writes what was found into the script)."""
        found = self._read(path)
        if self._update and found != self._files.get(name):
            self._files[name] = found if found.endswith("\n") else found + "\n"
            self.updated = True
            return
        wanted = self._file(name).decode()
        assert found == wanted, _difference(wanted, found)

    def denied(self, verb: str, path: str, name: str = "") -> None:
        """denied write PATH [FILE] / denied read PATH: this role may not."""
        world = self._running()
        try:
            if verb == "write":
                world.namespace(self._actor).write(world.resolve(path), self._file(name) if name else b"")
            else:
                world.namespace(self._actor).read(world.resolve(path))
        except (NotPermitted, NotFound):
            return
        raise AssertionError(f"{self._actor} may {verb} {path}")

    def refused(self, code: str, verb: str, *words: str) -> None:
        """refused CODE VERB …: the verb ends with this error of the user."""
        try:
            (getattr(self, verb, None) or getattr(self, f"{verb}_"))(*words)
        except UserError as error:
            assert error.code == code, f"found {error.code}: {error}"
            return
        raise AssertionError("it was not refused")

    def ran(self, count: str, id: str = "") -> None:
        """ran N [JOB]: the driver was started N times in all (for that job), crashes included."""
        found = [order.id for order in self._executed if id in ("", order.id)]
        assert len(found) == int(count), f"found {len(found)}: {found}"

    # -- inside -- ----------------------------------------------------------------------------------------

    @property
    def _workspace(self) -> Path:
        return self._home / "workspace"

    def _open(self) -> World:
        """The only call of `World.open`."""

        config = Home(self._home).config({})
        drivers = dict.fromkeys(("simulation", "rekep_sim"), self._driver)
        store = self._disk_store() if self._disk else self._memory()
        if self._opened is not None:
            store = self._opened()
        return World.open(
            self._workspace,
            config=config,
            clock=self._clock,
            store=store,
            serve=True,
            drivers=drivers,
            threads=False,
        )

    def _driver(self, seat: PluginContext) -> NullDriver:
        return NullDriver(executed=self._executed)

    def _disk_store(self) -> Store:
        return DiskStore(self._workspace, Disk(self._boundary), guarded=GUARDED, versioned=VERSIONED)

    def _memory(self) -> Store:
        """One store for the whole script: it represents the disk, so it survives crashes; of foreign programs too."""

        if self._store is None:
            self._store = self._opened() if self._opened is not None else MemoryStore()
            for file in sorted(self._workspace.rglob("*")) if self._workspace.is_dir() else ():
                if file.is_file():
                    self._store.put(file.relative_to(self._workspace).as_posix(), file.read_bytes())
        return self._store

    def _heard(self) -> None:
        """The world's own store has what another one of the same engine has written: its list says so."""
        if self._world is not None:
            self._world.store.list("")

    def _boundary(self, name: str, path: str) -> None:
        if self._armed is None or self._armed[0] != name or not fnmatch(path, self._armed[1]):
            return
        boundary, pattern, skip = self._armed
        self._armed = (boundary, pattern, skip - 1) if skip else None
        if not skip:
            raise SimulatedPowerLoss(f"{name} {path}")

    def _die(self) -> None:
        """Drop the world without any write to the disk."""
        if self._world is not None:
            self._world.abandon()  # without threads nothing goes on behind it
        self._world = None
        self._armed = None

    def _end(self) -> None:
        if self._world is not None:
            self._world.close()
            self._world = None
        if self._store is not None:
            self._store.close()

    def _running(self) -> World:
        assert self._world is not None, "nothing runs: write `start` first"
        return self._world

    def _read(self, path: str) -> str:
        world = self._running()
        return world.namespace(self._actor).read(world.resolve(path)).data.decode("utf-8")

    def _file(self, name: str) -> bytes:
        assert name in self._files, f"no file {name!r} is inlined; there are: {', '.join(self._files) or 'none'}"
        return self._files[name].encode("utf-8")


def _documents(text: str) -> Iterator[object]:
    """The whole text as JSON, or each fenced block that is."""
    for part in (text, *(found[2] for found in _FENCE.finditer(text))):
        try:
            yield json.loads(part)
        except ValueError:
            continue


def _point(document: object, pointer: str) -> object:
    """RFC 6901, with negative indices; a missing member equals nothing."""
    for part in pointer.split("/")[1:]:
        word = part.replace("~1", "/").replace("~0", "~")
        try:
            document = document[int(word)] if isinstance(document, list) else as_object(document)[word]
        except (KeyError, IndexError, ValueError, TypeError):
            return "(nothing there)"
    return document


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _difference(wanted: str, found: str) -> str:
    lines = unified_diff(wanted.splitlines(), found.splitlines(), "expected", "found", lineterm="")
    return "\n".join(lines) or f"only the last line's end differs: expected {wanted[-10:]!r}, found {found[-10:]!r}"
