"""A stop that is sent to the kernels of this machine, and what they answer. It needs no disk but to find them.

    <root>/.paos/sockets/<name>    of each serving process: SOCK_DGRAM, mode 0600; where it has gone from there, the
                                   process is found by the path or by the home (kernel_addresses.py)

One datagram goes to each: {"id", "by", "standing", "nodes"}, `nodes` null for every robot. A kernel answers {"id",
"pid", "root", "told", "took"} when its drivers were told, and then {"id", "pid", "root", "robots", "unstored",
"others", "last"}, in parts where there are many robots.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Final, NamedTuple, Self

from worldfs.access.standing import shown_actor, standing_of
from worldfs.base.clock import Clock
from worldfs.base.dir_reader import DirFd, DirReader
from worldfs.base.errors import WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_int, as_object, as_objects, as_text
from worldfs.base.model import Json
from worldfs.storage.revision import PRIVATE_DIR

from .kernel_addresses import KernelAddress, home_kernels, kernel_addresses, name_in
from .stop_log import new_stop_id
from .stop_report import RobotStop, StopReport, read_robot, read_text

SOCKETS: Final = f"{PRIVATE_DIR}/sockets"
AGAIN_S: Final = 0.01  # between two tries to send it to a kernel whose queue is full
LARGEST: Final = 128 << 10  # bytes of a datagram; every Linux takes as many
_SENDER: Final = struct.Struct("iii")  # struct ucred: pid, uid, gid (man 7 unix)
ROOM: Final = socket.CMSG_SPACE(_SENDER.size)


class KernelAnswer(NamedTuple):
    """What one kernel said. `took`: the robots that it has told, None: every robot that there is. `report`: what became
    of it; None: not known yet. `root`: the path of the workspace that it was started for."""

    pid: int
    took: Sequence[str] | None
    report: StopReport | None = None
    root: str = ""


class HomeKernel(NamedTuple):
    """A kernel that lives and was started for a home. `root`: the path of its workspace; "": it does not say."""

    pid: int
    root: str


class StopCall:
    """Used by one thread. It is sent when it is made; no kernel need be there."""

    def __init__(
        self,
        roots: Iterable[str | os.PathLike[str]],
        clock: Clock,
        nodes: Iterable[str] | None,
        name: str,
        *,
        home: str = "",
    ) -> None:
        """`nodes` None: every robot. `name`: of the actor (access/standing.py). `home`: its kernels are told too,
        whichever workspace they serve; "": none."""
        self.id, self._clock = new_stop_id(), clock
        self.sent: set[str] = set()  # the names of the sockets of kernels that live
        self.pids: dict[str, int] = {}  # of those that were found by the path or by the home
        self.answers: dict[str, KernelAnswer] = {}  # by socket
        self._users = {0, os.geteuid()}
        self._robots: dict[str, list[RobotStop]] = {}
        self._socket: socket.socket | None = None
        by, standing = shown_actor(name), standing_of(name)
        wanted = None if nodes is None else [*nodes]
        self._unsent: list[tuple[str, str]] = []  # names and addresses
        self._folders: list[DirFd] = []  # in which the addresses are
        self._request = json.dumps({"id": self.id, "by": by, "standing": standing.word, "nodes": wanted}).encode()
        for root in roots:
            with suppress(OSError, WorldError):  # no directory, or none that may be read: no kernel is found there
                self._send(self._in_directory(root))
            self._send_named(kernel_addresses(root, self._users))
        if home:
            with suppress(OSError):
                self._users.add(os.stat(home).st_uid)
            self._send_named(home_kernels(home, self._users))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._socket is not None:
            self._socket.close()

    @property
    def finds(self) -> bool:
        """Whether this system tells which kernels were started for a path or a home."""
        return sys.platform == "linux"

    @property
    def told(self) -> bool:
        """Whether a kernel has told its drivers, and writes the stop to the log."""
        return any(answer.took is None or answer.took for answer in self.answers.values())

    def wait_told(self, seconds: float) -> bool:
        """Until each kernel has answered that it told its drivers, or the time is up."""
        return self._wait(seconds, lambda: self.answers.keys() >= self.sent) and self.told

    def wait(self, seconds: float) -> bool:
        """Until each kernel has said what became of it: whether all have."""
        return self._wait(seconds, lambda: not self.silent)

    @property
    def silent(self) -> bool:
        """Whether a kernel that lives has not said what became of it."""
        return any(name not in self.answers or self.answers[name].report is None for name in self.sent)

    @property
    def unheard(self) -> list[int]:
        """The processes that it was sent to and that have said nothing, as far as their numbers are known."""
        return sorted(pid for name, pid in self.pids.items() if name in self.sent and name not in self.answers)

    def reports(self) -> list[StopReport]:
        return [answer.report for answer in self.answers.values() if answer.report is not None]

    def _in_directory(self, root: str | os.PathLike[str]) -> list[tuple[str, str]]:
        self._users.add(os.stat(root).st_uid)
        folder = DirReader(root).folder(SOCKETS)
        self._users.add(os.stat(folder.fd).st_uid)
        self._folders.append(folder)
        return [(name, socket_address(folder.fd, name)) for name in folder.names()]

    def _send_named(self, found: Mapping[str, KernelAddress]) -> None:
        self.pids |= {name: one.pid for name, one in found.items()}
        with suppress(OSError):
            self._send([(name, one.address) for name, one in found.items() if name not in self.sent])

    def _send(self, to: Collection[tuple[str, str]]) -> None:
        if not to:
            return
        if self._socket is None:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            self._socket.bind(b"")  # a name that the system chooses, in no directory
        self._unsent += to
        self._send_rest()

    def _send_rest(self) -> None:
        """To the kernels that have not taken it yet: one whose queue is full lives, and may take it later."""
        sender, rest, self._unsent = self._socket, self._unsent, []
        if sender is None:
            return
        for name, address in rest:
            with suppress(OSError):  # of a kernel that has gone, or of another user
                try:
                    sender.sendto(self._request, socket.MSG_DONTWAIT, address)
                except (BlockingIOError, TimeoutError):  # the second where it waits for answers already
                    self._unsent.append((name, address))
                self.sent.add(name)

    def _wait(self, seconds: float, done: Callable[[], bool]) -> bool:
        end = self._clock.monotonic() + seconds
        while not done():
            left = end - self._clock.monotonic()
            if self._socket is None or left <= 0:
                return False
            self._send_rest()
            self._socket.settimeout(min(left, AGAIN_S) if self._unsent else left)
            try:
                data, about, _, sender = self._socket.recvmsg(LARGEST, ROOM)
            except TimeoutError:
                continue
            if sending_user(about) in self._users:
                self._hear(read_message(data), sender)
        return True

    def _hear(self, said: Json, sender: object) -> None:
        """`sender`: the address that the kernel answered from, to which the stop was sent."""
        name = name_in(sender)
        if said.get("id") != self.id or name not in self.sent:
            return
        known, pid = self.answers.get(name), as_int(said.get("pid"))
        if said.get("told") is True:
            took = said.get("took")
            names = None if took is None else [as_text(one) for one in took] if isinstance(took, list) else []
            report = known.report if known is not None else None
            self.answers[name] = KernelAnswer(pid, names, report, as_text(said.get("root")))
            return
        robots = self._robots.setdefault(name, [])
        robots += filter(None, map(read_robot, as_objects(said.get("robots"))))
        if said.get("last") is True:
            report = StopReport(tuple(robots), read_text(said.get("unstored")), said.get("others") is not False)
            took = known.took if known is not None else report.nodes
            self.answers[name] = KernelAnswer(pid, took, report, as_text(said.get("root")))


def other_kernels(home: str, root: str | os.PathLike[str], clock: Clock, seconds: float) -> list[HomeKernel]:
    """The kernels of that home which serve another workspace than that of `root`: each is asked, and no robot is
    stopped."""
    users = {0, os.geteuid()}
    with suppress(OSError):
        users.add(os.stat(home).st_uid)
    there = home_kernels(home, users) if home else {}
    if not there.keys() - kernel_addresses(root, users).keys():
        return []
    with StopCall([], clock, [], "", home=home) as call:
        call.wait(seconds)
        here = kernel_addresses(root, users)
        said = {name: call.answers[name].root if name in call.answers else "" for name in there}
        return sorted(HomeKernel(one.pid, said[name]) for name, one in there.items() if name not in here)


def socket_address(folder: int, name: str) -> str:
    """A socket in an open directory, however long the directory's own path is."""
    return f"/proc/self/fd/{folder}/{name}"


def sending_user(about: Iterable[tuple[int, int, bytes]]) -> int:
    """The user who sent a datagram, by what the system says beside it; -1: not said."""
    for level, kind, data in about:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS) and len(data) >= _SENDER.size:
            return int(_SENDER.unpack_from(data)[1])
    return -1


def read_message(data: bytes) -> Json:
    """{} for anything that is no JSON object."""
    try:
        return as_object(parse_json(data))
    except ValueError:
        return {}
