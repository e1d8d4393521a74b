"""The table of operations: a name, and a function of a request and the connection's handles. Each blocks and runs in a
thread.

Source: acheron §7; texts of errors from the recorded exchanges.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from typing import Final

from worldfs.formats.wire.frames import BadFrame, Frame, Json, decode_base64, encode_base64

from .export_source import MAX_READ, FileAttr
from .fs_errors import FsError, invalid
from .handle_table import FileHandle, HandleTable

PAGE: Final = 1_024  # entries of a listing in one frame
STEPS: Final = 256  # names of one lookup
OFFSET_MAX: Final = 2**63 - 1
ACCESS: Final = {0: (True, False), 1: (False, True), 2: (True, True)}  # the low two bits of open(2)'s flags


class FsRequest:
    """One request, validated: `FsError` 22 says what is missing."""

    def __init__(self, op: str, frame: Frame) -> None:
        self.op, self.h = op, frame.h
        self._node = frame.node
        try:
            self._args = frame.body()
        except BadFrame as error:
            raise invalid(str(error)) from None
        if frame.data_b64 is not None:
            self._args.setdefault("data_b64", frame.data_b64)

    @property
    def node(self) -> int:
        if self._node is None:
            raise self._lacks("node")
        return self._node

    def text(self, key: str) -> str:
        value = self._args.get(key)
        if not isinstance(value, str):
            raise self._lacks(f"a.{key}")
        return value

    def number(self, key: str, default: int | None = None, most: int = OFFSET_MAX) -> int:
        value = self._args.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            raise self._lacks(f"a.{key}")
        return value

    def data(self, key: str) -> bytes:
        try:
            return decode_base64(self.text(key))
        except BadFrame as error:
            raise invalid(str(error)) from None

    def names(self, key: str) -> list[str] | None:
        value = self._args.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise self._lacks(f"a.{key}")
        if not 0 < len(value) <= STEPS:
            raise self._lacks(f"a.{key}")
        return value

    def flag(self, key: str) -> bool:
        return self._args.get(key) is True

    def _lacks(self, what: str) -> FsError:
        return invalid(f"{self.op.upper()} requires {what}")


def _exports(handles: HandleTable, request: FsRequest) -> Json:
    return {
        "exports": [
            {
                "name": source.name,
                "root": source.root,
                "ro": source.ro,
                "desc": source.desc,
                "source_kind": source.kind,
                "source_id": source.label,
                "caps": source.caps._asdict(),
            }
            for source in handles.sources
        ]
    }


def _lookup(handles: HandleTable, request: FsRequest) -> Json:
    """`path`, instead of `name`, asks for several steps at once (our extension; other servers refuse it)."""
    names = request.names("path")
    if names is None:
        return _attr_fields(handles.source(request.node).walk(request.node, [request.text("name")])[-1])
    attrs = handles.source(request.node).walk(request.node, names)
    return {**_attr_fields(attrs[-1]), "attrs": [attr._asdict() for attr in attrs]}


def _getattr(handles: HandleTable, request: FsRequest) -> Json:
    return _attr_fields(handles.source(request.node).getattr(request.node))


def _attr_fields(attr: FileAttr) -> Json:
    return {"attr": attr._asdict()}


def _readdirp(handles: HandleTable, request: FsRequest) -> Json:
    cookie, most = request.number("cookie", 0), min(request.number("max", PAGE), PAGE)
    names = handles.listing(request.node, cookie)
    upto = min(cookie + max(most, 1), len(names))
    found, gen = handles.source(request.node).listing(request.node, names[cookie:upto])
    if upto >= len(names):
        handles.end_listing(request.node)
    return {
        "ents": [{"name": name, "attr": attr._asdict()} for name, attr in found],
        "next": upto,
        "eof": upto >= len(names),
        "dir_gen": gen,
    }


def _access(request: FsRequest, default: int) -> tuple[bool, bool]:
    access = ACCESS.get(request.number("flags", default) & 3)
    if access is None:
        raise invalid("flags ask for no access")
    return access


def _open(handles: HandleTable, request: FsRequest) -> Json:
    rd, wr = _access(request, 0)
    handles.check_capacity()
    file, gen = handles.source(request.node).open(request.node, rd, wr)
    return {"h": handles.add(FileHandle(file, rd, wr)), "caps": {"rd": rd, "wr": wr}, "gen": gen}


def _create(handles: HandleTable, request: FsRequest) -> Json:
    rd, wr = _access(request, 2)
    name, mode = request.text("name"), request.number("mode", 0o644)
    handles.check_capacity()
    attr, file = handles.source(request.node).create(request.node, name, mode, rd, wr)
    return {**_attr_fields(attr), "h": handles.add(FileHandle(file, rd, wr))}


def _read(handles: HandleTable, request: FsRequest) -> Json:
    handle = handles.handle(request.h)
    if not handle.rd:
        raise FsError(errno.EBADF, "handle not readable")
    data, eof = handle.file.read(request.number("off", 0), min(request.number("len", MAX_READ), MAX_READ))
    return {"data_b64": encode_base64(data), "eof": eof}


def _write(handles: HandleTable, request: FsRequest) -> Json:
    handle = handles.handle(request.h)
    if not handle.wr:
        raise FsError(errno.EBADF, "handle not writable")
    data = request.data("data_b64")
    handle.file.write(request.number("off", 0, OFFSET_MAX - len(data)), data)
    return {"n": len(data)}


def _close(handles: HandleTable, request: FsRequest) -> Json:
    handles.pop(request.h).file.close()
    return {}


def _truncate(handles: HandleTable, request: FsRequest) -> Json:
    handles.source(request.node).truncate(request.node, request.number("sz"))
    return {}


def _unlink(handles: HandleTable, request: FsRequest) -> Json:
    handles.source(request.node).unlink(request.node, request.text("name"))
    return {}


def _mkdir(handles: HandleTable, request: FsRequest) -> Json:
    handles.source(request.node).mkdir(request.node, request.text("name"))
    return {}


def _rmdir(handles: HandleTable, request: FsRequest) -> Json:
    handles.source(request.node).rmdir(request.node, request.text("name"))
    return {}


def _symlink(handles: HandleTable, request: FsRequest) -> Json:
    handles.source(request.node).symlink(request.node, request.text("name"), request.text("target"))
    return {}


def _rename(handles: HandleTable, request: FsRequest) -> Json:
    old, new = request.number("old_parent", most=2**64 - 1), request.number("new_parent", most=2**64 - 1)
    names = request.text("old_name"), request.text("new_name")
    source = handles.source(old)
    if handles.source(new) is not source:
        raise FsError(errno.EXDEV)
    source.rename(old, names[0], new, names[1])
    return {}


def _setxattr(handles: HandleTable, request: FsRequest) -> Json:
    handles.source(request.node).setxattr(
        request.node, request.text("name"), request.data("value_b64"), request.number("flags", 0)
    )
    return {}


def _getxattr(handles: HandleTable, request: FsRequest) -> Json:
    return {"value_b64": encode_base64(handles.source(request.node).getxattr(request.node, request.text("name")))}


def _listxattr(handles: HandleTable, request: FsRequest) -> Json:
    return {"names": handles.source(request.node).listxattr(request.node)}


def _removexattr(handles: HandleTable, request: FsRequest) -> Json:
    handles.source(request.node).removexattr(request.node, request.text("name"))
    return {}


def _statfs(handles: HandleTable, request: FsRequest) -> Json:
    return handles.source(request.node).statfs(request.node)._asdict()


OPS: Final[Mapping[str, Callable[[HandleTable, FsRequest], Json]]] = {
    "exports": _exports,
    "lookup": _lookup,
    "getattr": _getattr,
    "readdirp": _readdirp,
    "open": _open,
    "create": _create,
    "read": _read,
    "write": _write,
    "close": _close,
    "truncate": _truncate,
    "unlink": _unlink,
    "mkdir": _mkdir,
    "rmdir": _rmdir,
    "symlink": _symlink,
    "rename": _rename,
    "setxattr": _setxattr,
    "getxattr": _getxattr,
    "listxattr": _listxattr,
    "removexattr": _removexattr,
    "statfs": _statfs,
}
IN_TURN: Final = frozenset({"read", "write", "close"})  # on one handle in the order they were asked for
LOCK: Final = "lock"  # waits without holding a thread (fs_server.py)
