"""Stops that the log does not take, kept where this machine takes them until it does: a process that ends takes none
with it.

    <workspace>/.paos/stops-aside/<id>.json
    /var/tmp/paos-stops-<uid>/<hash of the workspace's path>/<id>.json    where the workspace takes no file
    /dev/shm/paos-stops-<uid>/…                                           where that does not either
    /dev/shm/paos-stops-<uid>/<hash…>/<id>-copy.json                      of a stop in force, while a kernel lives: its
                                                                          directory may be replaced, and it be killed

The path as it is said, and where its links lead, each have a hash: a link may lead elsewhere at the next start.

Every process of the workspace reads them all as it opens it: by its path, and by the path that it was served under
before, where nothing is by now. The workspace was moved, and stops of that path mean its robots too.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from worldfs.base.dir_reader import DirReader
from worldfs.base.durable import Root
from worldfs.base.errors import NotFound, WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object, as_text
from worldfs.storage.lease import KERNEL_LEASE
from worldfs.storage.revision import PRIVATE_DIR

ASIDE: Final = f"{PRIVATE_DIR}/stops-aside"
SHARED_PLACES: Final = ("/var/tmp", "/dev/shm")  # noqa: S108  # a directory there is used only if it is its user's own
_ENDING: Final = ".json"


class StopsAside:
    """Of one workspace. Usable from many threads; nothing that it cannot do is an error."""

    def __init__(self, workspace: Path, shared: tuple[str, ...] = SHARED_PLACES) -> None:
        self._workspace, self._shared = workspace, shared
        self._kept: dict[str, list[str]] = {}  # id → the files, of those that were kept or read here

    def keep(self, id: str, value: Mapping[str, object], *, copy: bool = False) -> str:
        """The file that has it, durable when this returns; "": nothing takes it. `copy`: only while the machine runs,
        and in no directory that is replaced with the workspace's."""
        if not copy and os.path.lexists(self.place_of(id)):  # not where its directory was replaced
            return self.place_of(id)
        data = json.dumps(dict(value), ensure_ascii=False).encode()
        inside, *outside = self._places(os.geteuid())
        for group in outside[-1:] if copy else (inside, *outside):
            kept = [path for root, folder in group if (path := self._put(root, f"{folder}/{id}{_ENDING}", data))]
            if kept:
                self._kept[id] = kept
                return kept[0]
        return ""

    def _put(self, root: Path, path: str, data: bytes) -> str:
        with suppress(OSError, WorldError):
            if root != self._workspace:
                with suppress(FileExistsError):
                    os.mkdir(root, 0o700)
                if not _is_own(root, {os.geteuid()}):
                    return ""
            place = Root(root)
            try:
                place.replace(path, data, private=True)
            finally:
                place.close()
            return str(root / path)
        return ""

    def place_of(self, id: str) -> str:
        return self._kept.get(id, [""])[0]

    def read(self) -> Iterator[Mapping[str, object]]:
        """Each as it was kept."""
        users = {0, os.geteuid()}
        with suppress(OSError):
            users.add(os.stat(self._workspace).st_uid)
        former = self._former_path()
        ours = dict.fromkeys(place for user in sorted(users) for group in self._places(user) for place in group)
        others = dict.fromkeys(
            place for user in sorted(users) if former for group in self._shared_places(user, former) for place in group
        )
        for root, folder in (*ours, *others):
            if root != self._workspace and not _is_own(root, users):
                continue
            with suppress(OSError, WorldError):  # hardly ever is there one
                reader = DirReader(root)
                for name in reader.folder(folder).names():
                    with suppress(OSError, WorldError, ValueError):
                        value = as_object(parse_json(reader.read(f"{folder}/{name}") or b""))
                        if value.get("id") == name.removesuffix(_ENDING):
                            if (root, folder) in ours:  # what is put back at the former path needs the others
                                self._kept.setdefault(str(value["id"]), []).append(str(root / folder / name))
                            yield value

    def drop(self, id: str) -> None:
        """The log has it. One that cannot be removed counts for nothing: the log knows its id."""
        for path in self._kept.pop(id, ()):
            with suppress(OSError, NotFound):
                os.unlink(path)

    def _places(self, user: int) -> Iterator[list[tuple[Path, str]]]:
        """Root and folder of each, in groups: a stop is kept in all of one group."""
        yield [(self._workspace, ASIDE)]
        yield from self._shared_places(user, os.path.abspath(self._workspace), os.path.realpath(self._workspace))

    def _shared_places(self, user: int, *paths: str) -> Iterator[list[tuple[Path, str]]]:
        names = [hashlib.sha256(os.fsencode(path)).hexdigest()[:32] for path in dict.fromkeys(paths)]
        for place in self._shared:
            yield [(Path(place, f"paos-stops-{user}"), name) for name in names]

    def _former_path(self) -> str:
        """Where the last kernel of this workspace served it; "": here, or something is there by now."""
        with suppress(OSError, WorldError, ValueError):
            path = as_text(as_object(parse_json(DirReader(self._workspace).read(KERNEL_LEASE) or b"")).get("root"))
            return "" if os.path.lexists(path) else path
        return ""


def _is_own(root: Path, users: set[int]) -> bool:
    """Whether it is a directory of one of these users: what another user has made there is not asked."""
    try:
        found = os.lstat(root)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid in users
