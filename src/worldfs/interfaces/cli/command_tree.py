"""The tree that the commands on files use: one interface, whether of a home on this disk or behind --connect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from .name_suggestion import suggest_names

if TYPE_CHECKING:
    from worldfs.tree.verb_values import Stat, Written

    from .command_context import CommandContext


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
    def walk(self, path: str, depth: int | None) -> Iterator[Stat]:
        """What is at and below a path, parents first; `depth`: at most so many levels below."""
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
