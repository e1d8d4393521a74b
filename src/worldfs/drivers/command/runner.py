"""The run of a command as an agent's session: durable before it begins, watched while it runs, nothing left of it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any, Final

from worldfs.agents.session_job import Read
from worldfs.ground.clock import Clock, SystemClock, stamp
from worldfs.ground.errors import NotFound, WorldError
from worldfs.ground.model import Json
from worldfs.ground.model.agent import SessionRecord

from . import leftovers, outcome, traces
from .child import Child
from .course import TICK, Course, carry
from .evidence import Evidence, Seen
from .flow import Flow
from .order import HEARTBEAT_S, Command, Ended, Hooks, State
from .outcome import Reported
from .output import NAME, Log, Redact
from .reaper import Named, Swept
from .stop import Stop
from .traces import Trace

ANSWER_MAX: Final = 4000  # characters of a tool's final answer
REMEDY: Final = "start it with: paos agent run NAME --with claude-code | codex | gemini"
NAMES: Final = 20  # processes named in one journal line


def run(
    state: State,
    command: Command,
    *,
    hooks: Hooks | None = None,
    clock: Clock | None = None,
    about: Mapping[str, Any] | None = None,
    stop: Stop | None = None,
    out: int = 1,
    err: int = 2,
    heartbeat_s: float = HEARTBEAT_S,
    alone: bool = False,
) -> Ended:
    """Run a command as a session of the agent whose state this is; returns when nothing of it is left.

    `about`: further fields of the session (domain, branch, model, research_question …) for `state.start`. `out`, `err`:
    descriptors that what it says is passed on to; -1: to the log alone. `stop`: another way to ask for the end; Ctrl-C,
    TERM and HUP ask as well where this is the main thread. `alone`: this process has no other children, so that it
    may adopt the command's if the warden is killed.

    Raises `BadInput` (no session begun), `Busy` (another session is on), and what the state raises when the ground
    gives way; then too nothing of the command is left. How the command itself fails is in the `Ended`.
    """
    command.check()
    with ExitStack() as stack:
        if stop is None:
            stop = Stop()
            stack.callback(stop.close)
        stack.enter_context(stop.on_signals())
        if alone:
            stack.enter_context(leftovers.adopting())
        redact = redactor()
        record = state.start(
            type=command.type,
            timeout_seconds=None if command.timeout_s is None else math.ceil(command.timeout_s),
            argv=told(command.argv, redact),
            **(about or {}),
        )
        work = _Work(
            state, record, command, clock=clock or SystemClock(), heartbeat_s=heartbeat_s, alone=alone, redact=redact
        )
        try:
            return work.whole(hooks or Hooks(), stop, out, err)
        except BaseException as error:
            if not work.finishing:
                with suppress(Exception):  # the first failure is the one to tell of
                    work.broke(error)
            raise


def redactor() -> Redact:
    """Text without secrets."""
    from worldfs.formats.agent.redact import redact

    return lambda text: redact(text)[0]


def told(argv: Sequence[str], redact: Redact) -> tuple[str, ...]:
    """A command line without secrets: also those that an option before them announces (`--token …`)."""
    words = []
    for before, word in zip(("", *argv), argv, strict=False):
        clean = redact(word)
        if clean == word and before.startswith("-"):
            clean = redact(f"{before.lstrip('-')}={word}").split("=", 1)[-1]
        words.append(clean)
    return tuple(words)


class _Work:
    """One session between its start and its end; the `Care` of its command lines."""

    def __init__(
        self,
        state: State,
        record: SessionRecord,
        command: Command,
        *,
        clock: Clock,
        heartbeat_s: float,
        alone: bool,
        redact: Redact,
    ) -> None:
        self.state, self.command, self.clock, self.alone, self.redact = state, command, clock, alone, redact
        self.record = record
        self.root = state.room.root
        self.trace = Trace(self.root, record.session_id)
        self.errors: list[str] = []
        self.found: tuple[leftovers.Left, ...] = ()
        self.finishing = False
        self.seen = Seen(frozenset(), False)
        self.read: Read | None = Read()  # before the command runs, nothing was read
        self._faults: set[str] = set()  # of the state, told once each
        self._heartbeat_s = heartbeat_s
        self._next_beat = self.clock.monotonic() + heartbeat_s
        home = os.path.realpath(self.root.path)
        self.env = {
            **(os.environ if command.env is None else command.env),
            "PAOS_AGENT": state.room.name,
            "PAOS_AGENTS": os.path.dirname(home),
            "PAOS_SESSION": record.session_id,
            "PAOS_STATE_DIR": home,
            "PAOS_OUTCOME": self.trace.path(traces.OUTCOME),
        }
        self.run: Json = {
            "session_id": record.session_id,
            "started_at": stamp(clock.now()),
            "runner": leftovers.identity(os.getpid()),
        }

    # -- the order of things ---------------------------------------------------------------------------------------

    def whole(self, hooks: Hooks, stop: Stop, out: int, err: int) -> Ended:
        begun = self.clock.monotonic()
        self.trace.write(traces.RUN, self.run)
        self._after_the_killed()
        log = Log(self.root, self.trace.folder, self.redact, now=self.clock.monotonic)
        flows: list[Flow] = []
        reporting = self.command.tool

        def course(command: Command, env: Mapping[str, str], heeded: int = 0) -> Course:
            tool = command.tool
            flows.append(Flow(log, -1 if tool and tool.added else out, err, tool and tool.reader.feed))
            return carry(command, {**self.env, **env}, flows[-1], stop, self, heeded=heeded)

        def hook(name: str, line: str, heeded: int = 0, **env: str) -> Course:
            if not line:
                return Course()
            shell = self.command._replace(
                argv=("/bin/sh", "-c", line), timeout_s=hooks.timeout_s, silence_s=None, stdin=None, tool=None
            )
            done = course(shell, env, heeded)
            self._tell("hook_end", hook=name, outcome=done.outcome, **({"error": done.text} if done.text else {}))
            return done

        try:
            main = self._begin(hook("pre", hooks.pre), stop) or self._main(course)
            if reporting:
                log.write(reporting.reader.end())
            heeded = stop.times  # a cancelled command still gets its error hook
            if main.text:
                self.errors.append(main.text + self._last_words(main, log))
            final, cause = self._judge(main, outcome.read(self.trace))
            which = "post" if final == "completed" else "error"
            result = {"PAOS_RESULT": final, "PAOS_CAUSE": cause}
            if main.code is not None:
                result["PAOS_EXIT_CODE"] = str(main.code if main.code >= 0 else 128 - main.code)
            done = hook(which, getattr(hooks, which), heeded, **result)
            if done.text:
                self.errors.append(f"{which} hook: {done.text}")
            told = outcome.read(self.trace)  # the hook may have had the last word
        finally:
            log.close()
        ended = self._finish(main, told, log, self.clock.monotonic() - begun)
        for flow in flows:  # the state is safe: a slow listener may take its time now
            wishes = stop.times
            while not flow.settle(TICK) and stop.times == wishes:
                pass
        if reporting and reporting.added and reporting.reader.answer and out >= 0:
            with suppress(OSError), open(out, "w", encoding="utf-8", errors="replace", closefd=False) as listener:
                listener.write(reporting.reader.answer.rstrip("\n") + "\n")
        return ended

    def _main(self, course: Callable[[Command, Mapping[str, str]], Course]) -> Course:
        """The command itself, with its prompt, and what it did with the state meanwhile."""
        command, shown = self.command, frozenset[str]()
        if command.prompt is not None:
            text, shown = command.prompt(self.record)
            if command.prompt_as == "arg":
                command = command._replace(argv=(*command.argv, text.replace("\0", "\ufffd")))
            else:
                command = command._replace(stdin=text.encode("utf-8", "replace"))
        evidence = Evidence(self.env["PAOS_STATE_DIR"], self.env["PAOS_OUTCOME"])
        try:
            done = course(command, {})
        finally:
            self.seen = evidence.end()
        if isinstance(command.stdin, bytes) and done.taken < len(command.stdin):
            shown = frozenset()  # it did not take the whole prompt
        self.read = None if self.seen.opened is None else Read(shown, self.seen.opened)
        return done

    def _judge(self, main: Course, told: Reported) -> tuple[str, str]:
        """(outcome, cause): that a command ended well is not enough where it says, or shows, that it did not."""
        if main.outcome != "completed":
            return main.outcome, main.cause
        reader = self.command.tool and self.command.tool.reader
        if told.failed or (reader and reader.errors):
            return "error", "reported"
        if reader and reader.out_of_reach(self.seen.wrote):
            return "error", "unreached"
        return "completed", main.cause

    def _begin(self, pre: Course, stop: Stop) -> Course | None:
        """Why the command is not to begin."""
        if stop.times:
            return pre._replace(cause="cancelled", code=None, text=f"cancelled: {stop.why}")
        if pre.cause:
            return pre._replace(cause="hook", code=None, text=f"pre hook: {pre.text}")
        return None

    def _finish(self, main: Course, told: Reported, log: Log, seconds: float) -> Ended:
        final, cause = self._judge(main, told)
        self.errors += [*told.errors, *told.wrong]
        figures = self._figures(told)
        if self.command.tool:
            reader = self.command.tool.reader
            self.errors += reader.errors
            if cause == "unreached":
                self.errors.append(f"{reader.out_of_reach(self.seen.wrote)}; {REMEDY}")
        self.errors += [f"not ended: process {one.pid}, {one.words}" for one in main.survivors]
        if log.fault:
            self.errors.append(f"what it said is not kept: {log.fault}")
        errors = tuple(self.redact(text) for text in self.errors)
        facts: Json = {
            "outcome": final,
            "cause": cause,
            "exit_code": main.code if main.code is not None and main.code >= 0 else None,
            "signal": -main.code if main.code is not None and main.code < 0 else None,
            "seconds": round(seconds, 3),
            "said": log.seen,
        }
        more: Json = {key: _named(getattr(main, key)) for key in ("others", "survivors") if getattr(main, key)}
        if not main.tree:
            more["reach"] = "process group only"
        self._tell("command_end", **{key: value for key, value in facts.items() if value not in (None, "")}, **more)
        exit_facts = {"session_id": self.trace.id, "ended_at": stamp(self.clock.now()), **facts, **more}
        kept: Json = {"errors": list(errors), "reported": figures}
        if self.read is not None:
            kept["read"] = {key: sorted(value) for key, value in self.read._asdict().items()}
        self.trace.write(traces.EXIT, {**exit_facts, **kept})
        self.finishing = True
        session = self._end(final, cause, errors, figures)
        with suppress(WorldError, OSError):
            traces.prune(self.root)
        return Ended(
            session,
            final,
            cause,
            facts["exit_code"],
            facts["signal"],
            facts["seconds"],
            errors,
            main.others,
            main.survivors,
            main.tree,
            self.trace.path(NAME) if log.seen and not log.fault else "",
            log.seen,
            self.found,
        )

    def _end(self, final: str, cause: str, errors: tuple[str, ...], figures: Json) -> SessionRecord:
        word = "cancelled" if cause == "cancelled" else ""  # the state finds the others by itself
        try:
            return self.state.finish(final, errors=errors, cause=word, session=self.trace.id, read=self.read, **figures)
        except NotFound:  # the command ended its session itself: what it said stands
            return self.record

    def _figures(self, told: Reported) -> Json:
        """What the session's end carries: what the tool measured, then the command's file; what was acknowledged by
        `paos agent outcome` stands, the state adds it itself."""
        said: Json = {}
        if self.command.tool:
            reader = self.command.tool.reader
            said = {"tokens_used": reader.tokens, "cost_usd": reader.cost, "answer": reader.answer[:ANSWER_MAX] or None}
            if not self.record.model:
                said["model"] = reader.model or None
        noted = self.state.noted()
        figures = {**{key: value for key, value in said.items() if value is not None}, **told.figures}
        return {key: value for key, value in figures.items() if key not in noted}

    def broke(self, error: BaseException) -> None:
        """The ground gave way under the run itself."""
        errors = (self.redact(f"runner: {error}"),)
        with suppress(WorldError, OSError):
            facts = {"session_id": self.trace.id, "ended_at": stamp(self.clock.now()), "outcome": "error"}
            self.trace.write(traces.EXIT, {**facts, "cause": "runner", "errors": list(errors)})
        self._end("error", "runner", errors, {})

    def _last_words(self, main: Course, log: Log) -> str:
        """The end of what it said often says what was wrong."""
        log.flush()
        return f"; last words: {log.last_line}" if main.cause in ("exit", "signal", "silence") and log.last_line else ""

    def _after_the_killed(self) -> None:
        """Nothing of an earlier session works beside this one."""
        self.found = leftovers.mop(self.root, self.clock, but=self.trace.id)
        for left in self.found:
            self._tell("runner_lost", of=left.session, ended=_named(left.ended), survivors=_named(left.survivors))

    # -- care ------------------------------------------------------------------------------------------------------

    def known(self, child: Child) -> None:
        self.run["warden"] = leftovers.identity(child.warden)
        self.run["command"] = {**leftovers.identity(child.pid), "start": child.start}
        self.trace.write(traces.RUN, self.run)

    def beat(self) -> None:
        if self.clock.monotonic() >= self._next_beat:
            self._next_beat = self.clock.monotonic() + self._heartbeat_s
            try:
                self.state.heartbeat()
            except (WorldError, OSError) as error:
                self._fault("heartbeat", error)

    def clear(self) -> Swept:
        return leftovers.end(lambda: leftovers.of_session(self.trace, self.run, adopted=self.alone))

    def _tell(self, event: str, **fields: Any) -> None:
        try:
            self.state.event(event, **fields)
        except (WorldError, OSError) as error:
            self._fault(event, error)

    def _fault(self, what: str, error: Exception) -> None:
        """A journal that gives way must not end the work that it tells of; the end of the session will say it."""
        if str(error) not in self._faults:
            self._faults.add(str(error))
            self.errors.append(f"{what}: {error}")


def _named(processes: tuple[Named, ...]) -> list[str]:
    names = [f"{one.pid} {one.words}" for one in processes[:NAMES]]
    return [*names, f"and {len(processes) - NAMES} more"] if len(processes) > NAMES else names
