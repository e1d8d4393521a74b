"""The supervisor: a small process between the runner and the command, so that all that the command starts is below it.

It adopts every orphan below it (man 2 prctl, PR_SET_CHILD_SUBREAPER). Hence "no children left" is, by the kernel's
own report that nothing is left. It ends the command at its deadline, on request, and when the runner has gone.

Orders come in as lines of JSON: the work (once), {"do": "go"}, {"do": "end"}, {"do": "kill"}. Reports go out:
{"forked"}, {"running"} or {"failed"}, {"ended"}.
"""

from __future__ import annotations

import errno
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple, NoReturn

from worldfs.base import proc

from . import prctl
from .launch import START_S, python_command
from .reaper import STEP, Interruption, ProcessLabel, ReapResult, reap

STAY: Final = 600.0  # s that the supervisor goes on with what it could not end in time
DEAF: Final = ("INT", "TERM", "HUP", "QUIT", "PIPE", "TSTP", "TTIN", "TTOU", "USR1", "USR2")


def main() -> NoReturn:
    """`sys.argv`: the path of our packages (used by the caller), the descriptors of orders and of reports."""
    orders, reports = int(sys.argv[-2]), int(sys.argv[-1])
    for fd in (orders, reports):
        os.set_inheritable(fd, False)
    warden = _Supervisor(orders, reports)
    try:
        warden.work()
    except BaseException as error:
        warden.send({"broken": f"{type(error).__name__}: {error}"})
        os._exit(1)
    os._exit(0)


class _WorkOrder(NamedTuple):
    """The command, and how it is ended; times in seconds. The runner's `child.py` writes it."""

    argv: list[str]
    env: dict[str, str]
    cwd: str
    timeout: float | None
    grace: float
    limit: float
    linger: float


def _work_order(order: dict[str, object]) -> _WorkOrder:
    argv, env, timeout = order["argv"], order["env"], order["timeout"]
    assert isinstance(argv, list) and isinstance(env, dict)
    grace, limit, linger = (float(str(order[key])) for key in ("grace", "limit", "linger"))
    return _WorkOrder(
        argv, env, str(order["cwd"]), None if timeout is None else float(str(timeout)), grace, limit, linger
    )


class _Supervisor:
    def __init__(self, orders: int, reports: int) -> None:
        self.orders, self.reports = orders, reports
        self.runner = os.getppid()
        self.adopts = prctl.become_subreaper() and proc.visible()
        self.buffer = b""
        self.stop_order = ""  # "end" | "kill"
        self.orphaned = False
        self.child = 0
        self.gate = self.errors = -1  # of the launcher: the command goes in, and why it could not be executed comes out
        self.failure, self.begun = b"", False
        self.status: int | None = None
        self.poll = select.poll()
        self.poll.register(orders, select.POLLIN)
        self.life = _descriptor(self.runner)
        if self.life >= 0:
            self.poll.register(self.life, select.POLLIN)
        self.bell, ring = os.pipe()
        os.set_blocking(ring, False)
        signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        self.poll.register(self.bell, select.POLLIN)
        for name in DEAF:
            signal.signal(getattr(signal, f"SIG{name}"), signal.SIG_IGN)

    # -- talking ---------------------------------------------------------------------------------------------------

    def send(self, report: dict[str, object]) -> None:
        data = json.dumps(report).encode() + b"\n"
        with suppress(OSError):  # the runner has gone
            while data:
                data = data[os.write(self.reports, data) :]

    def read_events(self) -> list[dict[str, object]]:
        """The runner's orders so far; the end of the pipe means that the runner has gone."""
        data = os.read(self.orders, 1 << 16)
        if not data:
            self.orphaned = True
            with suppress(KeyError):
                self.poll.unregister(self.orders)
        *lines, self.buffer = (self.buffer + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def listen(self, seconds: float | None) -> list[dict[str, object]]:
        """Wait for anything at most so long: orders, the end of a child, the end of the runner."""
        received: list[dict[str, object]] = []
        try:
            ready = self.poll.poll(None if seconds is None else max(0.0, seconds) * 1000)
        except InterruptedError:
            return received
        for fd, _ in ready:
            if fd == self.orders:
                received += self.read_events()
            elif fd == self.bell:
                os.read(self.bell, 512)
            elif fd == self.errors:
                self._read_failure()
            elif fd == self.life:
                self.orphaned = True
                self.poll.unregister(fd)
        if os.getppid() != self.runner:
            self.orphaned = True
        for order in received:
            if order.get("do") in ("end", "kill"):
                self.stop_order = str(order["do"])
        return received

    # -- the work --------------------------------------------------------------------------------------------------

    def work(self) -> None:
        order = self._await(lambda order: "argv" in order)
        if order is None:
            return
        spec = _work_order(order)
        self._launch()
        if self._await(lambda order: order.get("do") == "go", ended=True) is None:
            os.close(self.gate)  # it waits there, and goes away by itself
            self._leave(spec, "" if self.status is not None else "orphaned" if self.orphaned else "asked")
            return
        begun = time.monotonic()
        self._open_gate(spec)
        if self._started(begun + START_S):
            self._leave(spec, self._watch(None if spec.timeout is None else begun + spec.timeout))

    def _await(self, wanted: Callable[[dict[str, object]], bool], *, ended: bool = False) -> dict[str, object] | None:
        while not self.orphaned and not self.stop_order:
            for order in self.listen(1.0):
                if wanted(order):
                    return order
            if ended and self._reap():
                return None
        return None

    def _launch(self) -> None:
        """The command's process, with the command's own descriptors; what it becomes goes through the gate later."""
        gate, self.gate = os.pipe()
        self.errors, tell = os.pipe()
        for fd in (gate, tell):
            os.set_inheritable(fd, True)
        argv = python_command("worldfs.supervisor.launch", "become_later", str(os.getpid()), str(gate), str(tell))
        self.child = os.posix_spawn(argv[0], argv, os.environ, setsid=True)
        os.close(gate)
        os.close(tell)
        # Closed here: a reader of the command's output must see its end.
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        os.close(null)
        there = proc.find_process(self.child)
        self.send({"forked": {"pid": self.child, "start": there.start if there else 0, "tree": self.adopts}})

    def _open_gate(self, spec: _WorkOrder) -> None:
        data = memoryview(json.dumps({"argv": spec.argv, "env": spec.env, "cwd": spec.cwd}).encode())
        with suppress(BrokenPipeError):  # killed before it was started: its status will show it
            while data:
                data = data[os.write(self.gate, data) :]
        os.close(self.gate)

    def _read_failure(self) -> None:
        """The descriptor closes at exec; before that, it carries the error."""
        part = os.read(self.errors, 4096)
        self.failure += part
        if not part:
            self.poll.unregister(self.errors)
            os.close(self.errors)
            self.errors, self.begun = -1, True

    def _started(self, until: float) -> bool:
        self.poll.register(self.errors, select.POLLIN)
        while not self.begun and not self._pressed() and (rest := until - time.monotonic()) > 0:
            self.listen(rest)
        if not self.begun and not self._pressed():
            self.failure = json.dumps({"stage": "start", "errno": errno.ETIMEDOUT}).encode()
            os.kill(self.child, signal.SIGKILL)
        if self.failure:
            self.send({"failed": json.loads(self.failure)})
            return False
        self.send({"running": True})
        return True

    def _watch(self, deadline: float | None) -> str:
        """Until the command ends, or must: "" | deadline | asked | orphaned."""
        while True:
            self._reap()
            if self.status is not None:
                return ""
            if self.orphaned or self.stop_order:
                return "orphaned" if self.orphaned else "asked"
            rest = None if deadline is None else deadline - time.monotonic()
            if rest is not None and rest <= 0:
                return "deadline"
            # Once a second where the runner's end shows in the parent's number only.
            self.listen(rest if self.life >= 0 else min(1.0, rest if rest is not None else 1.0))

    def _leave(self, spec: _WorkOrder, why: str) -> None:
        """End what is left; report how the command ended and which other processes were ended."""
        begun = time.monotonic()
        _hasten()
        if not why:  # what the command leaves behind may be about to finish by itself: `tee`, a last upload
            while not self._gone() and not self._pressed() and (rest := begun + spec.linger - time.monotonic()) > 0:
                self.listen(min(rest, STEP * 5))
        swept = ReapResult()
        if not self._gone():
            grace = 0.0 if self.stop_order == "kill" else spec.grace
            swept = (self._sweep if self.adopts else self._sweep_group)(grace, spec.limit)
        self.send(
            {
                "ended": {
                    "code": None if self.status is None else os.waitstatus_to_exitcode(self.status),
                    "why": why,
                    "others": [one for one in swept.reaped if one.pid != self.child],
                    "survivors": swept.survivors,
                    "tree": self.adopts,
                    "reaping_s": round(time.monotonic() - begun, 4),
                }
            }
        )
        patience = STEP
        while not self._gone() and time.monotonic() < begun + STAY:
            # Survivors are reported; the supervisor goes on ending them.
            self._sweep(0.0, 0.1) if self.adopts else self._strike_group(signal.SIGKILL)
            time.sleep(patience)
            patience = min(2 * patience, 5.0)

    def _sweep(self, grace: float, limit: float) -> ReapResult:
        # Descendants have sessions, and so groups, of their own: no other process is in them.
        return reap(self._below, self._wait, now=time.monotonic, grace=grace, limit=limit, groups=True)

    def _pressed(self) -> bool:
        return self.orphaned or self.stop_order == "kill"

    def _below(self) -> list[proc.ProcessEntry]:
        return proc.descendants(os.getpid(), proc.all_processes())

    def _wait(self, seconds: float) -> Interruption:
        if self._gone():
            return "gone"
        self.listen(seconds)
        return "gone" if self._gone() else "hurry" if self.stop_order == "kill" else ""

    def _sweep_group(self, grace: float, limit: float) -> ReapResult:
        """Without adoption of orphans only the command's own process group is in reach."""
        begun = time.monotonic()
        self._strike_group(signal.SIGTERM)
        word: Interruption = ""
        while not word and time.monotonic() < begun + grace:
            word = self._wait(STEP)
        while word != "gone" and time.monotonic() < begun + limit:
            self._strike_group(signal.SIGKILL)
            word = self._wait(STEP)
        return ReapResult((), () if word == "gone" else (ProcessLabel(self.child, "its process group"),))

    def _strike_group(self, number: int) -> bool:
        try:
            os.killpg(self.child, number)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def _gone(self) -> bool:
        if not self._reap():
            return False
        if self.adopts:
            return True
        if proc.visible():  # a zombie that waits for its new parent counts for killpg, not here
            return not any(one.group == self.child and not one.dead for one in proc.all_processes())
        return not self._strike_group(0)

    def _reap(self) -> bool:
        """Collect the status of ended children; True when there is no child left, and so no descendant."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if pid == 0:
                return False
            if pid == self.child:
                self.status = status


def _hasten() -> None:
    """Real-time priority: a fork bomb must not starve the supervisor; without the right to it, the best niceness."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except (AttributeError, OSError):
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, -20)


def _descriptor(pid: int) -> int:
    """Readable once that process has ended; -1 where there is no such thing."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1
