"""`paos --connect ws://HOST:PORT do|status|watch|cancel`: instructions to a served world, and its status."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING

from worldfs.base.clock import SystemClock
from worldfs.base.errors import BadInput, NotFound, WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_objects
from worldfs.base.messages import coded
from worldfs.base.messages.coded_text import language_of
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.model import JobState
from worldfs.base.stop_words import is_stop
from worldfs.runtime.grace import CONFIRM_S, LOOK_S
from worldfs.runtime.job_codec import read_status
from worldfs.world.robot_stops import KernelSilent

from .cancel import said_cancelled, said_too_late
from .command_context import CommandContext
from .do_command import EXIT, ended_early, stopped_node
from .film_recording import RemoteFilmRecording, check_film_options, report_film
from .followed_job import FollowedJob
from .server_tree import open_connection
from .signals import stop_on
from .status_command import status_lines
from .status_diff import diff_status, event_line
from .stop_command import far_stop

if TYPE_CHECKING:
    from worldfs.base.model import Outcome
    from worldfs.client.blocking import BlockingWorld
    from worldfs.client.remote_types import JobResult


STATUS = "/meta/status.json"
_ENDED = ("done", *(state.value for state in JobState if state.terminal))  # of an agent's job, and of a robot's
_RUNNING = JobState.RUNNING.value


def do(context: CommandContext) -> int:
    """Send a message to the agent's chat and follow the job to its end; exit codes as of `do` on this machine."""

    text = " ".join(context["instruction"]).strip()
    if not text:
        raise BadInput(coded("command.no_instruction"), op="do", expected=coded("command.in_words"))
    context.output.language = lambda: language_of(text)
    if is_stop(text, lambda: _robots(context)):
        node = stopped_node(context, text, _robots)
        return far_stop(context, *(() if node is None else (node,)))
    if context["record"]:
        check_film_options(context)
    ignored = [f"--{name}" for name in ("driver", "seed") if context[name] is not None]
    ignored += ["--no-cameras"] if context["no_cameras"] else []
    if ignored:
        context.output.notice(coded("command.server_has_robot", options=ignored))
    with ExitStack() as stack:
        world = stack.enter_context(open_connection(context))
        film = _film(context, world) if context["record"] or context["node"] else None
        if film is not None:
            stack.enter_context(film)
        confirmed = f"confirm {context['confirm']}: " if context["confirm"] else ""
        verdict, message = _followed(context, world, confirmed + text)
    code = EXIT[verdict]
    value = {"event": "result", "verdict": verdict, "goal_holds": verdict == "reached", "message": message}
    context.output.lines(message, "good" if code == 0 else "bad")  # an agent's answer may have several
    context.output.value(value)
    if film is not None:
        report_film(context, film)
    return code


def _robots(context: CommandContext) -> list[str]:
    """None where they cannot be known."""
    try:
        with open_connection(context, timeout=CONFIRM_S) as world:
            return list(world.list("/nodes"))
    except (WorldError, TimeoutError):
        return []


def _followed(context: CommandContext, world: BlockingWorld, text: str) -> tuple[str, str]:
    """The verdict and its message. The first Ctrl-C, and the end of --timeout, cancel the job."""
    why: list[str] = []
    job = FollowedJob(world, world.chat(text))

    def give_up(reason: str) -> None:
        why.append(reason)
        job.cancel()

    def ask() -> None:
        give_up("interrupted")
        context.output.notice(coded("command.stopping_remote"))

    verdict: dict[str, object] = {}
    with ExitStack() as stack:
        stack.enter_context(stop_on(ask))
        if context["timeout"] is not None:
            timer = threading.Timer(context["timeout"], give_up, ("timeout",))
            timer.daemon = True
            timer.start()
            stack.callback(timer.cancel)
        try:
            for entry in job.lines():
                if entry.get("type") == "progress":
                    context.output.report(str(entry["message"]), {"event": "progress", "message": entry["message"]})
                elif entry.get("type") in ("verdict", "error"):
                    verdict = {**entry, **verdict}  # the planner's verdict takes precedence over the job's
        except KernelSilent as error:
            return why[0], error_message(error)
    return _verdict(job.ended, verdict, why[0] if why else "", context["timeout"])


def _verdict(ended: JobResult, said: dict[str, object], why: str, timeout: float | None) -> tuple[str, str]:
    word = str(said.get("verdict") or said.get("code") or ("answered" if ended.ok else "failed"))
    cause = str(said.get("cause") or "")
    if not ended.ok and why and "cancelled" in (word, cause):
        return why, ended_early(why, timeout, unsure="verdict" not in said)  # the planner has seen its last job end
    if not ended.ok and cause in ("timeout", "cancelled") and word != "stopped":
        return cause, ended.error
    return word if word in EXIT else "failed", str(said.get("message") or ended.text or ended.error)


def _film(context: CommandContext, world: BlockingWorld) -> RemoteFilmRecording | None:
    """A film of the one robot, which --node may name: the agent's own planner uses no other. None without --record."""

    status = _status(world)
    ids = [str(node["id"]) for node in as_objects(status["nodes"])]
    robots = [id for id in ids if world.exists(f"/nodes/{id}/film")]
    node = context["node"]
    if node is not None and node not in robots:
        known = coded("common.one_of", names=robots or coded("command.no_robot_here"))
        raise NotFound(coded("world.no_robot", node=node), op="do", expected=known)
    if len(robots) != 1:
        found, expected = coded("command.n_robots", n=len(robots), agent=world.bound.agent), coded("command.one_robot")
        raise BadInput(found, op="do", expected=expected, fix=coded("command.give_to_one", node=node or "NODE"))
    return (
        RemoteFilmRecording(world, robots[0], str(status["workspace"]), context["record"])
        if context["record"]
        else None
    )


def status(context: CommandContext) -> int:
    with open_connection(context) as world:
        found = _status(world)
        if context["watch"]:  # until Ctrl-C (exit 130) or a closed pipe
            for after in world.each(STATUS):
                found = parse_json(after)
                context.output.value(found)
                context.output.redraw(status_lines(found, context.name))
            return 0
    context.output.value(found)
    for text, mood in status_lines(found, context.name):
        context.output.line(text, mood)
    return 0


def watch(context: CommandContext) -> int:
    """Goes on until Ctrl-C (exit 130) or a closed pipe."""
    with open_connection(context) as world:
        path = context["path"]
        if path:
            path = world.stat(path).path
            for event in world.watch(path, kind="changes", since="now"):
                kind = str(event.change.get("kind", "changed"))
                at = str(event.change.get("path", path))
                context.output.report(f"{kind:9} {at}", {"event": "change", "kind": kind, "path": at})
            return 0
        before: dict[str, object] = {}
        for after in world.each(STATUS):
            now = parse_json(after)
            for item in diff_status(before, now):
                text, mood = event_line(item)
                context.output.report(text, item, mood)
            before = now
    return 0


def cancel(context: CommandContext) -> int:
    """A job of the agent, or of a robot that it sees. Exit 1 if it has ended already, or its robot may still move."""
    id = context["job"]
    with open_connection(context) as world:
        places = [f"/agents/self/jobs/{id}", *(f"/nodes/{node}/jobs/{id}" for node in world.list("/nodes"))]
        place = next((place for place in places if world.exists(f"{place}/status.json")), None)
        if place is None:
            raise NotFound(coded("runtime.no_job", id=id), op="cancel", fix=coded("command.status_lists"))
        state, _ = _job(world, place)
        if state in _ENDED:
            return said_too_late(context, id, state)
        world.write(f"{place}/cancel", "cancel\n")
        end, outcome = SystemClock().monotonic() + CONFIRM_S, None
        if state == _RUNNING:  # its end says whether the robot stands
            while state not in _ENDED and SystemClock().monotonic() < end:
                SystemClock().wait(threading.Event(), LOOK_S)
                state, outcome = _job(world, place)
    return said_cancelled(context, id, state, outcome)


def _job(world: BlockingWorld, place: str) -> tuple[str, Outcome | None]:
    """The state of a job; of a robot's, how it ended."""
    data, path = world.read(f"{place}/status.json", wait=0), f"{place}/status.json"
    found = parse_json(data)
    if "status" not in found:  # of an agent
        return str(found.get("state")), None
    status = read_status(data, path)
    return status.state.value, status.outcome if status.state.terminal else None


def _status(world: BlockingWorld) -> dict[str, object]:
    try:
        found: dict[str, object] = parse_json(world.read(STATUS))
    except NotFound as error:
        error.fix = "this server shows you no workspace: `paos ls /` shows what it does"
        raise
    return found
