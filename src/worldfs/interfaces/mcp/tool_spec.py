"""A tool: its words, its arguments, what it needs of the actor, and the function that does it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol

from worldfs.access.binding import Binding
from worldfs.access.judge import judge
from worldfs.access.verb import Verb
from worldfs.base.clock import Clock
from worldfs.base.model import Json
from worldfs.tree.path import segments
from worldfs.tree.row_table import FileRow

from .actor_tree import ActorTree
from .tool_arguments import Arguments, ToolArgument


class Asker(Protocol):
    """Asks the person at the client."""

    @property
    def able(self) -> bool:
        """Whether the client can ask."""
        ...

    @property
    def kept(self) -> dict[str, str]:
        """What this call has done already, where its client makes it once more with the person's answer."""
        ...

    async def ask(self, message: str, field: str, about: str) -> str | None:
        """None: the client cannot ask, or the person gave no answer. Raises `AnswerPending` in the stateless era, in
        which the client makes the call once more with the answer: nothing that is not `kept` may be done before."""
        ...


class AnswerPending(Exception):
    """The call goes on when the client has asked its person, and makes it once more."""

    def __init__(self, key: str, message: str, field: str, about: str) -> None:
        super().__init__(message)
        self.key, self.message, self.field, self.about = key, message, field, about


class ToolCall(NamedTuple):
    """One call. Cancelling it ends its waits, and never a write that was begun.

    `person`: the tree for what the person has said yes to in this call; every other write goes through `tree`.
    """

    tree: ActorTree
    asker: Asker
    given: Arguments
    clock: Clock
    person: ActorTree


class ToolSpec(NamedTuple):
    """`needs`: one of these files (by the pattern of its row) must be open to the actor's role, else the tool does not
    exist for it."""

    name: str
    title: str
    about: str
    run: Callable[[ToolCall], Awaitable[Json]]
    arguments: tuple[ToolArgument, ...] = ()
    output: Json = {"type": "object"}  # noqa: RUF012 -- a default of a named tuple is a value; nobody changes it
    needs: tuple[tuple[Verb, str], ...] = ()
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = False


def usable(tools: Sequence[ToolSpec], binding: Binding, rows: Sequence[FileRow]) -> list[ToolSpec]:
    """The tools that the actor's role can ever use."""
    by_pattern = {row.pattern: row for row in rows}

    def fits(verb: Verb, pattern: str) -> bool:
        role = binding.role_at(segments(pattern))
        return bool(role) and bool(judge(role, verb, by_pattern[pattern]))

    return [tool for tool in tools if not tool.needs or any(fits(verb, pattern) for verb, pattern in tool.needs)]


def output_schema(**fields: Json) -> Json:
    """An object with these fields, any of which may be missing."""
    return {"type": "object", "properties": dict(fields)}


TEXT: Json = {"type": "string"}
NUMBER: Json = {"type": "integer"}
FLAG: Json = {"type": "boolean"}
OBJECT: Json = {"type": "object"}


def rows_of(item: Json) -> Json:
    return {"type": "array", "items": item}
