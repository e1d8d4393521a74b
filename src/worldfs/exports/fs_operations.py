"""The table of operations: a name, and what it does at a desk. Each blocks and runs in a thread.

Source: acheron §7; texts of errors from the recorded exchanges.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from typing import Final

from worldfs.wire.frames import BadFrame, Frame, Json, decode_base64, encode_base64

from .export_source import MAX_READ, FileAttr
from .fs_errors import FsError, invalid
from .handle_table import FileHandle, HandleTable

PAGE: Final = 1_024  # entries of a listing in one frame
STEPS: Final = 256  # names of one lookup
OFFSET_MAX: Final = 2**63 - 1
ACCESS: Final = {0: (True, False), 1: (False, True), 2: (True, True)}  # the low two bits of open(2)'s flags


class FsRequest:
    """One request, read strictly: `FsError` 22 says what it lacks."""

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


def _exports(desk: HandleTable, ask: FsRequest) -> Json:
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
            for source in desk.sources
        ]
    }


def _lookup(desk: HandleTable, ask: FsRequest) -> Json:
    """`path`, instead of `name`, asks for several steps at once (ours; who does not know it refuses it)."""
    names = ask.names("path")
    if names is None:
        return _told(desk.source(ask.node).walk(ask.node, [ask.text("name")])[-1])
    attrs = desk.source(ask.node).walk(ask.node, names)
    return {**_told(attrs[-1]), "attrs": [attr._asdict() for attr in attrs]}


def _getattr(desk: HandleTable, ask: FsRequest) -> Json:
    return _told(desk.source(ask.node).getattr(ask.node))


def _told(attr: FileAttr) -> Json:
    return {"attr": attr._asdict()}


def _readdirp(desk: HandleTable, ask: FsRequest) -> Json:
    cookie, most = ask.number("cookie", 0), min(ask.number("max", PAGE), PAGE)
    names = desk.listing(ask.node, cookie)
    upto = min(cookie + max(most, 1), len(names))
    found, gen = desk.source(ask.node).listing(ask.node, names[cookie:upto])
    if upto >= len(names):
        desk.listed(ask.node)
    return {
        "ents": [{"name": name, "attr": attr._asdict()} for name, attr in found],
        "next": upto,
        "eof": upto >= len(names),
        "dir_gen": gen,
    }


def _access(ask: FsRequest, default: int) -> tuple[bool, bool]:
    access = ACCESS.get(ask.number("flags", default) & 3)
    if access is None:
        raise invalid("flags ask for no access")
    return access


def _open(desk: HandleTable, ask: FsRequest) -> Json:
    rd, wr = _access(ask, 0)
    desk.room()
    file, gen = desk.source(ask.node).open(ask.node, rd, wr)
    return {"h": desk.take(FileHandle(file, rd, wr)), "caps": {"rd": rd, "wr": wr}, "gen": gen}


def _create(desk: HandleTable, ask: FsRequest) -> Json:
    rd, wr = _access(ask, 2)
    name, mode = ask.text("name"), ask.number("mode", 0o644)
    desk.room()
    attr, file = desk.source(ask.node).create(ask.node, name, mode, rd, wr)
    return {**_told(attr), "h": desk.take(FileHandle(file, rd, wr))}


def _read(desk: HandleTable, ask: FsRequest) -> Json:
    handle = desk.handle(ask.h)
    if not handle.rd:
        raise FsError(errno.EBADF, "handle not readable")
    data, eof = handle.file.read(ask.number("off", 0), min(ask.number("len", MAX_READ), MAX_READ))
    return {"data_b64": encode_base64(data), "eof": eof}


def _write(desk: HandleTable, ask: FsRequest) -> Json:
    handle = desk.handle(ask.h)
    if not handle.wr:
        raise FsError(errno.EBADF, "handle not writable")
    data = ask.data("data_b64")
    handle.file.write(ask.number("off", 0, OFFSET_MAX - len(data)), data)
    return {"n": len(data)}


def _close(desk: HandleTable, ask: FsRequest) -> Json:
    desk.drop(ask.h).file.close()
    return {}


def _truncate(desk: HandleTable, ask: FsRequest) -> Json:
    desk.source(ask.node).truncate(ask.node, ask.number("sz"))
    return {}


def _unlink(desk: HandleTable, ask: FsRequest) -> Json:
    desk.source(ask.node).unlink(ask.node, ask.text("name"))
    return {}


def _mkdir(desk: HandleTable, ask: FsRequest) -> Json:
    desk.source(ask.node).mkdir(ask.node, ask.text("name"))
    return {}


def _rmdir(desk: HandleTable, ask: FsRequest) -> Json:
    desk.source(ask.node).rmdir(ask.node, ask.text("name"))
    return {}


def _symlink(desk: HandleTable, ask: FsRequest) -> Json:
    desk.source(ask.node).symlink(ask.node, ask.text("name"), ask.text("target"))
    return {}


def _rename(desk: HandleTable, ask: FsRequest) -> Json:
    old, new = ask.number("old_parent", most=2**64 - 1), ask.number("new_parent", most=2**64 - 1)
    names = ask.text("old_name"), ask.text("new_name")
    source = desk.source(old)
    if desk.source(new) is not source:
        raise FsError(errno.EXDEV)
    source.rename(old, names[0], new, names[1])
    return {}


def _setxattr(desk: HandleTable, ask: FsRequest) -> Json:
    desk.source(ask.node).setxattr(ask.node, ask.text("name"), ask.data("value_b64"), ask.number("flags", 0))
    return {}


def _getxattr(desk: HandleTable, ask: FsRequest) -> Json:
    return {"value_b64": encode_base64(desk.source(ask.node).getxattr(ask.node, ask.text("name")))}


def _listxattr(desk: HandleTable, ask: FsRequest) -> Json:
    return {"names": desk.source(ask.node).listxattr(ask.node)}


def _removexattr(desk: HandleTable, ask: FsRequest) -> Json:
    desk.source(ask.node).removexattr(ask.node, ask.text("name"))
    return {}


def _statfs(desk: HandleTable, ask: FsRequest) -> Json:
    return desk.source(ask.node).statfs(ask.node)._asdict()


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
LOCK: Final = "lock"  # waits without holding a thread (serving.py)
