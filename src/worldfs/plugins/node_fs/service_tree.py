"""A service as an export: a fixed table of files that show its state when read and control it when written."""

from __future__ import annotations

import errno
import json
import threading
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, NoReturn

from worldfs.base.clock import epoch_ns
from worldfs.base.json_text import parse_json

from .export_source import DIRECTORY, FILE, ExportFile, FileAttr, FsCapacity, Invalidation, SourceCapabilities
from .file_names import check
from .fs_errors import FsError, invalid
from .node_ids import SHIFT
from .node_service import NodeService

Render = Callable[[NodeService], bytes]
Act = Callable[[NodeService, bytes], None]
BUFFER_MAX: Final = 2 << 20


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


class ServiceFileRow(NamedTuple):
    """A file. `whole`: the payload is JSON and takes effect as soon as it is complete; else the first write takes
    effect."""

    path: str
    render: Render
    act: Act | None = None
    whole: bool = False


_SCHEMA: Final = {
    "model": "namespace-service-v1",
    "control": {name: f"control/{name}" for name in ("reset", "enable", "disable", "restart")}
    | {"invoke": "control/invoke.json"},
    "result": "result.json",
    "status": "status.json",
    "last_error": "last_error.txt",
    "metrics": "metrics.json",
    "config": "config.json",
    "health": "health.json",
}
_README: Final = (
    "# Service {id}\n\nWrite a JSON payload to `control/invoke.json`; `status.json` shows its state, "
    "`result.json` its result.\n"
)


def _nothing(service: NodeService) -> bytes:
    return b""


def _readme(service: NodeService) -> bytes:
    help = service.manifest.published.get("help_md")
    return str(help).encode() if help else _README.format(id=service.id).encode()


ROWS: Final = (
    ServiceFileRow("README.md", _readme),
    ServiceFileRow("SCHEMA.json", lambda service: _json(_SCHEMA)),
    ServiceFileRow("config.json", lambda service: _json(service.config.to_json()), NodeService.configure, whole=True),
    ServiceFileRow("control/disable", _nothing, lambda service, _: service.disable()),
    ServiceFileRow("control/enable", _nothing, lambda service, _: service.enable()),
    ServiceFileRow("control/invoke.json", _nothing, NodeService.invoke, whole=True),
    ServiceFileRow("control/reset", _nothing, lambda service, _: service.reset()),
    ServiceFileRow("control/restart", _nothing, lambda service, _: service.restart()),
    ServiceFileRow("health.json", lambda service: _json(service.health())),
    ServiceFileRow("last_error.txt", lambda service: service.last_error),
    ServiceFileRow("metrics.json", lambda service: _json(service.counts._asdict())),
    ServiceFileRow("result.json", lambda service: service.result),
    ServiceFileRow("status.json", lambda service: _json(service.status())),
)
CONTROL: Final = "control"
ALSO: Final = {"metrics": "metrics.json", "config": "config.json", "health": "health.json"}  # names found, not listed
_PATHS: Final = ("", CONTROL, *(row.path for row in ROWS))  # a node's number is its index here + 1
_ROWS: Final = {row.path: row for row in ROWS}


class ServiceTree:
    """See `ExportSource`."""

    kind = "namespace"
    ro = False
    caps = SourceCapabilities(True, True, False, False, False, True)

    def __init__(self, service: NodeService, index: int) -> None:
        self.service = service
        self.name = self.label = f"service:{service.id}"
        self.desc = f"service {service.id}"
        self._base = (index + 1) << SHIFT
        self.root = self._base | 1
        self._lock = threading.Lock()
        self._gens = dict.fromkeys(_PATHS, epoch_ns(self.service.clock.now()))
        self._listeners: tuple[Callable[[Invalidation], None], ...] = ()
        service.changed = self._changed
        self.also: Callable[[], None] = lambda: None  # called after each change, too

    # -- finding ---------------------------------------------------------------------------------------------------

    def walk(self, node: int, names: Sequence[str]) -> list[FileAttr]:
        path = self._path(node)
        found = []
        for name in names:
            check(name)
            if path in _ROWS:
                raise FsError(errno.ENOTDIR)
            path = f"{path}/{name}" if path else ALSO.get(name, name)
            if path not in _PATHS:
                raise FsError(errno.ENOENT)
            found.append(self._attr(path))
        return found

    def getattr(self, node: int) -> FileAttr:
        return self._attr(self._path(node))

    def names(self, node: int) -> list[str]:
        path = self._path(node)
        if path in _ROWS:
            raise FsError(errno.ENOTDIR)
        return sorted(one.rpartition("/")[2] for one in _PATHS[1:] if one.rpartition("/")[0] == path)

    def listing(self, node: int, names: Sequence[str]) -> tuple[list[tuple[str, FileAttr]], int]:
        path = self._path(node)
        found = []
        for name in names:
            at = {".": path, "..": ""}.get(name, f"{path}/{name}" if path else name)
            if at in _PATHS:
                found.append((name, self._attr(at)))
        return found, self._gens[path]

    def _path(self, node: int) -> str:
        number = node - self._base - 1
        if not 0 <= number < len(_PATHS):
            raise FsError(errno.ENOENT)
        return _PATHS[number]

    def _id(self, path: str) -> int:
        return self._base + 1 + _PATHS.index(path)

    def _attr(self, path: str) -> FileAttr:
        row, gen = _ROWS.get(path), self._gens[path]
        if row is None:
            return FileAttr(self._id(path), DIRECTORY, 0o40755, 2, 0, 0, 0, gen, gen, gen, gen)
        size = len(row.render(self.service))
        return FileAttr(self._id(path), FILE, 0o100644 if row.act else 0o100444, 1, 0, 0, size, gen, gen, gen, gen)

    # -- content ---------------------------------------------------------------------------------------------------

    def open(self, node: int, read: bool, write: bool) -> tuple[ExportFile, int]:
        path = self._path(node)
        row = _ROWS.get(path)
        if row is None:
            raise FsError(errno.EISDIR)
        if write and row.act is None:
            raise FsError(errno.EACCES, "file is read-only")
        return _Open(row, self.service), self._gens[path]

    def truncate(self, node: int, size: int) -> None:
        """`echo … > file` begins with it; a control has no content to cut."""
        row = _ROWS.get(self._path(node))
        if row is None:
            raise FsError(errno.EISDIR)
        if row.act is None:
            raise FsError(errno.EACCES, "file is read-only")

    def statfs(self, node: int) -> FsCapacity:
        self._path(node)
        return FsCapacity()

    def create(self, node: int, name: str, mode: int, read: bool, write: bool) -> NoReturn:
        self._refuse(node)

    def unlink(self, node: int, name: str) -> None:
        self._refuse(node)

    def mkdir(self, node: int, name: str) -> None:
        self._refuse(node)

    def rmdir(self, node: int, name: str) -> None:
        self._refuse(node)

    def symlink(self, node: int, name: str, target: str) -> None:
        self._refuse(node)

    def rename(self, old_parent: int, old_name: str, new_parent: int, new_name: str) -> None:
        self._refuse(old_parent)

    def setxattr(self, node: int, name: str, value: bytes, flags: int) -> None:
        self._refuse(node)

    def removexattr(self, node: int, name: str) -> None:
        self._refuse(node)

    def getxattr(self, node: int, name: str) -> bytes:
        self._path(node)
        raise FsError(errno.ENODATA)

    def listxattr(self, node: int) -> list[str]:
        self._path(node)
        return []

    def _refuse(self, node: int) -> NoReturn:
        self._path(node)
        raise FsError(errno.EACCES, "a service's files are its own")

    # -- changes ---------------------------------------------------------------------------------------------------

    def listen(self, callback: Callable[[Invalidation], None]) -> Callable[[], None]:
        with self._lock:
            self._listeners = (*self._listeners, callback)

        def end() -> None:
            with self._lock:
                rest = list(self._listeners)
                if callback in rest:
                    rest.remove(callback)
                self._listeners = tuple(rest)

        return end

    def _changed(self, names: tuple[str, ...]) -> None:
        with self._lock:
            gen = epoch_ns(self.service.clock.now())
            self._gens.update(dict.fromkeys(names, gen))
            listeners = self._listeners
        for name in names:
            for tell in listeners:
                tell(Invalidation(self._id(name), False, gen))
        self.also()

    def close(self) -> None:
        self.service.stop()


class _Open:
    """See `ExportFile`. Later reads continue the content of the first read."""

    def __init__(self, row: ServiceFileRow, service: NodeService) -> None:
        self._row, self._service = row, service
        self._shown: bytes | None = None
        self._given = bytearray()
        self._acted = self._written = False

    def read(self, offset: int, size: int) -> tuple[bytes, bool]:
        if self._shown is None or offset == 0:
            self._shown = self._row.render(self._service)
        data = self._shown[offset : offset + size]
        return data, offset + len(data) >= len(self._shown)

    def write(self, offset: int, data: bytes) -> None:
        if offset + len(data) > BUFFER_MAX:
            raise FsError(errno.EFBIG)
        self._written = True
        if not self._row.whole:
            if not self._acted:
                self._act(data)
            return
        if self._acted:
            raise invalid("one payload for each opening")
        self._given[len(self._given) : offset] = bytes(max(0, offset - len(self._given)))
        self._given[offset : offset + len(data)] = data
        if self._given.strip().startswith(b"{") and _whole(self._given):
            self._act(bytes(self._given))

    def _act(self, payload: bytes) -> None:
        assert self._row.act is not None
        self._acted = True
        self._row.act(self._service, payload.strip())

    def lock(self, kind: str) -> bool:
        raise FsError(errno.ENOSYS, "a service's files are not locked")

    def close(self) -> None:
        if self._written and not self._acted:
            if not _whole(self._given):
                raise invalid("payload is no JSON")
            self._act(bytes(self._given))


def _whole(data: bytearray) -> bool:
    try:
        parse_json(data)
    except ValueError:
        return False
    return True
