"""A small 9P2000.L client, written from the protocol's description and sharing no code with the listener.

It blocks, and sends one request at a time; `send` and `receive` are for tests that do otherwise.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Final, NamedTuple, Self

from .waiting import PATIENCE_S

NO_FID: Final = 0xFFFF_FFFF
_CREATE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL


class NinePReply(NamedTuple):
    type: int
    tag: int
    body: bytes


class NinePAttributes(NamedTuple):
    directory: bool
    path_id: int
    version: int
    mode: int
    uid: int
    size: int
    mtime_s: int


class NinePClient:
    """Connected and with an agreed version; `attach` gives fid 0, the root. Refusals are `OSError`, by errno."""

    def __init__(self, address: str | tuple[str, int], msize: int = 65_536) -> None:
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE_S)
        self._next = 1
        try:
            self.socket.connect(address)
            answer = self.ask(100, struct.pack("<I", msize) + text("9P2000.L"), tag=0xFFFF)
        except BaseException:
            self.socket.close()
            raise
        self.msize = struct.unpack_from("<I", answer)[0]
        self.version = answer[6:].decode()

    # -- frames ----------------------------------------------------------------------------------------------------

    def send(self, type: int, body: bytes, tag: int = 1) -> None:
        self.socket.sendall(struct.pack("<IBH", 7 + len(body), type, tag) + body)

    def receive(self) -> NinePReply:
        """Raises `EOFError` when the listener has closed the connection."""
        size, type, tag = struct.unpack("<IBH", self._exactly(7))
        return NinePReply(type, tag, self._exactly(size - 7))

    def ask(self, type: int, body: bytes, tag: int = 1) -> bytes:
        self.send(type, body, tag)
        return body_of(self.receive(), type)

    def _exactly(self, count: int) -> bytes:
        parts: list[bytes] = []
        while count:
            part = self.socket.recv(count)
            if not part:
                raise EOFError("the listener closed the connection")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    # -- requests --------------------------------------------------------------------------------------------------

    def attach(self, aname: str = "", *, afid: int = NO_FID, fid: int = 0) -> Self:
        self.ask(104, struct.pack("<II", fid, afid) + text("") + text(aname) + struct.pack("<I", os.getuid()))
        return self

    def auth(self, afid: int, token: str) -> None:
        self.ask(102, struct.pack("<I", afid) + text("") + text("") + struct.pack("<I", os.getuid()))
        self.ask(118, struct.pack("<IQI", afid, 0, len(token)) + token.encode())

    def walk(self, path: str, fid: int = 0) -> int:
        """A new fid at the path."""
        names = [name for name in path.split("/") if name]
        self._next += 1
        found = self._next
        answer = self.ask(110, struct.pack("<IIH", fid, found, len(names)) + b"".join(map(text, names)))
        if struct.unpack_from("<H", answer)[0] != len(names):
            raise FileNotFoundError(2, os.strerror(2), path)
        return found

    def open(self, fid: int, flags: int = os.O_RDONLY) -> None:
        self.ask(12, struct.pack("<II", fid, flags))

    def create(self, fid: int, name: str, flags: int = _CREATE_FLAGS) -> None:
        self.ask(14, struct.pack("<I", fid) + text(name) + struct.pack("<III", flags, 0o644, 0))

    def pread(self, fid: int, offset: int, count: int) -> bytes:
        return self.ask(116, struct.pack("<IQI", fid, offset, count))[4:]

    def pwrite(self, fid: int, offset: int, data: bytes) -> int:
        answer = self.ask(118, struct.pack("<IQI", fid, offset, len(data)) + data)
        return int(struct.unpack("<I", answer)[0])

    def clunk(self, fid: int) -> None:
        self.ask(120, struct.pack("<I", fid))

    def fsync(self, fid: int) -> None:
        self.ask(50, struct.pack("<II", fid, 0))

    def flush(self, oldtag: int, tag: int = 9) -> None:
        self.send(108, struct.pack("<H", oldtag), tag)

    def getattr(self, fid: int) -> NinePAttributes:
        answer = self.ask(24, struct.pack("<IQ", fid, 0x7FF))
        _, kind, version, path, mode, uid, _ = struct.unpack_from("<QBIQIII", answer)
        _, _, size, _, _ = struct.unpack_from("<QQQQQ", answer, 33)
        mtime_s = struct.unpack_from("<Q", answer, 33 + 40 + 16)[0]
        return NinePAttributes(bool(kind & 0x80), path, version, mode, uid, size, mtime_s)

    def setattr_size(self, fid: int, size: int) -> None:
        self.ask(26, struct.pack("<IIIII", fid, 0x8, 0, 0, 0) + struct.pack("<QQQQQ", size, 0, 0, 0, 0))

    def readdir(self, fid: int, count: int = 8_192) -> list[str]:
        """The names in an open directory, without the dots."""
        found, offset = [], 0
        while data := self.ask(40, struct.pack("<IQI", fid, offset, count))[4:]:
            at = 0
            while at < len(data):
                offset, _, length = struct.unpack_from("<QBH", data, at + 13)
                at += 24 + length
                found.append(data[at - length : at].decode("utf-8", "surrogateescape"))
        return [name for name in found if name not in (".", "..")]

    def mkdir(self, fid: int, name: str) -> None:
        self.ask(72, struct.pack("<I", fid) + text(name) + struct.pack("<II", 0o755, 0))

    def unlink(self, fid: int, name: str, *, directory: bool = False) -> None:
        self.ask(76, struct.pack("<I", fid) + text(name) + struct.pack("<I", 0x200 if directory else 0))

    def rename(self, fid: int, name: str, target: int, new: str) -> None:
        self.ask(74, struct.pack("<I", fid) + text(name) + struct.pack("<I", target) + text(new))

    # -- whole files -----------------------------------------------------------------------------------------------

    def read(self, path: str) -> bytes:
        fid = self.walk(path)
        try:
            self.open(fid)
            parts: list[bytes] = []
            while part := self.pread(fid, sum(map(len, parts)), self.msize - 11):
                parts.append(part)
            return b"".join(parts)
        finally:
            self.clunk(fid)

    def write(self, path: str, data: bytes, flags: int = os.O_WRONLY | os.O_TRUNC) -> None:
        """As `>` of a shell does: the file is made if it is not there. A refusal of the commit is raised too."""
        try:
            fid = self.walk(path)
        except FileNotFoundError:
            above, _, name = path.rpartition("/")
            fid = self.walk(above)
            self._attempt(fid, lambda: self.create(fid, name))
        else:
            self._attempt(fid, lambda: self.open(fid, flags))
        try:
            at = 0
            while at < len(data):
                at += self.pwrite(fid, at, data[at : at + self.msize - 23])
            self.fsync(fid)
        except OSError:
            self._attempt(fid, lambda: self.clunk(fid))
            raise
        self.clunk(fid)

    def _attempt(self, fid: int, action: Callable[[], None]) -> None:
        """The fid goes, if the action is refused."""
        try:
            action()
        except OSError:
            with suppress(OSError):
                self.clunk(fid)
            raise

    def list(self, path: str) -> list[str]:
        fid = self.walk(path)
        try:
            self.open(fid)
            return self.readdir(fid)
        finally:
            self.clunk(fid)

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def text(value: str) -> bytes:
    """A string field."""
    raw = value.encode("utf-8", "surrogateescape")
    return struct.pack("<H", len(raw)) + raw


def body_of(reply: NinePReply, asked: int) -> bytes:
    """The body of the reply to a request of this type. Raises `OSError` for a refusal."""
    if reply.type == 7:
        number = int(struct.unpack("<I", reply.body)[0])
        raise OSError(number, os.strerror(number))
    assert reply.type == asked + 1, f"a reply of type {reply.type} to a request of type {asked}"
    return reply.body
