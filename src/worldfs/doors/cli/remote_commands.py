"""`paos --connect ws://HOST:PORT do|status|watch|cancel`: what a served world is asked to do, and how it is there."""

from __future__ import annotations

import json
import signal
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from worldfs.ground.errors import BadInput, NotFound, WorldError
from worldfs.roles.stop_words import is_stop

from .command_context import CommandContext
from .connect_commands import open_connection
from .do_command import EXIT
from .signals import stop_on
from .status_command import lines, status_lines
from .status_diff import diff_status, event_line

if TYPE_CHECKING:
    from worldfs.remote.blocking import BlockingJob, BlockingWorld
    from worldfs.remote.remote_types import JobResult

STATUS = "/meta/status.json"


def do(call: CommandContext) -> int:
    """A message to the agent's chat, followed to its end; exit codes as of `do` on this machine."""
    from .stop_command import chinese, far_stop

    text = " ".join(call["instruction"]).strip()
    if not text:
        raise BadInput("no instruction", op="do", expected='words, for example: paos do "clear the table"')
    if is_stop(text):
        return far_stop(call, chinese(text))
    if call["record"]:
        from .film_recording import check_film_options

        check_film_options(call)
    ignored = [f"--{name}" for name in ("driver", "seed") if call[name] is not None]
    ignored += ["--no-cameras"] if call["no_cameras"] else []
    if ignored:
        call.voice.aside(f"paos: the server's kernel has its robot; {', '.join(ignored)} is its affair and was ignored")
    with ExitStack() as stack:
        world = stack.enter_context(open_connection(call))
        film = _film(call, world) if call["record"] or call["node"] else None
        if film is not None:
            stack.enter_context(film)
        verdict, message = _followed(call, world, text)
    code = EXIT[verdict]
    value = {"event": "result", "verdict": verdict, "goal_holds": verdict == "reached", "message": message}
    call.voice.say(message, value, "good" if code == 0 else "bad")
    if film is not None and not film.made:
        call.voice.aside("paos: nothing moved, so there is no film")
    elif film is not None:
        call.voice.say(f"film: {call['record']}", {"event": "film", "file": call["record"]})
    return code


def _followed(call: CommandContext, world: BlockingWorld, text: str) -> tuple[str, str]:
    """The verdict and the words for it. The first Ctrl-C, and the end of --timeout, cancel the job."""
    why: list[str] = []
    job = world.chat(text)

    def give_up(reason: str) -> None:
        why.append(reason)
        threading.Thread(target=_cancel, args=(job,), daemon=True).start()  # the connection is at work in this one

    def ask() -> None:
        call.voice.aside("paos: stopping safely (Ctrl-C again leaves at once; the robot goes on) …")
        give_up("interrupted")

    verdict: dict[str, Any] = {}
    with ExitStack() as stack:
        stack.enter_context(stop_on(ask, signal.SIGINT, signal.SIGTERM))
        if call["timeout"] is not None:
            timer = threading.Timer(call["timeout"], give_up, ("timeout",))
            timer.daemon = True
            timer.start()
            stack.callback(timer.cancel)
        for entry in job.progress():
            if entry.get("type") == "progress":
                call.voice.say(str(entry["message"]), {"event": "progress", "message": entry["message"]})
            elif entry.get("type") in ("verdict", "error"):
                verdict = {**entry, **verdict}  # the planner's word goes before the job's
        ended = job.result()
    return _verdict(ended, verdict, why[0] if why else "", call["timeout"])


def _verdict(ended: JobResult, said: dict[str, Any], why: str, timeout: float | None) -> tuple[str, str]:
    word = str(said.get("verdict") or said.get("code") or ("answered" if ended.ok else "failed"))
    cause = ended.error.partition(":")[0]
    if not ended.ok and why and (word == "cancelled" or cause == "cancelled"):
        stopped = "the robot stopped safely"
        return why, f"Interrupted: {stopped}" if why == "interrupted" else f"Timed out after {timeout:g} s: {stopped}"
    if not ended.ok and cause in ("timeout", "cancelled") and word != "stopped":
        return cause, ended.error
    return word if word in EXIT else "failed", str(said.get("message") or ended.text or ended.error)


def _cancel(job: BlockingJob) -> None:
    from contextlib import suppress

    with suppress(WorldError):  # it has ended, or the connection has: the one who waits for it says so
        job.cancel()


def _film(call: CommandContext, world: BlockingWorld) -> Any:
    """Of the one robot, which --node may name: the agent's own planner chooses no other. None without --record."""
    from .film_recording import RemoteFilmRecording

    status = _status(world)
    ids = [str(node["id"]) for node in status["nodes"]]
    robots = [id for id in ids if world.exists(f"/nodes/{id}/film")]
    node = call["node"]
    if node is not None and node not in robots:
        raise NotFound(f"no robot {node!r}", op="do", expected="one of: " + (", ".join(robots) or "no robot is here"))
    if len(robots) != 1:
        fix = f"give the order to one: paos write /nodes/{node or 'NODE'}/ACTION.md"
        raise BadInput(
            f"{len(robots)} robots: the server's agents.brains says which one the agent {world.bound.agent} commands",
            op="do", expected="one robot, with --node or --record over --connect", fix=fix,
        )  # fmt: skip
    return RemoteFilmRecording(world, robots[0], str(status["workspace"]), call["record"]) if call["record"] else None


def status(call: CommandContext) -> int:
    with open_connection(call) as world:
        found = _status(world)
        if call["watch"]:  # until Ctrl-C (exit 130) or a closed pipe
            for after in world.each(STATUS):
                found = json.loads(after)
                call.voice.value(found)
                call.voice.redraw(status_lines(lines(found, call.name)))
            return 0
    call.voice.value(found)
    for text, mood in status_lines(lines(found, call.name)):
        call.voice.line(text, mood)
    return 0


def watch(call: CommandContext) -> int:
    """Goes on until Ctrl-C (exit 130) or a closed pipe."""
    with open_connection(call) as world:
        path = call["path"]
        if path:
            path = world.stat(path).path
            for event in world.watch(path, kind="changes", since="now"):
                kind = str(event.change.get("kind", "changed"))
                at = str(event.change.get("path", path))
                call.voice.say(f"{kind:9} {at}", {"event": "change", "kind": kind, "path": at})
            return 0
        before: dict[str, Any] = {}
        for after in world.each(STATUS):
            now = json.loads(after)
            for item in diff_status(before, now):
                text, mood = event_line(item)
                call.voice.say(text, item, mood)
            before = now
    return 0


def cancel(call: CommandContext) -> int:
    """A job of the agent, or of a robot that it sees. Exit 1 if it has ended already."""
    id = call["job"]
    with open_connection(call) as world:
        places = [f"/agents/self/jobs/{id}", *(f"/nodes/{node}/jobs/{id}" for node in world.list("/nodes"))]
        place = next((place for place in places if world.exists(f"{place}/status.json")), None)
        if place is None:
            raise NotFound(f"no job {id!r}", op="cancel", fix="paos status shows them")
        state = str(json.loads(world.read(f"{place}/status.json", wait=0)).get("state"))
        if state in ("done", "failed", "succeeded"):
            over = {"job": id, "cancel": "too late", "state": state}
            call.voice.say(f"{id}: it has ended already ({state}); nothing to cancel", over, "warn")
            return 1
        world.write(f"{place}/cancel", "cancel\n")
    call.voice.say(f"{id}: cancel asked for; paos status tells when it stands", {"job": id, "cancel": "asked"})
    return 0


def _status(world: BlockingWorld) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(world.read(STATUS))
    except NotFound as error:
        error.fix = "this server shows you no workspace: `paos ls /` shows what it does"
        raise
    return found
