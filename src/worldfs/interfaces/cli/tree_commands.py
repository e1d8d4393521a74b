"""`paos rm`, `mkdir`, `mv`, `cp` and `grep`: commands on paths of the tree, local or over --connect."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from worldfs.base.errors import BadInput, NotFound, WorldError
from worldfs.tree.path import parse

from .command_context import CommandContext
from .exits import DONE, MISUSE, REFUSED

if TYPE_CHECKING:
    from worldfs.client.blocking import BlockingWorld as FarWorld
    from worldfs.world.world import World

DEPTH_MAX: Final = 64  # nested directories: links are followed
NOT_EMPTY: Final = "not empty"
CONSUMED_EVENTS: Final = "/agents/self/events"  # reading these consumes events


class FoundPath(NamedTuple):
    path: str
    directory: bool

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


class CommandTree(Protocol):
    """The operations that these commands need of a tree; all raise `WorldError`."""

    def resolve(self, name: str) -> FoundPath: ...
    def children(self, path: str) -> list[FoundPath]: ...
    def read(self, path: str) -> bytes: ...
    def write(self, path: str, data: bytes) -> None: ...
    def remove(self, path: str) -> None: ...
    def mkdir(self, name: str) -> str: ...
    def rename(self, path: str, new: str) -> None: ...
    def path_of(self, name: str) -> str: ...


class _LocalTree:
    """The tree of a home on this disk, with the rights of --as."""

    def __init__(self, world: World, actor: str) -> None:
        self._tree, self._world, self._actor = world.tree, world, actor

    def path_of(self, name: str) -> str:
        return self._world.resolve(name)

    def resolve(self, name: str) -> FoundPath:
        entry = self._tree.stat(self.path_of(name), self._actor)
        return FoundPath(entry.path, entry.directory)

    def children(self, path: str) -> list[FoundPath]:
        return [FoundPath(entry.path, entry.directory) for entry in self._tree.list(path, self._actor)]

    def read(self, path: str) -> bytes:
        return self._tree.read(path, self._actor)

    def write(self, path: str, data: bytes) -> None:
        self._tree.write(path, data, self._actor)

    def remove(self, path: str) -> None:
        self._tree.remove(path, self._actor)

    def mkdir(self, name: str) -> str:
        path = self.path_of(name)
        self._tree.mkdir(path, self._actor)
        return path

    def rename(self, path: str, new: str) -> None:
        self._tree.rename(path, self._actor, new)


class _RemoteTree:
    """A served tree, with the rights of the token."""

    def __init__(self, world: FarWorld) -> None:
        self._world = world

    def path_of(self, name: str) -> str:
        return parse(name)

    def resolve(self, name: str) -> FoundPath:
        place = self._world.stat(self.path_of(name))
        return FoundPath(place.path, place.directory)

    def children(self, path: str) -> list[FoundPath]:
        return [FoundPath(place.path, place.directory) for place in self._world.entries(path)]

    def read(self, path: str) -> bytes:
        return self._world.read(path, wait=0)

    def write(self, path: str, data: bytes) -> None:
        self._world.write(path, data, replace=True, create=True)

    def remove(self, path: str) -> None:
        self._world.remove(path)

    def mkdir(self, name: str) -> str:
        path = self.path_of(name)
        self._world.mkdir(path)
        return path

    def rename(self, path: str, new: str) -> None:
        self._world.rename(path, new)


@contextmanager
def _tree(context: CommandContext) -> Iterator[CommandTree]:
    if context["connect"]:
        from .connect_commands import open_connection

        with open_connection(context) as far:
            yield _RemoteTree(far)
    else:
        with context.open() as world:
            yield _LocalTree(world, context.actor)


def _with_tree(command: Callable[[CommandContext, CommandTree], int]) -> Callable[[CommandContext], int]:
    @wraps(command)
    def run(context: CommandContext) -> int:
        with _tree(context) as tree:
            return command(context, tree)

    return run


@_with_tree
def rm(context: CommandContext, tree: CommandTree) -> int:
    for name in context["path"]:
        found = tree.resolve(name)
        if found.directory and not context["recursive"]:
            raise BadInput("it is a directory", path=found.path, op="rm", fix="paos rm -r removes what is in it, too")
        for each in _to_remove(tree, found):
            tree.remove(each.path)
            context.output.report(f"{each.path}: removed", {"path": each.path, "removed": True})
    return DONE


@_with_tree
def mkdir(context: CommandContext, tree: CommandTree) -> int:
    for name in context["path"]:
        path = tree.mkdir(name)
        context.output.report(f"{path}: made", {"path": path, "made": True})
    return DONE


@_with_tree
def mv(context: CommandContext, tree: CommandTree) -> int:
    found = tree.resolve(context["source"])
    new = _into(tree, found, context["destination"])
    tree.rename(found.path, new)
    context.output.report(f"{found.path} → {new}", {"path": found.path, "to": new})
    return DONE


@_with_tree
def cp(context: CommandContext, tree: CommandTree) -> int:
    sources, target = [tree.resolve(name) for name in context["source"]], context["destination"]
    if len(sources) > 1 and not _directory(tree, target):
        raise BadInput("not a directory", path=tree.path_of(target), op="cp", expected="a directory, for several files")
    for found in sources:
        if found.directory and not context["recursive"]:
            raise BadInput("it is a directory", path=found.path, op="cp", fix="paos cp -r copies what is in it, too")
        new = _into(tree, found, target)
        if f"{new}/".startswith(f"{found.path}/"):
            raise BadInput("cannot be copied into itself", path=new, op="cp")
        for each in list(_below(tree, found)):
            to = new + each.path[len(found.path) :]
            if each.directory:
                _made(tree, to)
            else:
                tree.write(to, tree.read(each.path))
                context.output.report(f"{each.path} → {to}", {"path": each.path, "to": to})
    return DONE


@_with_tree
def grep(context: CommandContext, tree: CommandTree) -> int:
    """Exit 0 if a line matches, 1 if none does, 2 if something could not be read."""
    try:
        pattern = re.compile(context["pattern"].encode(), re.IGNORECASE if context["ignore_case"] else 0)
    except re.error as error:
        found = f"{context['pattern']!r} is not a regular expression: {error}"
        raise BadInput(found, op="grep", fix="a \\ before ( [ { * + ? . $ ^ | takes it as it is") from None
    fits, failed = False, False
    for name in context["path"] or ["/"]:
        top = tree.resolve(name)
        for each in _below(tree, top):
            if each.directory or each.path.startswith(CONSUMED_EVENTS):
                continue
            try:
                data = tree.read(each.path)
            except WorldError as error:
                if not top.directory:
                    raise
                if not isinstance(error, NotFound):  # removed meanwhile, or not readable
                    failed = True
                    context.output.notice(f"paos: {error}")
                continue
            fits = _lines(context, each.path, data, pattern) or fits
    return MISUSE if failed else DONE if fits else REFUSED


def _lines(context: CommandContext, path: str, data: bytes, pattern: re.Pattern[bytes]) -> bool:
    found = False
    if b"\0" in data[:8192]:
        return False  # no text
    for number, line in enumerate(data.splitlines(), 1):
        if pattern.search(line):
            found = True
            text = line.decode("utf-8", "replace")
            if context["files"]:
                context.output.report(path, {"path": path})
                break
            context.output.report(f"{path}:{number}:{text}", {"path": path, "line": number, "text": text})
    return found


def _below(tree: CommandTree, top: FoundPath, *, last: bool = False, depth: int = 0) -> Iterator[FoundPath]:
    """A path and all below it; `last`: a directory after its content."""
    if not last:
        yield top
    if top.directory and depth < DEPTH_MAX:
        for each in tree.children(top.path):
            yield from _below(tree, each, last=last, depth=depth + 1)
    if last:
        yield top


def _to_remove(tree: CommandTree, top: FoundPath) -> list[FoundPath]:
    """What is removed with it, itself last. A directory that may not be removed is refused before its content is
    removed."""
    found = list(_below(tree, top, last=True))
    if len(found) > 1:
        try:
            tree.remove(top.path)
        except WorldError as error:
            if NOT_EMPTY not in error.found.lower():
                raise
    return found


def _directory(tree: CommandTree, name: str) -> bool:
    try:
        return tree.resolve(name).directory
    except NotFound:
        return False


def _into(tree: CommandTree, found: FoundPath, target: str) -> str:
    """The destination: below an existing directory under its own name, else the path itself."""
    path = tree.path_of(target)
    return f"{path.rstrip('/')}/{found.name}" if _directory(tree, target) else path


def _made(tree: CommandTree, path: str) -> None:
    """A directory, if there is none."""
    if not _directory(tree, path):
        tree.mkdir(path)
