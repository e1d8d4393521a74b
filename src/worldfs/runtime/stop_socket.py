"""The sockets at which a kernel hears the stops of other processes of its machine (stop_call.py, kernel_addresses.py).

A datagram needs no new descriptor, and a thread that does nothing else receives it. The system says which user sent it.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from typing import Final

from worldfs.access.standing import standing_named
from worldfs.base.durable import Root
from worldfs.base.forked_child import keep_from_children
from worldfs.base.json_values import as_list, as_text
from worldfs.base.model import Json

from .grace import BODY
from .kernel_addresses import bind_address, own_address
from .stop_call import LARGEST, ROOM, SOCKETS, read_message, sending_user, socket_address
from .stop_listener import StopListener
from .stop_report import StopReport, robot_value, text_value

ANSWER_S: Final = BODY.stop_s + 0.5  # for the robots to stand, and the log to be written
ROBOTS: Final = 200  # of one answer


class StopSocket:
    """Of one kernel, from `start` to `close`. Raises `OSError` or `WorldError` where none can be made."""

    def __init__(self, root: str | os.PathLike[str], listener: StopListener, home: str = "") -> None:
        self._listener, self._root = listener, os.path.abspath(root)
        self._users = {0, os.geteuid(), os.stat(root).st_uid}
        self._place = place = Root(root).ensure_parent(f"{SOCKETS}/{os.urandom(8).hex()}", private=True)
        self._drop_dead()
        with ExitStack() as stack:
            named = bind_address(own_address(root, place.name, home))
            self._sockets = [] if named is None else [stack.enter_context(named)]
            file = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
            file.bind(socket_address(place.folder.fd, place.name))
            os.chmod(place.name, 0o600, dir_fd=place.folder.fd)
            self._sockets.append(file)
            for one in self._sockets:
                keep_from_children(one.fileno())
                one.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            stack.pop_all()
        self._threads = [
            threading.Thread(target=self._receive, args=(one,), name="stop socket", daemon=True)
            for one in self._sockets
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """The file goes last: a kernel that has another address and no file there serves what is not at its path."""
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)  # its thread waits there
        for thread in self._threads:
            if thread.is_alive():
                thread.join()
        for one in self._sockets:
            one.close()
        with suppress(OSError):
            os.unlink(self._place.name, dir_fd=self._place.folder.fd)

    def _drop_dead(self) -> None:
        """Remove the sockets of kernels that were killed."""
        folder = self._place.folder
        for name in folder.names():
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other, suppress(OSError):
                try:
                    other.connect(socket_address(folder.fd, name))
                except ConnectionRefusedError:
                    os.unlink(name, dir_fd=folder.fd)

    def _receive(self, at: socket.socket) -> None:
        while True:
            try:
                data, about, _, sender = at.recvmsg(LARGEST, ROOM)
            except OSError:
                return
            if not data and not about:
                return  # it is closed
            if sending_user(about) in self._users:
                with suppress(Exception):  # whatever was sent, the next stop is heard
                    self._hear(read_message(data), partial(self._send, at, sender))

    def _hear(self, request: Json, send: Callable[[Json], None]) -> None:
        id, by, wanted = as_text(request.get("id"))[:64], as_text(request.get("by"))[:200], request.get("nodes")
        if not id:
            return
        every = wanted is None
        nodes = [node for node in map(as_text, as_list(wanted)) if self._listener.serves(node)]
        if not every and not nodes:
            send({"id": id, "told": True, "took": []})
            self._answer(send, id, StopReport())
            return
        standing = standing_named(request.get("standing"))
        ticket = self._listener.stop(nodes, by, standing=standing, every=every, id=id)
        send({"id": id, "told": True, "took": None if every else nodes})
        self._listener.call_when_settled(ticket, ANSWER_S, partial(self._answer, send, id))

    def _answer(self, send: Callable[[Json], None], id: str, report: StopReport) -> None:
        said: Json = {"id": id, "unstored": text_value(report.unstored), "others": report.others}
        for first in range(0, max(1, len(report.robots)), ROBOTS):
            robots = [robot_value(robot) for robot in report.robots[first : first + ROBOTS]]
            send({**said, "robots": robots, "last": first + ROBOTS >= len(report.robots)})

    def _send(self, at: socket.socket, sender: object, answer: Json) -> None:
        if isinstance(sender, str | bytes) and sender:
            with suppress(OSError):  # it has gone
                said = {"pid": os.getpid(), "root": self._root, **answer}
                at.sendto(json.dumps(said).encode(), socket.MSG_DONTWAIT, sender)
