"""The tree that the commands on files use: one interface, whether of a home on this disk or behind --connect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

from worldfs.base.errors import NotFound, WorldError
from worldfs.base.messages import coded

from .name_suggestion import suggest_names

if TYPE_CHECKING:
    from worldfs.tree.verb_values import Stat, Written

    from .command_context import CommandContext


DEPTH_MAX: Final = 64  # nested directories: links are followed
Trouble = Callable[[str, WorldError], None]


class CommandTree(Protocol):
    """The verbs of a tree by path, each with an absolute one; all raise `WorldError`."""

    sized: bool  # whether the stats of a listing have sizes

    def path_of(self, name: str) -> str:
        """The path of a name as a person writes it."""
        ...

    def start(self) -> Sequence[str]:
        """The directories that `ls` without a path lists as one."""
        ...

    def names(self, path: str) -> Iterable[str]:
        """The paths in a directory, and at the root the names that are resolved without a path."""
        ...

    def stat(self, path: str) -> Stat: ...
    def entries(self, path: str) -> Sequence[Stat]: ...
    def walk(self, path: str, depth: int, trouble: Trouble) -> Iterator[Stat]:
        """What is at and below a path, parents first, as `below` gives it."""
        ...

    def read(self, path: str, *, block: bool = False) -> bytes:
        """`block`: a file that blocks is waited for, where the tree is served."""
        ...

    def write(self, path: str, data: bytes, expect: str = "") -> Written: ...
    def wait(self, path: str, until: str, timeout: float | None) -> bool:
        """Until the file changes, or contains the text; False when the time is over."""
        ...

    def mkdir(self, path: str) -> None: ...
    def remove(self, path: str) -> None: ...
    def rename(self, path: str, new: str) -> None: ...


def below(
    tree: CommandTree, top: Stat, trouble: Trouble | None = None, *, last: bool = False, depth: int = DEPTH_MAX
) -> Iterator[Stat]:
    """A path and all below it, at most `depth` levels; `last`: a directory after its content.

    A directory that cannot be listed goes to `trouble` with its path, and the rest goes on; without it, that raises.
    """
    if not last:
        yield top
    if top.directory and depth > 0:
        try:
            entries = tree.entries(top.path)
        except WorldError as error:
            if trouble is None:
                raise
            trouble(top.path, error)
            entries = ()
        for each in entries:
            yield from below(tree, each, trouble, last=last, depth=depth - 1)
    if last:
        yield top


class Unread:
    """Says what of a tree could not be read, each path once, and is true if there was any. A path that has been removed
    meanwhile is no error."""

    def __init__(self, context: CommandContext) -> None:
        self._context = context
        self._paths: set[str] = set()

    def __call__(self, path: str, error: WorldError) -> None:
        from worldfs.base.messages.message_rendering import error_message

        if isinstance(error, NotFound) or path in self._paths:
            return
        self._paths.add(path)
        error.path = path
        self._context.output.notice(coded("command.paos", said=error_message(error)))

    def __bool__(self) -> bool:
        return bool(self._paths)


@contextmanager
def open_tree(context: CommandContext) -> Iterator[CommandTree]:
    """The tree that the command line names. An error about a path that is not there names the most similar one."""
    if context["connect"]:
        from .server_tree import ServerTree, open_connection

        with open_connection(context) as far:
            tree: CommandTree = ServerTree(far)
            with suggest_names(tree.names):
                yield tree
    else:
        from .home_tree import HomeTree

        with context.open() as world:
            tree = HomeTree(world, context.actor, context.actor_name)
            with suggest_names(tree.names):
                yield tree
