"""The runner's request and result, and the port to an agent's state."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from worldfs.agents.agent_directory import AgentDirectory
from worldfs.agents.session_job import ReadMessages
from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.base.model.agent import SessionRecord

from .orphans import OrphanedSession
from .reaper import GRACE, ProcessLabel
from .tools import ReportingCommand

HOOK_S: Final = 300.0
HEARTBEAT_S: Final = 30.0


class AgentStatePort(Protocol):
    """The part of `worldfs.agents.agent_state.AgentState` that the runner uses."""

    @property
    def agent_dir(self) -> AgentDirectory: ...

    def start(self, *, type: str = ..., argv: Sequence[str] = ..., **fields: Any) -> SessionRecord:
        """Durably running. Raises `Busy` when another session runs, naming its process."""
        ...

    def heartbeat(self) -> None: ...

    def event(self, event: str, /, **fields: object) -> int: ...

    def finish(
        self,
        outcome: str = ...,
        *,
        errors: Sequence[str] = ...,
        cause: str = ...,
        session: str = ...,
        read: ReadMessages | None = ...,
        **figures: Any,
    ) -> SessionRecord: ...

    def session_facts(self) -> Json:
        """The running session's report by `paos agent outcome`."""
        ...


class PromptText(NamedTuple):
    """A text for the command, and the ids of the messages that it contains in full."""

    text: str
    message_ids: frozenset[str] = frozenset()


PromptSource = Callable[[SessionRecord], PromptText]


class CommandRequest(NamedTuple):
    """One command line and the bounds of its run. Seconds; None: without end."""

    argv: tuple[str, ...]
    type: str = "ad-hoc"  # research | extract | evaluate | ad-hoc
    timeout_s: float | None = None
    silence_s: float | None = None  # without a byte on standard output or standard error
    cwd: str = ""  # "": the current directory
    env: Mapping[str, str] | None = None  # the whole environment; None: the runner's. PAOS_… is added
    stdin: bytes | str | int | None = None  # the text itself, the path of a file, a descriptor; None: nothing
    grace_s: float = GRACE  # between TERM and KILL
    prompt: PromptSource | None = None  # called once the session has begun, in place of `stdin`
    prompt_as: str = "stdin"  # stdin | arg: the last argument
    tool: ReportingCommand | None = None  # the reader of what a known tool reports; `argv` is the tool's

    def check(self) -> None:
        """`BadInput` for what can be no command: the caller's mistake, and no session begins."""
        if not self.argv or not self.argv[0]:
            raise BadInput(
                coded("command.no_command_given"),
                op="run",
                expected=coded("command.a_program"),
                fix=coded("command.after_dashes"),
            )
        if any("\0" in word for word in self.argv):
            raise BadInput(coded("command.nul_argument"), op="run", path=self.argv[0])
        for name, value in (("timeout", self.timeout_s), ("silence", self.silence_s)):
            if value is not None and not (math.isfinite(value) and value > 0):
                raise BadInput(
                    coded("command.a_limit", name=name, value=value), op="run", expected=coded("file.seconds")
                )
        if not 0 <= self.grace_s <= 60:
            raise BadInput(coded("command.a_grace", s=self.grace_s), op="run", expected=coded("command.grace_range"))
        if isinstance(self.stdin, str) and not os.path.isfile(self.stdin):
            raise BadInput(coded("tree.no_file"), op="run", path=self.stdin, expected=coded("command.a_stdin"))


class ShellHooks(NamedTuple):
    """Shell commands around the command ("": none). `post` after it completed, `error` after anything else."""

    pre: str = ""
    post: str = ""
    error: str = ""
    timeout_s: float = HOOK_S  # of each


class SessionResult(NamedTuple):
    """The measured end of a session.

    `cause`: "" | exit | signal | deadline | silence | cancelled | spawn | hook | reported | unreached | warden |
    runner. `unreached`: it ended well, but a known tool could not touch the agent's state.
    """

    session: SessionRecord
    outcome: str  # completed | timeout | error
    cause: str = ""
    exit_code: int | None = None
    signal: int | None = None  # what killed it
    seconds: float = 0.0
    errors: tuple[str, ...] = ()
    stragglers: tuple[ProcessLabel, ...] = ()  # processes that the command left running, ended by the runner
    survivors: tuple[ProcessLabel, ...] = ()  # what could not be ended
    tree: bool = True  # False: the system shows no descendants, only the process group was ended
    log: str = ""  # path of its output log
    output_bytes: int = 0  # bytes
    found: tuple[OrphanedSession, ...] = ()  # earlier sessions whose runner was killed

    @property
    def status(self) -> int:
        """The exit status of `paos`, by the conventions of shells and timeout(1)."""
        if self.outcome == "completed":
            return 0
        if self.outcome == "timeout":
            return 124
        if self.cause == "cancelled":
            return 130
        if self.cause == "spawn":
            return 127 if self.exit_code is None else self.exit_code
        if self.signal is not None:
            return 128 + self.signal
        return self.exit_code or 1


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
