"""Stops that the log does not take, kept where this machine takes them until it does: a process that ends takes none
with it.

    <workspace>/.paos/stops-aside/<id>.json
    /var/tmp/paos-stops-<uid>/<hash of the workspace's path>/<id>.json    where the workspace takes no file
    /dev/shm/paos-stops-<uid>/…                                           where that does not either
    /dev/shm/paos-stops-<uid>/<hash…>/<id>-copy.json                      of a stop in force, while a kernel lives: its
                                                                          directory may be replaced, and it be killed

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
        self._kept: dict[str, str] = {}  # id → the file, of those that were kept or read here

    def keep(self, id: str, value: Mapping[str, object], *, copy: bool = False) -> str:
        """The file that has it, durable when this returns; "": nothing takes it. `copy`: only while the machine runs,
        and in no directory that is replaced with the workspace's."""
        if not copy and os.path.lexists(self._kept.get(id, "")):  # not where its directory was replaced
            return self._kept[id]
        data = json.dumps(dict(value), ensure_ascii=False).encode()
        places = [*self._places(os.geteuid())]
        for root, folder in places[-1:] if copy else places:
            path = f"{folder}/{id}{_ENDING}"
            with suppress(OSError, WorldError):
                if root != self._workspace:
                    with suppress(FileExistsError):
                        os.mkdir(root, 0o700)
                if not _is_own(root, {os.geteuid()}) and root != self._workspace:
                    continue
                place = Root(root)
                try:
                    place.replace(path, data, private=True)
                finally:
                    place.close()
                self._kept[id] = str(root / path)
                return self._kept[id]
        return ""

    def place_of(self, id: str) -> str:
        return self._kept.get(id, "")

    def read(self) -> Iterator[Mapping[str, object]]:
        """Each as it was kept."""
        users = {0, os.geteuid()}
        with suppress(OSError):
            users.add(os.stat(self._workspace).st_uid)
        former = self._former_path()
        ours = dict.fromkeys(place for user in sorted(users) for place in self._places(user))
        others = dict.fromkeys(place for user in sorted(users) if former for place in self._shared_places(user, former))
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
                                self._kept[str(value["id"])] = str(root / folder / name)
                            yield value

    def drop(self, id: str) -> None:
        """The log has it. One that cannot be removed counts for nothing: the log knows its id."""
        if (path := self._kept.pop(id, "")) != "":
            with suppress(OSError, NotFound):
                os.unlink(path)

    def _places(self, user: int) -> Iterator[tuple[Path, str]]:
        """Root and folder of each."""
        yield self._workspace, ASIDE
        yield from self._shared_places(user, os.path.realpath(self._workspace))

    def _shared_places(self, user: int, path: str) -> Iterator[tuple[Path, str]]:
        name = hashlib.sha256(os.fsencode(path)).hexdigest()[:32]
        for place in self._shared:
            yield Path(place, f"paos-stops-{user}"), name

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
