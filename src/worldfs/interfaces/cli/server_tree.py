"""The tree behind --connect, with the rights of the token."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.tree.path import parse

if TYPE_CHECKING:
    from worldfs.client.blocking import BlockingWorld
    from worldfs.tree.verb_values import Stat, Written

    from .command_context import CommandContext


def open_connection(context: CommandContext) -> BlockingWorld:
    """The world behind --connect."""
    from worldfs.client import address, blocking

    token = server_token(context)
    project_token = context.environ.get(address.PROJECT_TOKEN, "")
    return blocking.connect(
        context["connect"],
        token=token,
        agent=context["agent"] or "",
        project=context["project"] or "",
        project_token=project_token,
    )


def server_token(context: CommandContext) -> str:
    """The token for --connect. It is never on the command line, where every process could read it."""
    from worldfs.client import address

    # The home's own token is for the home's own server: it is not sent to strangers unless the home was named.
    near = context["home"] or address.parse(context["connect"]).loopback
    home = str(context.home.path) if near else ""
    return address.find_token(context.environ, file=context["token_file"] or "", home=home)


class ServerTree:
    """The verbs of the server (`command_tree.CommandTree`)."""

    sized = True

    def __init__(self, world: BlockingWorld) -> None:
        self._world = world

    def path_of(self, name: str) -> str:
        return parse(name)

    def start(self) -> Sequence[str]:
        return ["/"]

    def names(self, path: str) -> Iterable[str]:
        return [entry.path for entry in self._world.entries(path)]

    def stat(self, path: str) -> Stat:
        return self._world.stat(path)

    def entries(self, path: str) -> Sequence[Stat]:
        return self._world.entries(path)

    def walk(self, path: str, depth: int | None) -> Iterator[Stat]:
        if depth == 0:
            yield self._world.stat(path)
            return
        for entry, _ in self._world.walk(path, depth=None if depth is None else depth - 1):
            yield entry

    def read(self, path: str, *, block: bool = False) -> bytes:
        return self._world.read(path) if block else self._world.read(path, wait=0)

    def write(self, path: str, data: bytes, expect: str = "") -> Written:
        if expect:
            raise BadInput(coded("command.no_revisions"), op="write")
        return self._world.write(path, data, replace=True, create=True)

    def wait(self, path: str, until: str, timeout: float | None) -> bool:
        return self._world.wait(path, until, timeout=timeout) is not None

    def mkdir(self, path: str) -> None:
        self._world.mkdir(path)

    def remove(self, path: str) -> None:
        self._world.remove(path)

    def rename(self, path: str, new: str) -> None:
        self._world.rename(path, new)
