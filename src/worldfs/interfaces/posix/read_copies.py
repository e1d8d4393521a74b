"""Copies of what was read of a served tree, on this disk: for its reader alone, and within a bound."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final, NamedTuple

from worldfs.base.durable import Root
from worldfs.base.errors import BadInput, WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object
from worldfs.base.messages import coded
from worldfs.tree.row_table import FileKind
from worldfs.tree.verb_values import Stat

COPY_MOST: Final = 8 << 20  # bytes of one copy
COPIES_MOST: Final = 128 << 20  # bytes of all of them


class ReadCopy(NamedTuple):
    """What was at a path when it was read. `names`: of a directory that was listed; a name that ends in "/" is one."""

    stat: Stat
    read_at: str
    data: bytes | None = None
    names: tuple[str, ...] | None = None


class ReadCopies:
    """One file for each path, which only this user may read. Nothing is awaited here: call it in a thread."""

    def __init__(self, directory: Path, most: int = COPIES_MOST) -> None:
        """Raises `BadInput` for a directory that others may read."""
        Root.build(directory, 0o700)
        found = os.stat(directory)
        if found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise BadInput(
                coded("posix.cache_not_private"), path=str(directory), op="mount", fix=coded("posix.private")
            )
        self._root, self._most = Root(directory), most
        self._bytes = sum(size for _, size, _ in self._files())  # an estimate: others may add and remove

    def close(self) -> None:
        self._root.close()

    def get(self, path: str) -> ReadCopy | None:
        """None: it was never read, or its copy was given up or is damaged."""
        whole = self._root.read(_key(path))
        with suppress(ValueError, KeyError, TypeError, WorldError):
            head, _, data = (whole or b"").partition(b"\n")
            said = as_object(parse_json(head))
            if said["path"] == path:
                return _parsed(said, data)
        return None

    def put(self, path: str, copy: ReadCopy) -> None:
        """A content that is too large is left out."""
        data = copy.data if copy.data is not None and len(copy.data) <= COPY_MOST else None
        stat = copy.stat
        head: dict[str, object] = {
            "path": path, "read_at": copy.read_at, "directory": stat.directory, "size": stat.size,
            "writable": stat.writable, "revision": stat.revision, "mtime_ms": stat.mtime_ms,
            "kind": stat.kind, "names": copy.names, "content": data is not None,
        }  # fmt: skip
        whole = json.dumps(head).encode() + b"\n" + (data or b"")
        self._root.replace(_key(path), whole, private=True, durable=False)
        self._bytes += len(whole)
        if self._bytes > self._most:
            self._shrink()

    def forget(self, path: str) -> None:
        with suppress(OSError, WorldError):
            self._root.remove(_key(path))

    def _shrink(self) -> None:
        """Give up the copies that were made longest ago, down to three quarters of the bound."""
        files = sorted(self._files())
        self._bytes = sum(size for _, size, _ in files)
        for _, size, name in files:
            if self._bytes <= self._most * 3 // 4:
                break
            with suppress(OSError, WorldError):
                self._root.remove(name)
            self._bytes -= size

    def _files(self) -> list[tuple[int, int, str]]:
        """When each was made, its size and its name."""
        found = []
        with os.scandir(self._root.path) as entries:
            for entry in entries:
                with suppress(OSError):
                    info = entry.stat(follow_symlinks=False)
                    found.append((info.st_mtime_ns, info.st_size, entry.name))
        return found


def directory_of(environ: Mapping[str, str], *whose: str) -> Path:
    """Where the copies of one reader are. `whose`: server, token and binding; the name does not reveal them."""
    above = Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    name = blake2b("\0".join(whose).encode(), digest_size=16).hexdigest()
    return above / "paos" / "offline" / name


def _key(path: str) -> str:
    return blake2b(path.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def _parsed(said: dict[str, object], data: bytes) -> ReadCopy:
    kind, names = said["kind"], said["names"]
    stat = Stat(
        bool(said["directory"]),
        int(str(said["size"])),
        bool(said["writable"]),
        str(said["revision"]),
        int(str(said["mtime_ms"])),
        FileKind(str(kind)) if kind else None,
    )
    listed = tuple(str(name) for name in names) if isinstance(names, list) else None
    return ReadCopy(stat, str(said["read_at"]), data if said["content"] else None, listed)
