"""A command line as a responder: it runs as a session of the agent and gets the message; its output is the answer."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from worldfs.agents.agent_state import AgentState
from worldfs.base.clock import Clock
from worldfs.base.errors import Busy
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.model import Cause, Outcome
from worldfs.base.model.agent import SessionRecord
from worldfs.formats.config_services import ResponderConfig as Settings
from worldfs.supervisor import CommandRequest, SessionResult, StopRequest, run
from worldfs.supervisor.command_request import PromptSource, PromptText
from worldfs.world.agent_jobs.agent_job import AgentJobContext

MOST: Final = 1 << 20  # bytes of an answer; the rest is left out, with a note
CUT: Final = "\n[paos: the rest of the answer is left out]"
SPARE_S: Final = 5.0  # of the job's time, for the session to end properly
CAUSES: Final[Mapping[str, Cause]] = {"deadline": Cause.TIMEOUT, "silence": Cause.TIMEOUT, "cancelled": Cause.CANCELLED}


class CommandResponder:
    """One agent has one session at a time, so its messages are answered one after the other."""

    def __init__(self, settings: Settings, agent: str, agents: Path, clock: Clock) -> None:
        self._settings, self._agent, self._agents, self._clock = settings, agent, agents, clock
        self.lane = f"command:{agent}"

    def answer(self, text: str, run: AgentJobContext) -> Outcome:
        with AgentState.open(self._agent, self._agents, clock=self._clock, create=True) as state:
            argv, stdin = self._given(text)
            seconds = max(1.0, min(self._settings.timeout_s, run.left() - SPARE_S))
            command = CommandRequest(
                argv, "ad-hoc", seconds, self._settings.silence_s, cwd=self._settings.cwd, stdin=stdin, grace_s=2.0,
                prompt=self._prompting(text, state),
            )  # fmt: skip
            try:
                ended, said = self._session(state, command, run)
            except Busy as error:
                busy = coded("world.agent_busy", agent=self._agent, why=error_message(error))
                return Outcome.failure(Cause.ERROR, "busy", busy)
        told = said.decode("utf-8", "replace").strip()
        evidence = {"session": ended.session.session_id, "seconds": ended.seconds, "exit_code": ended.exit_code}
        if ended.outcome == "completed":
            return Outcome.success(told, **evidence)
        why = "; ".join(ended.errors) or ended.cause or ended.outcome
        cause = CAUSES.get(ended.cause, Cause.ERROR)
        return Outcome.failure(cause, "", f"{why}\n{told}".strip(), evidence=evidence)

    def _given(self, text: str) -> tuple[tuple[str, ...], bytes]:
        argv = self._settings.argv
        if self._settings.prompt == "arg":
            return (*argv, text), b""
        return argv, text.encode()

    def _prompting(self, text: str, state: AgentState) -> PromptSource | None:
        """The state prompt before the message, if configured: made once the session has claimed its messages."""
        if self._settings.prompt != "state":
            return None

        def prompt(session: SessionRecord) -> PromptText:
            made = state.prompted(session=session)
            return PromptText(f"{made.text}\n\n{text}\n", made.pack.messages)

        return prompt

    def _session(
        self, state: AgentState, command: CommandRequest, call: AgentJobContext
    ) -> tuple[SessionResult, bytes]:
        """The session, and what the command printed to its standard output."""
        source, sink = os.pipe()
        reader = _OutputReader(source)
        stop, ending = StopRequest(), threading.Lock()
        over = False

        def ask() -> None:
            with ending:  # a late request must not be written to a descriptor that was reused meanwhile
                if not over:
                    stop.request(coded("command.call_asked_to_stop"))

        try:
            env = {**os.environ, "PAOS_CALL": call.id}
            with call.stop.calling(ask):
                ended = run(
                    state,
                    command._replace(env=env),
                    clock=self._clock,
                    about={"call": call.id},
                    stop=stop,
                    out=sink,
                    err=-1,
                )
        finally:
            os.close(sink)
            said = reader.whole()
            with ending:
                over = True
                stop.close()
        return ended, said


class _OutputReader:
    """Reads a pipe, so that the writer never waits; keeps the first `MOST` bytes."""

    def __init__(self, source: int) -> None:
        self._source = source
        self._data = bytearray()
        self._cut = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with os.fdopen(self._source, "rb", buffering=0) as file:
            while data := file.read(1 << 16):
                room = MOST - len(self._data)
                self._data += data[:room]
                self._cut |= len(data) > room

    def whole(self) -> bytes:
        self._thread.join()
        return bytes(self._data) + (CUT.encode() if self._cut else b"")
