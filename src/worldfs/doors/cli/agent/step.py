"""One step of a session at a time, for shell scripts: start, event, outcome, end.

`start` leaves a keeper behind: a small process that holds the session's lock as long as the script lives, so that a
second start is told who runs, and a script that dies is noticed at once.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

from worldfs.ground.errors import BadInput

from ..call import Call
from . import facts, opened

if TYPE_CHECKING:
    from worldfs.agents.state import AgentState

OUTCOME = ".paos/outcome.json"  # facts for the end of the session that runs


def session_fields(call: Call) -> dict[str, Any]:
    """The options of a session by the names of session.json."""
    given = {
        "domain": call["domain"],
        "branch": call["branch"],
        "model": call["model"],
        "timeout_seconds": None if call["timeout"] is None else int(call["timeout"]),
        "research_question": call["question"],
        "belief_targeted": call["belief"],
        "disconfirmation_target": call["disconfirm"],
        "sources_expected": call["expect"],
    }
    return {key: value for key, value in given.items() if value is not None}


def start(call: Call) -> int:
    parent = call["for"] or os.getppid()
    try:
        watched = os.pidfd_open(parent)
    except (OSError, AttributeError) as error:
        raise BadInput(f"no process {parent}", op="start", expected="the id of a living process: --for PID") from error
    with opened(call) as state:
        record = state.start(type=call["type"], argv=(), id=call["id"], **session_fields(call))
        _keep(state, watched)
    call.voice.say(record.session_id, record._asdict())
    return 0


def event(call: Call) -> int:
    with opened(call) as state:
        seq = state.event(call["event"], **facts(call["facts"]))
    call.voice.say(str(seq), {"seq": seq})
    return 0


def outcome(call: Call) -> int:
    import json

    said = facts(call["facts"])
    with opened(call) as state, state.room.alone():
        stored = state.room.store.get(OUTCOME)
        before = json.loads(stored.data) if stored is not None else {}
        state.room.root.replace(OUTCOME, json.dumps({**before, **said}, ensure_ascii=False).encode(), private=True)
    call.voice.say(", ".join(said), said)
    return 0


def end(call: Call) -> int:
    import json

    with opened(call) as state:
        stored = state.room.store.get(OUTCOME)
        said = {**(json.loads(stored.data) if stored is not None else {}), **facts(call["facts"])}
        words = {
            "summary": call["summary"] or said.pop("summary", ""),
            "handoff": call["handoff"] or said.pop("handoff", ""),
            "next_priority": call["next"] or said.pop("next_priority", None),
            "errors": [call["why"]] if call["why"] else said.pop("errors", []),
        }
        for key in words:
            said.pop(key, None)
        record = state.finish(call["outcome"], session=os.environ.get("PAOS_SESSION", ""), **words, **said)
        if stored is not None:
            state.room.store.delete(OUTCOME)
    call.voice.say(f"{record.session_id} {record.status}", record._asdict(), "good")
    return 0


def _keep(state: AgentState, watched: int) -> None:
    """Fork the keeper: it has the lock's descriptor, and ends when the script or the session does."""
    ready, told = os.pipe()
    if os.fork():
        os.close(told)
        os.read(ready, 1)
        os.close(ready)
        return
    try:
        os.setsid()
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        os.close(ready)
        with state.room.store.watch(".paos/jobs") as watch:
            os.close(told)
            _wait(state, watched, watch)
    finally:
        os._exit(0)


def _wait(state: AgentState, watched: int, watch: Any) -> None:
    import select
    import threading

    from worldfs.agents import session_job

    gone = threading.Event()

    def until_gone() -> None:
        select.select([watched], [], [])
        gone.set()
        watch.wake()

    threading.Thread(target=until_gone, daemon=True).start()
    sid = session_job.running(state)
    while sid and session_job.running(state) == sid and not gone.is_set():
        watch.read(session_job.LEASE_S / 3)
        state.heartbeat()
    if gone.is_set() and session_job.running(state) == sid:
        with state.room.alone():
            session_job.recover(state)
