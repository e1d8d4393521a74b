"""The file system of bashkit's interpreter, in Python: its stable C interface for native extensions, filled by ctypes.

bashkit takes a foreign file system as a `PyCapsule` (`FileSystem.from_capsule`): a pointer to a versioned handle with a
table of functions. Source: bashkit 0.20, `interop/fs.rs`, ABI version 1. Its threads call the functions; ctypes takes
the GIL for each. Nothing may be raised through them: every error is a kind and a sentence.
"""

from __future__ import annotations

import ctypes
import errno
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import WorldError
from worldfs.base.messages.message_rendering import error_message
from worldfs.interfaces.posix.posix_entry import PosixEntry
from worldfs.interfaces.posix.posix_errors import errno_of

if TYPE_CHECKING:
    from .shell_files import ShellFiles

CAPSULE: Final = b"bashkit.FileSystem.v1"
ABI_VERSION: Final = 1
_OK, _FAILED = 0, 1
_FILE, _DIRECTORY = 0, 1
_LOG: Final = logging.getLogger("worldfs.shell")
_KINDS: Final = {  # errno → the kind of an error
    errno.ENOENT: 1, errno.EEXIST: 2, errno.EACCES: 3, errno.EPERM: 3, errno.EROFS: 3, errno.EINVAL: 4,
    errno.EISDIR: 5, errno.ENOTDIR: 6, errno.ENOTEMPTY: 7, errno.ENOSYS: 8, errno.EOPNOTSUPP: 8,
}  # fmt: skip


class _Bytes(ctypes.Structure):
    _fields_ = (("start", ctypes.c_void_p), ("length", ctypes.c_size_t))


class _Failure(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_uint32), ("message", _Bytes))


class _Metadata(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_uint8),
        ("reserved", ctypes.c_uint8 * 7),
        ("size", ctypes.c_uint64),
        ("mode", ctypes.c_uint32),
        ("modified_s", ctypes.c_int64),
        ("modified_ns", ctypes.c_uint32),
        ("created_s", ctypes.c_int64),
        ("created_ns", ctypes.c_uint32),
    )


class _NamedEntry(ctypes.Structure):
    _fields_ = (("name", _Bytes), ("metadata", _Metadata))


if TYPE_CHECKING:
    _BytesPointer = ctypes._Pointer[_Bytes]
    _BoolPointer = ctypes._Pointer[ctypes.c_bool]
    _FailurePointer = ctypes._Pointer[_Failure]
    _MetadataPointer = ctypes._Pointer[_Metadata]

_Pointer = ctypes.c_void_p
_OUT_BYTES = ctypes.POINTER(_Bytes)


def _verb(*arguments: type) -> type:
    """A function of the table: the instance, the arguments, and where a failure is put."""
    return ctypes.CFUNCTYPE(ctypes.c_uint32, _Pointer, *arguments, ctypes.POINTER(_Failure))


_RELEASE = ctypes.CFUNCTYPE(None, _Pointer)
_TABLE: Final = (  # in the order of the interface
    ("read_file", _verb(_Bytes, _OUT_BYTES)),
    ("write_file", _verb(_Bytes, _Bytes)),
    ("append_file", _verb(_Bytes, _Bytes)),
    ("mkdir", _verb(_Bytes, ctypes.c_bool)),
    ("remove", _verb(_Bytes, ctypes.c_bool)),
    ("stat", _verb(_Bytes, ctypes.POINTER(_Metadata))),
    ("read_dir", _verb(_Bytes, _OUT_BYTES)),
    ("exists", _verb(_Bytes, ctypes.POINTER(ctypes.c_bool))),
    ("rename", _verb(_Bytes, _Bytes)),
    ("copy", _verb(_Bytes, _Bytes)),
    ("symlink", _verb(_Bytes, _Bytes)),
    ("read_link", _verb(_Bytes, _OUT_BYTES)),
    ("chmod", _verb(_Bytes, ctypes.c_uint32)),
    ("free_bytes", ctypes.CFUNCTYPE(None, _Pointer, _Bytes)),
    ("free_dir_entries", ctypes.CFUNCTYPE(None, _Pointer, _Bytes)),
)


class _FunctionTable(ctypes.Structure):
    _fields_ = _TABLE


class _Handle(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("instance", _Pointer),
        ("retain", _RELEASE),
        ("release", _RELEASE),
        ("table", ctypes.POINTER(_FunctionTable)),
    )


class BashFilesystem:
    """`capsule` is for `bashkit.FileSystem.from_capsule`. The object must live until the interpreter has let go of it:
    `users` is 0 then."""

    def __init__(self, files: ShellFiles) -> None:
        self._files = files
        self.users = 0
        self._lock = threading.Lock()
        self._lent: dict[int, object] = {}  # buffers that the interpreter has not given back, by address
        self._table = _FunctionTable(**{name: kind(getattr(self, f"_{name}")) for name, kind in _TABLE})
        self._retain, self._release = _RELEASE(lambda _: self._count(1)), _RELEASE(lambda _: self._count(-1))
        self._handle = _Handle(ABI_VERSION, 0, 1, self._retain, self._release, ctypes.pointer(self._table))

    @property
    def capsule(self) -> object:
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        made: object = make(ctypes.addressof(self._handle), CAPSULE, None)
        return made

    def _count(self, by: int) -> None:
        with self._lock:
            self.users += by

    # -- the table ----------------------------------------------------------------------------------------------------

    def _read_file(self, _: int, path: _Bytes, out: _BytesPointer, failure: _FailurePointer) -> int:
        def work() -> None:
            out[0] = self._lend(self._files.read(_path(path)))

        return self._answer(work, failure)

    def _write_file(self, _: int, path: _Bytes, data: _Bytes, failure: _FailurePointer) -> int:
        return self._answer(lambda: self._files.write(_path(path), _data(data)), failure)

    def _append_file(self, _: int, path: _Bytes, data: _Bytes, failure: _FailurePointer) -> int:
        return self._answer(lambda: self._files.write(_path(path), _data(data), append=True), failure)

    def _mkdir(self, _: int, path: _Bytes, parents: bool, failure: _FailurePointer) -> int:
        return self._answer(lambda: self._files.mkdir(_path(path), parents=parents), failure)

    def _remove(self, _: int, path: _Bytes, recursive: bool, failure: _FailurePointer) -> int:
        return self._answer(lambda: self._files.remove(_path(path), recursive=recursive), failure)

    def _stat(self, _: int, path: _Bytes, out: _MetadataPointer, failure: _FailurePointer) -> int:
        def work() -> None:
            out[0] = _metadata(self._files.look(_path(path)))

        return self._answer(work, failure)

    def _read_dir(self, _: int, path: _Bytes, out: _BytesPointer, failure: _FailurePointer) -> int:
        def work() -> None:
            found = self._files.entries(_path(path))
            entries = (_NamedEntry * len(found))()
            names = [ctypes.create_string_buffer(raw, len(raw)) for raw in (_raw(name) for name, _ in found)]
            for at, (buffer, (_, entry)) in enumerate(zip(names, found, strict=True)):
                entries[at] = _NamedEntry(_Bytes(ctypes.addressof(buffer), len(buffer)), _metadata(entry))
            out[0] = self._keep(ctypes.addressof(entries), len(found), (entries, names)) if found else _Bytes(None, 0)

        return self._answer(work, failure)

    def _exists(self, _: int, path: _Bytes, out: _BoolPointer, failure: _FailurePointer) -> int:
        def work() -> None:
            try:
                self._files.look(_path(path))
            except WorldError as error:
                if errno_of(error) not in (errno.ENOENT, errno.ENOTDIR):
                    raise
                out[0] = False
            else:
                out[0] = True

        return self._answer(work, failure)

    def _rename(self, _: int, old: _Bytes, new: _Bytes, failure: _FailurePointer) -> int:
        return self._answer(lambda: self._files.rename(_path(old), _path(new)), failure)

    def _copy(self, _: int, path: _Bytes, new: _Bytes, failure: _FailurePointer) -> int:
        return self._answer(lambda: self._files.copy(_path(path), _path(new)), failure)

    def _symlink(self, _: int, target: _Bytes, path: _Bytes, failure: _FailurePointer) -> int:
        return self._answer(lambda: self._files.refuse_link(_path(path)), failure)

    def _read_link(self, _: int, path: _Bytes, out: _BytesPointer, failure: _FailurePointer) -> int:
        return self._answer(lambda: self._files.refuse_link(_path(path)), failure)

    def _chmod(self, _: int, path: _Bytes, mode: int, failure: _FailurePointer) -> int:
        """Taken and not kept: rights come from the tree."""
        return self._answer(lambda: self._files.look(_path(path)), failure)

    def _free_bytes(self, _: int, lent: _Bytes) -> None:
        self._lent.pop(lent.start or 0, None)

    _free_dir_entries = _free_bytes

    # -- inside -------------------------------------------------------------------------------------------------------

    def _answer(self, work: Callable[[], object], failure: _FailurePointer) -> int:
        try:
            work()
        except BaseException as error:
            number = errno_of(error)
            if isinstance(error, WorldError):
                error.path = ""  # the command names it
                text = str(error_message(error))
            else:
                _LOG.error("a file operation of the shell broke", exc_info=error)
                text = "internal error"
            failure[0] = _Failure(_KINDS.get(number, 0), self._lend(_raw(text)))
            return _FAILED
        return _OK

    def _lend(self, data: bytes) -> _Bytes:
        """Bytes that the interpreter gives back."""
        if not data:
            return _Bytes(None, 0)
        buffer = ctypes.create_string_buffer(data, len(data))
        return self._keep(ctypes.addressof(buffer), len(data), buffer)

    def _keep(self, address: int, length: int, owner: object) -> _Bytes:
        self._lent[address] = owner
        return _Bytes(address, length)


def _data(given: _Bytes) -> bytes:
    return ctypes.string_at(given.start, given.length) if given.length else b""


def _path(given: _Bytes) -> str:
    return _data(given).decode("utf-8", "surrogateescape") or "/"


def _raw(text: str) -> bytes:
    """The interpreter's strings are UTF-8: what is none is replaced."""
    return text.encode("utf-8", "replace")


def _metadata(entry: PosixEntry) -> _Metadata:
    type = _DIRECTORY if entry.directory else _FILE
    second, nano = divmod(entry.mtime_ns, 1_000_000_000)
    return _Metadata(
        type,
        (ctypes.c_uint8 * 7)(),
        0 if entry.directory else entry.size,
        entry.mode & 0o7777,
        second,
        nano,
        second,
        nano,
    )
