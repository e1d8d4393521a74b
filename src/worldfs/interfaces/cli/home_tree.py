"""The tree of a home on this disk, with the rights of --as."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from worldfs.storage.store_interface import ANY

from .command_tree import Trouble, below

if TYPE_CHECKING:
    from worldfs.tree.verb_values import Stat, Written
    from worldfs.world.world import World


class HomeTree:
    """The namespace of a file role (`command_tree.CommandTree`)."""

    sized = False  # a size would need each computed file to be rendered

    def __init__(self, world: World, role: str, name: str = "") -> None:
        """`name`: the actor's, where it is not simply a process in that role."""
        self._world, self._role, self._namespace = world, role, world.namespace(role, name)

    def path_of(self, name: str) -> str:
        return self._world.resolve(name)

    def start(self) -> Sequence[str]:
        """Where files with short names are: the directories in which `World.resolve` looks, in its order."""
        project = self._world.resolve("ENVIRONMENT.md").rpartition("/")[0]
        return [project, *(f"/nodes/{spec.id}" for spec in self._world.specs)]

    def names(self, path: str) -> Iterable[str]:
        found = [f"{path.rstrip('/')}/{name}" for name in self._namespace.list(path)]
        if path == "/":
            found += [name for directory in self.start() for name in self._namespace.list(directory)]
        return found

    def stat(self, path: str) -> Stat:
        return self._namespace.stat(path)

    def entries(self, path: str) -> Sequence[Stat]:
        return self._namespace.walk(path).entries(sized=False)

    def walk(self, path: str, depth: int, trouble: Trouble) -> Iterator[Stat]:
        return below(self, self._namespace.walk(path).stat(sized=False), trouble, depth=depth)

    def read(self, path: str, *, block: bool = False) -> bytes:
        return self._namespace.read(path).data

    def write(self, path: str, data: bytes, expect: str = "") -> Written:
        return self._namespace.write(path, data, expect=expect or ANY)

    def wait(self, path: str, until: str, timeout: float | None) -> bool:
        first: list[bytes | None] = []

        def ready(found: bytes | None) -> bool:
            if until:
                return found is not None and until.encode() in found
            first.append(found)
            return found != first[0]

        return self._world.changes.wait(path, self._role, ready, timeout=timeout)

    def mkdir(self, path: str) -> None:
        above, _, name = path.rpartition("/")
        self._namespace.walk(above or "/").create(name, directory=True)

    def remove(self, path: str) -> None:
        above, _, name = path.rpartition("/")
        self._namespace.walk(above or "/").remove(name)

    def rename(self, path: str, new: str) -> None:
        (above, _, name), (target, _, other) = path.rpartition("/"), new.rpartition("/")
        self._namespace.walk(above or "/").rename(name, self._namespace.walk(target or "/"), other)
