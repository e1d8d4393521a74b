"""The run of a command as an agent's session: durable before it begins, watched while it runs, nothing left of it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Final

from worldfs.agents.session_job import ReadMessages
from worldfs.base.clock import Clock, SystemClock, stamp
from worldfs.base.errors import NotFound, WorldError
from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.base.model.agent import SessionRecord
from worldfs.formats.agent.redact import redact
from worldfs.storage.lease import LEASE_LOST

from . import orphans, outcome_report, session_files
from .child import Child
from .command_execution import TICK, CommandResult, run_command
from .command_request import HEARTBEAT_S, AgentStatePort, CommandRequest, SessionResult, ShellHooks
from .outcome_report import OutcomeReport
from .output_log import NAME, OutputLog, Redact
from .output_streams import OutputStreams
from .reaper import ProcessLabel, ReapResult
from .session_files import SessionFiles
from .state_watch import StateChanges, StateWatch
from .stop_request import StopRequest

ANSWER_MAX: Final = 4000  # characters of a tool's final answer
NAMES: Final = 20  # processes named in one journal line


def run(
    state: AgentStatePort,
    command: CommandRequest,
    *,
    hooks: ShellHooks | None = None,
    clock: Clock | None = None,
    about: Mapping[str, object] | None = None,
    stop: StopRequest | None = None,
    out: int = 1,
    err: int = 2,
    heartbeat_s: float = HEARTBEAT_S,
    alone: bool = False,
) -> SessionResult:
    """Run a command as a session of the agent whose state this is; returns when none of its processes is left.

    `about`: further fields of the session (domain, branch, model, research_question …) for `state.start`. `out`, `err`:
    descriptors that its output is passed on to; -1: to the log alone. `stop`: another way to request the end; Ctrl-C,
    TERM and HUP request it too where this is the main thread. `alone`: this process has no other children, so that it
    may adopt the command's if the supervisor is killed.

    Raises `BadInput` (no session begun), `Busy` (another session is on), and what the state raises when the ground
    fails; then too no process of the command is left. A failure of the command itself is in the `SessionResult`.
    """
    command.check()
    with ExitStack() as stack:
        if stop is None:
            stop = StopRequest()
            stack.callback(stop.close)
        stack.enter_context(stop.on_signals())
        if alone:
            stack.enter_context(orphans.adopting_orphans())
        redact = redactor()
        record = state.start(
            type=command.type,
            timeout_seconds=None if command.timeout_s is None else math.ceil(command.timeout_s),
            argv=redacted_argv(command.argv, redact),
            **(about or {}),
        )
        work = _SessionRun(
            state, record, command, clock=clock or SystemClock(), heartbeat_s=heartbeat_s, alone=alone, redact=redact
        )
        try:
            return work.run_session(hooks or ShellHooks(), stop, out, err)
        except BaseException as error:
            if not work.finishing:
                with suppress(Exception):  # the first failure is the one to report
                    work.record_failure(error)
            if isinstance(error, WorldError | OSError) and not os.path.isdir(work.root.path):
                raise work.state_gone() from error
            raise


def redactor() -> Redact:
    """Text without secrets."""

    return lambda text: redact(text)[0]


def redacted_argv(argv: Sequence[str], redact: Redact) -> tuple[str, ...]:
    """A command line without secrets: also those that an option before them announces (`--token …`)."""
    words = []
    for before, word in zip(("", *argv), argv, strict=False):
        clean = redact(word)
        if clean == word and before.startswith("-"):
            clean = redact(f"{before.lstrip('-')}={word}").split("=", 1)[-1]
        words.append(clean)
    return tuple(words)


class _SessionRun:
    """One session between its start and its end; the `CommandHooks` of its command lines."""

    def __init__(
        self,
        state: AgentStatePort,
        record: SessionRecord,
        command: CommandRequest,
        *,
        clock: Clock,
        heartbeat_s: float,
        alone: bool,
        redact: Redact,
    ) -> None:
        self.state, self.command, self.clock, self.alone, self.redact = state, command, clock, alone, redact
        self.record = record
        self.root = state.agent_dir.root
        self.trace = SessionFiles(self.root, record.session_id)
        self.errors: list[str] = []
        self.found: tuple[orphans.OrphanedSession, ...] = ()
        self.finishing = False
        self.changes = StateChanges(frozenset(), False)
        self.read: ReadMessages | None = ReadMessages()  # before the command runs, nothing was read
        self._faults: set[str] = set()  # of the state, each reported once
        self._heartbeat_s = heartbeat_s
        self._next_heartbeat = self.clock.monotonic() + heartbeat_s
        home = os.path.realpath(self.root.path)
        self.env = {
            **(os.environ if command.env is None else command.env),
            "PAOS_AGENT": state.agent_dir.name,
            "PAOS_AGENTS": os.path.dirname(home),
            "PAOS_SESSION": record.session_id,
            "PAOS_STATE_DIR": home,
            "PAOS_OUTCOME": self.trace.path(session_files.OUTCOME),
        }
        self.run: Json = {
            "session_id": record.session_id,
            "started_at": stamp(clock.now()),
            "runner": orphans.identity(os.getpid()),
        }

    # -- the order of things ---------------------------------------------------------------------------------------

    def run_session(self, hooks: ShellHooks, stop: StopRequest, out: int, err: int) -> SessionResult:
        begun = self.clock.monotonic()
        self.trace.write(session_files.RUN, self.run)
        self._end_orphaned()
        log = OutputLog(self.root, self.trace.folder, self.redact, now=self.clock.monotonic)
        flows: list[OutputStreams] = []
        reporting = self.command.tool

        def execute(command: CommandRequest, env: Mapping[str, str], handled_stops: int = 0) -> CommandResult:
            tool = command.tool
            flows.append(OutputStreams(log, -1 if tool and tool.added else out, err, tool and tool.reader.feed))
            return run_command(command, {**self.env, **env}, flows[-1], stop, self, handled_stops=handled_stops)

        def hook(name: str, line: str, handled_stops: int = 0, **env: str) -> CommandResult:
            if not line:
                return CommandResult()
            shell = self.command._replace(
                argv=("/bin/sh", "-c", line), timeout_s=hooks.timeout_s, silence_s=None, stdin=None, tool=None
            )
            done = execute(shell, env, handled_stops)
            self._tell("hook_end", hook=name, outcome=done.outcome, **({"error": done.text} if done.text else {}))
            return done

        try:
            main = self._begin(hook("pre", hooks.pre), stop) or self._main(execute)
            if reporting:
                log.write(reporting.reader.end())
            handled_stops = stop.times  # a cancelled command still gets its error hook
            if main.text:
                self.errors.append(self._with_last_line(main, log))
            final, cause = self._judge(main, outcome_report.read(self.trace))
            which = "post" if final == "completed" else "error"
            result = {"PAOS_RESULT": final, "PAOS_CAUSE": cause}
            if main.code is not None:
                result["PAOS_EXIT_CODE"] = str(main.code if main.code >= 0 else 128 - main.code)
            done = hook(which, getattr(hooks, which), handled_stops, **result)
            if done.text:
                self.errors.append(coded("command.hook", which=which, why=done.text))
            report = outcome_report.read(self.trace)  # the hook may have had the last word
        finally:
            log.close()
        ended = self._finish(main, report, log, self.clock.monotonic() - begun)
        for flow in flows:  # the state is safe: a slow listener may take its time now
            wishes = stop.times
            while not flow.settle(TICK) and stop.times == wishes:
                pass
        if reporting and reporting.added and reporting.reader.answer and out >= 0:
            with suppress(OSError), open(out, "w", encoding="utf-8", errors="replace", closefd=False) as listener:
                listener.write(reporting.reader.answer.rstrip("\n") + "\n")
        return ended

    def _main(self, execute: Callable[[CommandRequest, Mapping[str, str]], CommandResult]) -> CommandResult:
        """The command itself, with its prompt, and its changes to the state."""
        command, message_ids = self.command, frozenset[str]()
        if command.prompt is not None:
            text, message_ids = command.prompt(self.record)
            if command.prompt_as == "arg":
                command = command._replace(argv=(*command.argv, text.replace("\0", "\ufffd")))
            else:
                command = command._replace(stdin=text.encode("utf-8", "replace"))
        evidence = StateWatch(self.env["PAOS_STATE_DIR"], self.env["PAOS_OUTCOME"])
        try:
            done = execute(command, {})
        finally:
            self.changes = evidence.end()
        if isinstance(command.stdin, bytes) and done.taken < len(command.stdin):
            message_ids = frozenset()  # it did not take the whole prompt
        self.read = None if self.changes.opened is None else ReadMessages(message_ids, self.changes.opened)
        return done

    def _judge(self, main: CommandResult, report: OutcomeReport) -> tuple[str, str]:
        """(outcome, cause): an exit code of 0 is not enough where a report or evidence says otherwise."""
        if main.outcome != "completed":
            return main.outcome, main.cause
        reader = self.command.tool and self.command.tool.reader
        if report.failed or (reader and reader.errors):
            return "error", "reported"
        if reader and reader.out_of_reach(self.changes.wrote):
            return "error", "unreached"
        return "completed", main.cause

    def _begin(self, pre: CommandResult, stop: StopRequest) -> CommandResult | None:
        """The reason not to start the command, "" for none."""
        if stop.times:
            return pre._replace(cause="cancelled", code=None, text=coded("command.was_cancelled", why=stop.why))
        if pre.cause:
            return pre._replace(cause="hook", code=None, text=coded("command.hook", which="pre", why=pre.text))
        return None

    def _finish(self, main: CommandResult, report: OutcomeReport, log: OutputLog, seconds: float) -> SessionResult:
        final, cause = self._judge(main, report)
        self.errors += [*report.errors, *report.wrong]
        figures = self._figures(report)
        if self.command.tool:
            reader = self.command.tool.reader
            self.errors += reader.errors
            if cause == "unreached":
                self.errors.append(coded("command.remedy", why=reader.out_of_reach(self.changes.wrote)))
        self.errors += [coded("command.left_running", pid=one.pid, words=one.words) for one in main.survivors]
        if log.fault:
            self.errors.append(coded("command.no_log", why=log.fault))
        errors = tuple(self.redact(text) for text in self.errors)
        code = main.code if main.code is not None and main.code >= 0 else None
        number = -main.code if main.code is not None and main.code < 0 else None
        facts: Json = {
            "outcome": final,
            "cause": cause,
            "exit_code": code,
            "signal": number,
            "seconds": round(seconds, 3),
            "said": log.received_bytes,
        }
        more: Json = {key: _named(getattr(main, key)) for key in ("others", "survivors") if getattr(main, key)}
        if not main.tree:
            more["reach"] = "process group only"
        self._tell("command_end", **{key: value for key, value in facts.items() if value not in (None, "")}, **more)
        exit_facts = {"session_id": self.trace.id, "ended_at": stamp(self.clock.now()), **facts, **more}
        kept: Json = {"errors": list(errors), "reported": figures}
        if self.read is not None:
            kept["read"] = {key: sorted(value) for key, value in self.read._asdict().items()}
        self.trace.write(session_files.EXIT, {**exit_facts, **kept})
        self.finishing = True
        session = self._end(final, cause, errors, figures)
        with suppress(WorldError, OSError):
            session_files.prune(self.root)
        return SessionResult(
            session,
            final,
            cause,
            code,
            number,
            round(seconds, 3),
            errors,
            main.others,
            main.survivors,
            main.tree,
            self.trace.path(NAME) if log.received_bytes and not log.fault else "",
            log.received_bytes,
            self.found,
        )

    def _end(self, final: str, cause: str, errors: tuple[str, ...], figures: Json) -> SessionRecord:
        word = "cancelled" if cause == "cancelled" else ""  # the state finds the others by itself
        try:
            return self.state.finish(final, errors=errors, cause=word, session=self.trace.id, read=self.read, **figures)
        except NotFound:  # the command ended its session itself: its report stands
            return self.record

    def _figures(self, report: OutcomeReport) -> Json:
        """The figures of the session's end: the tool's measurements, then the command's report; a report by
        `paos agent outcome` is added by the state itself."""
        reported: Json = {}
        if self.command.tool:
            reader = self.command.tool.reader
            reported = {
                "tokens_used": reader.tokens,
                "cost_usd": reader.cost,
                "answer": reader.answer[:ANSWER_MAX] or None,
            }
            if not self.record.model:
                reported["model"] = reader.model or None
        noted = self.state.session_facts()
        figures = {**{key: value for key, value in reported.items() if value is not None}, **report.figures}
        return {key: value for key, value in figures.items() if key not in noted}

    def state_gone(self) -> NotFound:
        """The whole directory of the agent was removed while its command ran: nothing of the session is kept."""
        name, home = self.state.agent_dir.name, self.env["PAOS_STATE_DIR"]
        said = coded("agent.state_gone", agent=name, session=self.trace.id)
        return NotFound(said, path=home, op="run", fix=coded("agent.init", name=name))

    def record_failure(self, error: BaseException) -> None:
        """The ground gave way under the run itself."""
        errors = (self.redact(coded("command.runner", why=str(error))),)
        with suppress(WorldError, OSError):
            facts = {"session_id": self.trace.id, "ended_at": stamp(self.clock.now()), "outcome": "error"}
            self.trace.write(session_files.EXIT, {**facts, "cause": "runner", "errors": list(errors)})
        self._end("error", "runner", errors, {})

    def _with_last_line(self, main: CommandResult, log: OutputLog) -> str:
        """The end of the output often names the cause."""
        log.flush()
        if main.cause not in ("exit", "signal", "silence") or not log.last_line:
            return main.text
        return coded("command.last_line", said=main.text, line=log.last_line)

    def _end_orphaned(self) -> None:
        """Nothing of an earlier session works beside this one."""
        self.found = orphans.kill_orphans(self.root, self.clock, but=self.trace.id)
        for left in self.found:
            self._tell("runner_lost", of=left.session, ended=_named(left.ended), survivors=_named(left.survivors))

    # -- hooks -----------------------------------------------------------------------------------------------------

    def on_started(self, child: Child) -> None:
        self.run["warden"] = orphans.identity(child.warden)
        self.run["command"] = {**orphans.identity(child.pid), "start": child.start}
        self.trace.write(session_files.RUN, self.run)

    def heartbeat(self) -> None:
        if self.clock.monotonic() >= self._next_heartbeat:
            self._next_heartbeat = self.clock.monotonic() + self._heartbeat_s
            try:
                self.state.heartbeat()
            except (WorldError, OSError) as error:
                if getattr(error, "code", "") == LEASE_LOST:  # another host may run the agent now
                    raise
                self._fault("heartbeat", error)

    def clear(self) -> ReapResult:
        return orphans.end_processes(lambda: orphans.session_processes(self.trace, self.run, adopted=self.alone))

    def _tell(self, event: str, **fields: object) -> None:
        try:
            self.state.event(event, **fields)
        except (WorldError, OSError) as error:
            self._fault(event, error)

    def _fault(self, what: str, error: Exception) -> None:
        """A failing journal must not end the session; the session's end reports it."""
        if str(error) not in self._faults:
            self._faults.add(str(error))
            self.errors.append(f"{what}: {error}")


def _named(processes: tuple[ProcessLabel, ...]) -> list[str]:
    names = [f"{one.pid} {one.words}" for one in processes[:NAMES]]
    return [*names, f"and {len(processes) - NAMES} more"] if len(processes) > NAMES else names
