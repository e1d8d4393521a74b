"""A process that outlives the command which starts it: a Python executed for it, and a socket between the two.

The command gives one order and waits for one answer. A fork would copy locks, and not the threads that hold them.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, Self

import worldfs
from worldfs.base.errors import StorageError
from worldfs.base.json_values import as_object
from worldfs.base.messages import coded
from worldfs.base.model import Json

from .caller_socket import MESSAGE
from .launch import START_S

_CODE: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); from importlib import import_module;"
    " import_module(sys.argv[2]).serve_caller(int(sys.argv[3]))"
)


class DetachedProcess:
    """The caller's side. The module's function `serve_caller(descriptor)` makes a `CallerSocket` of it.

    The process loads its modules while the caller goes on. It has a session of its own and none of the caller's other
    descriptors. It ends when the caller ends without an order.
    """

    def __init__(self, module: str) -> None:
        self._module = module
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        packages = os.path.dirname(os.path.dirname(os.path.abspath(worldfs.__file__)))
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _CODE, packages, module, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=(theirs.fileno(),),
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def order(self, order: Json, descriptors: Sequence[int] = ()) -> None:
        """What it is to do, with copies of these descriptors."""
        with suppress(BrokenPipeError):  # it has ended: `answer` says so
            socket.send_fds(self._socket, [json.dumps(order).encode()], descriptors)

    def answer(self) -> Json:
        """Its answer; then it goes on alone. Raises `StorageError` if it ends without one, or takes too long."""
        self._socket.settimeout(START_S)
        try:
            data = self._socket.recv(MESSAGE)
        except TimeoutError:
            self._process.kill()
            data = b""
        except ConnectionError:  # it ended with the order unread
            data = b""
        self.close()
        if not data:
            raise StorageError(coded("command.no_detached", module=self._module), op="spawn", code="SPAWN")
        return as_object(json.loads(data))

    def close(self) -> None:
        if self._socket.fileno() >= 0:
            self._socket.close()
            threading.Thread(target=self._process.wait, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
