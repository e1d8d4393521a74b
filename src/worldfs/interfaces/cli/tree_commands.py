"""`paos rm`, `mkdir`, `mv`, `cp` and `grep`: commands on paths of the tree, local or over --connect."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import BadInput, NotFound, WorldError
from worldfs.base.messages import coded

from .command_context import CommandContext
from .command_tree import CommandTree, Unread, below, open_tree
from .exits import DONE, MISUSE, REFUSED

if TYPE_CHECKING:
    from worldfs.tree.verb_values import Stat

NOT_EMPTY: Final = "not empty"
CONSUMED_EVENTS: Final = "/agents/self/events"  # reading these consumes events


def _with_tree(command: Callable[[CommandContext, CommandTree], int]) -> Callable[[CommandContext], int]:
    @wraps(command)
    def run(context: CommandContext) -> int:
        with open_tree(context) as tree:
            return command(context, tree)

    return run


@_with_tree
def rm(context: CommandContext, tree: CommandTree) -> int:
    for name in context["path"]:
        found = tree.stat(tree.path_of(name))
        if found.directory and not context["recursive"]:
            raise BadInput(coded("tree.is_directory"), path=found.path, op="rm", fix=coded("command.rm_r"))
        for each in _to_remove(tree, found):
            tree.remove(each.path)
            context.output.report(coded("command.removed", path=each.path), {"path": each.path, "removed": True})
    return DONE


@_with_tree
def mkdir(context: CommandContext, tree: CommandTree) -> int:
    for name in context["path"]:
        path = tree.path_of(name)
        tree.mkdir(path)
        context.output.report(coded("command.directory_made", path=path), {"path": path, "made": True})
    return DONE


@_with_tree
def mv(context: CommandContext, tree: CommandTree) -> int:
    found = tree.stat(tree.path_of(context["source"]))
    new = _into(tree, found, context["destination"])
    tree.rename(found.path, new)
    context.output.report(f"{found.path} → {new}", {"path": found.path, "to": new})
    return DONE


@_with_tree
def cp(context: CommandContext, tree: CommandTree) -> int:
    sources, target = [tree.stat(tree.path_of(name)) for name in context["source"]], context["destination"]
    if len(sources) > 1 and not _directory(tree, target):
        expected = coded("command.for_several")
        raise BadInput(coded("tree.no_directory"), path=tree.path_of(target), op="cp", expected=expected)
    for found in sources:
        if found.directory and not context["recursive"]:
            raise BadInput(coded("tree.is_directory"), path=found.path, op="cp", fix=coded("command.cp_r"))
        new = _into(tree, found, target)
        if f"{new}/".startswith(f"{found.path}/"):
            raise BadInput(coded("command.into_itself"), path=new, op="cp")
        for each in list(below(tree, found)):
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
        found = coded("command.bad_pattern", pattern=context["pattern"], why=str(error))
        raise BadInput(found, op="grep", fix=coded("command.escape")) from None
    fits, unread = False, Unread(context)
    for name in context["path"] or ["/"]:
        top = tree.stat(tree.path_of(name))
        for each in below(tree, top, unread):
            if each.directory or each.path.startswith(CONSUMED_EVENTS):
                continue
            try:
                data = tree.read(each.path)
            except WorldError as error:
                if not top.directory:
                    raise
                unread(each.path, error)
                continue
            fits = _lines(context, each.path, data, pattern) or fits
    return MISUSE if unread else DONE if fits else REFUSED


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


def _to_remove(tree: CommandTree, top: Stat) -> list[Stat]:
    """What is removed with it, itself last. A directory that may not be removed is refused before its content is
    removed."""
    found = list(below(tree, top, last=True))
    if len(found) > 1:
        try:
            tree.remove(top.path)
        except WorldError as error:
            if NOT_EMPTY not in error.found.lower():
                raise
    return found


def _directory(tree: CommandTree, name: str) -> bool:
    try:
        return tree.stat(tree.path_of(name)).directory
    except NotFound:
        return False


def _into(tree: CommandTree, found: Stat, target: str) -> str:
    """The destination: below an existing directory under its own name, else the path itself."""
    path = tree.path_of(target)
    return f"{path.rstrip('/')}/{found.name}" if _directory(tree, target) else path


def _made(tree: CommandTree, path: str) -> None:
    """A directory, if there is none."""
    if not _directory(tree, path):
        tree.mkdir(path)
