"""The keeper of a script's session: a process that holds the session's lock, and ends with the script or the session.

So a second start is told which process runs, and a script that dies is noticed at once.
"""

from __future__ import annotations

import os
import select
import signal
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from worldfs.supervisor.caller_socket import CallerSocket

if TYPE_CHECKING:
    from worldfs.agents.agent_state import AgentState
    from worldfs.storage.store_interface import StoreWatch


def serve_caller(descriptor: int) -> None:
    """The order: {root, name, session, shared}, with the pidfd of the script and the descriptor of the session's lock.

    With these two it keeps the session; it answers, and only then loads what it keeps it with. An agent that hosts
    share (`shared`) has a lease on the engine too: the keeper answers once it holds that.
    """
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    caller = CallerSocket(descriptor)
    order, descriptors = caller.order()
    if not order:
        return
    os.chdir("/")
    root, name, sid = (str(order[word]) for word in ("root", "name", "session"))
    if not order["shared"]:
        caller.answer({"keeps": sid})
    from worldfs.agents.agent_state import AgentState
    from worldfs.agents.journal import NAME

    with AgentState.open(name, root) as state, state.agent_dir.store.watch(".paos/jobs") as watch:
        if (mirror := state.agent_dir.mirror) is not None:
            mirror.demand(NAME)
            caller.answer({"keeps": sid})
        _keep(state, sid, descriptors[0], watch)
        for one in descriptors:  # the lock is free before the interpreter ends
            os.close(one)


def _keep(state: AgentState, sid: str, watched: int, watch: StoreWatch) -> None:
    from worldfs.agents import session_job

    gone = threading.Event()

    def until_gone() -> None:
        select.select([watched], [], [])
        gone.set()
        watch.wake()

    threading.Thread(target=until_gone, daemon=True).start()
    while session_job.running_session(state) == sid and not gone.is_set():
        watch.read(session_job.LEASE_S / 3)
        state.heartbeat()
    if gone.is_set():
        with state.agent_dir.locked():
            if session_job.running_session(state) == sid:
                session_job.recover(state)


def wait_for_keeper(keeper: int, seconds: float) -> None:
    """Wait until the keeper has ended, so that the next start need not."""
    with suppress(OSError):
        fd = os.pidfd_open(keeper)
        try:
            select.select([fd], [], [], seconds)
        finally:
            os.close(fd)
