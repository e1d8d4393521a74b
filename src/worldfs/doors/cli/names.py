"""`paos rm`, `mkdir`, `mv`, `cp` and `grep`: names and words of the tree, on this disk or over --connect, alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from worldfs.ground.errors import BadInput, NotFound, WorldError

from .call import Call
from .exits import DONE, MISUSE, REFUSED

if TYPE_CHECKING:
    from worldfs.remote.blocking import World as FarWorld
    from worldfs.world.world import World

DEEPEST: Final = 64  # directories on one way: links are walked through
NOT_EMPTY: Final = "not empty"
GIVEN_AWAY: Final = "/agents/self/events"  # whoever reads there takes what happened


class Found(NamedTuple):
    path: str
    directory: bool

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


class Tree(Protocol):
    """What these commands ask of a tree; all of it raises `WorldError`."""

    def find(self, name: str) -> Found: ...
    def inside(self, path: str) -> list[Found]: ...
    def read(self, path: str) -> bytes: ...
    def write(self, path: str, data: bytes) -> None: ...
    def remove(self, path: str) -> None: ...
    def mkdir(self, name: str) -> str: ...
    def rename(self, path: str, new: str) -> None: ...
    def place(self, name: str) -> str: ...


class _Here:
    """The tree of a home on this disk, with the rights of --as."""

    def __init__(self, world: World, actor: str) -> None:
        self._tree, self._world, self._actor = world.tree, world, actor

    def place(self, name: str) -> str:
        return self._world.resolve(name)

    def find(self, name: str) -> Found:
        entry = self._tree.stat(self.place(name), self._actor)
        return Found(entry.path, entry.directory)

    def inside(self, path: str) -> list[Found]:
        return [Found(entry.path, entry.directory) for entry in self._tree.list(path, self._actor)]

    def read(self, path: str) -> bytes:
        return self._tree.read(path, self._actor)

    def write(self, path: str, data: bytes) -> None:
        self._tree.write(path, data, self._actor)

    def remove(self, path: str) -> None:
        self._tree.remove(path, self._actor)

    def mkdir(self, name: str) -> str:
        path = self.place(name)
        self._tree.mkdir(path, self._actor)
        return path

    def rename(self, path: str, new: str) -> None:
        self._tree.rename(path, self._actor, new)


class _There:
    """A served tree, with the rights of the token."""

    def __init__(self, world: FarWorld) -> None:
        self._world = world

    def place(self, name: str) -> str:
        from worldfs.tree.path import parse

        return parse(name)

    def find(self, name: str) -> Found:
        place = self._world.stat(self.place(name))
        return Found(place.path, place.directory)

    def inside(self, path: str) -> list[Found]:
        return [Found(place.path, place.directory) for place in self._world.entries(path)]

    def read(self, path: str) -> bytes:
        return self._world.read(path, wait=0)

    def write(self, path: str, data: bytes) -> None:
        self._world.write(path, data, replace=True, create=True)

    def remove(self, path: str) -> None:
        self._world.remove(path)

    def mkdir(self, name: str) -> str:
        path = self.place(name)
        self._world.mkdir(path)
        return path

    def rename(self, path: str, new: str) -> None:
        self._world.rename(path, new)


@contextmanager
def _tree(call: Call) -> Iterator[Tree]:
    if call["connect"]:
        from .connect import dial

        with dial(call) as far:
            yield _There(far)
    else:
        with call.open() as world:
            yield _Here(world, call.actor)


def _with_tree(command: Callable[[Call, Tree], int]) -> Callable[[Call], int]:
    @wraps(command)
    def run(call: Call) -> int:
        with _tree(call) as tree:
            return command(call, tree)

    return run


@_with_tree
def rm(call: Call, tree: Tree) -> int:
    for name in call["path"]:
        found = tree.find(name)
        if found.directory and not call["recursive"]:
            raise BadInput("it is a directory", path=found.path, op="rm", fix="paos rm -r removes what is in it, too")
        for each in _to_remove(tree, found):
            tree.remove(each.path)
            call.voice.say(f"{each.path}: removed", {"path": each.path, "removed": True})
    return DONE


@_with_tree
def mkdir(call: Call, tree: Tree) -> int:
    for name in call["path"]:
        path = tree.mkdir(name)
        call.voice.say(f"{path}: made", {"path": path, "made": True})
    return DONE


@_with_tree
def mv(call: Call, tree: Tree) -> int:
    found = tree.find(call["source"])
    new = _into(tree, found, call["destination"])
    tree.rename(found.path, new)
    call.voice.say(f"{found.path} → {new}", {"path": found.path, "to": new})
    return DONE


@_with_tree
def cp(call: Call, tree: Tree) -> int:
    sources, target = [tree.find(name) for name in call["source"]], call["destination"]
    if len(sources) > 1 and not _directory(tree, target):
        raise BadInput(
            "it is no directory", path=tree.place(target), op="cp", expected="a directory, for several files"
        )
    for found in sources:
        if found.directory and not call["recursive"]:
            raise BadInput("it is a directory", path=found.path, op="cp", fix="paos cp -r copies what is in it, too")
        new = _into(tree, found, target)
        if f"{new}/".startswith(f"{found.path}/"):
            raise BadInput("it would be copied into itself", path=new, op="cp")
        for each in list(_below(tree, found)):
            to = new + each.path[len(found.path) :]
            if each.directory:
                _made(tree, to)
            else:
                tree.write(to, tree.read(each.path))
                call.voice.say(f"{each.path} → {to}", {"path": each.path, "to": to})
    return DONE


@_with_tree
def grep(call: Call, tree: Tree) -> int:
    """Exit 0 if a line fits, 1 if none does, 2 if something could not be read."""
    try:
        pattern = re.compile(call["pattern"].encode(), re.IGNORECASE if call["ignore_case"] else 0)
    except re.error as error:
        found = f"{call['pattern']!r} is no regular expression: {error}"
        raise BadInput(found, op="grep", fix="a \\ before ( [ { * + ? . $ ^ | takes it as it is") from None
    fits, failed = False, False
    for name in call["path"] or ["/"]:
        top = tree.find(name)
        for each in _below(tree, top):
            if each.directory or each.path.startswith(GIVEN_AWAY):
                continue
            try:
                data = tree.read(each.path)
            except WorldError as error:
                if not top.directory:
                    raise
                if not isinstance(error, NotFound):  # gone meanwhile, or never to be read
                    failed = True
                    call.voice.aside(f"paos: {error}")
                continue
            fits = _lines(call, each.path, data, pattern) or fits
    return MISUSE if failed else DONE if fits else REFUSED


def _lines(call: Call, path: str, data: bytes, pattern: re.Pattern[bytes]) -> bool:
    found = False
    if b"\0" in data[:8192]:
        return False  # no text
    for number, line in enumerate(data.splitlines(), 1):
        if pattern.search(line):
            found = True
            text = line.decode("utf-8", "replace")
            if call["files"]:
                call.voice.say(path, {"path": path})
                break
            call.voice.say(f"{path}:{number}:{text}", {"path": path, "line": number, "text": text})
    return found


def _below(tree: Tree, top: Found, *, last: bool = False, depth: int = 0) -> Iterator[Found]:
    """A place and all below it; `last`: a directory after what is in it."""
    if not last:
        yield top
    if top.directory and depth < DEEPEST:
        for each in tree.inside(top.path):
            yield from _below(tree, each, last=last, depth=depth + 1)
    if last:
        yield top


def _to_remove(tree: Tree, top: Found) -> list[Found]:
    """What goes with it, itself last. A directory that may not go is refused before anything in it has gone."""
    found = list(_below(tree, top, last=True))
    if len(found) > 1:
        try:
            tree.remove(top.path)
        except WorldError as error:
            if NOT_EMPTY not in error.found.lower():
                raise
    return found


def _directory(tree: Tree, name: str) -> bool:
    try:
        return tree.find(name).directory
    except NotFound:
        return False


def _into(tree: Tree, found: Found, target: str) -> str:
    """Where it goes: into a directory that is there under its own name, else to the very path."""
    path = tree.place(target)
    return f"{path.rstrip('/')}/{found.name}" if _directory(tree, target) else path


def _made(tree: Tree, path: str) -> None:
    """A directory, if there is none."""
    if not _directory(tree, path):
        tree.mkdir(path)
