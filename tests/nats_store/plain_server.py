"""Peers on loopback: a server that offers no TLS, and a relay that can be led elsewhere."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from typing import Self


class _Listener:
    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._open: list[socket.socket] = []

    def __enter__(self) -> Self:
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end(self._socket)
        self.cut()

    def cut(self) -> None:
        for taken in self._open:
            self._end(taken)

    def _serve(self) -> None:
        while True:
            try:
                taken, _ = self._socket.accept()
            except OSError:
                return
            self._open.append(taken)
            threading.Thread(target=self.meet, args=(taken,), daemon=True).start()

    def meet(self, taken: socket.socket) -> None:
        raise NotImplementedError

    @staticmethod
    def _end(one: socket.socket) -> None:
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
        one.close()


class PlainServer(_Listener):
    """It speaks the protocol without TLS, says `info` of itself, and keeps what it hears."""

    def __init__(self, **info: object) -> None:
        super().__init__()
        self._info = {"server_id": "S", "version": "2.12.3", "max_payload": 1 << 20, "jetstream": True, **info}
        self.heard, self.met = b"", 0

    def meet(self, taken: socket.socket) -> None:
        self.met += 1
        with suppress(OSError):
            taken.sendall(b"INFO " + json.dumps(self._info).encode() + b"\r\n")
            while data := taken.recv(65536):
                self.heard += data
                taken.sendall(b"PONG\r\n")


class Relay(_Listener):
    """Every connection goes on to a port, until it is led to another one: that ends those that are open."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self._to = port

    def lead_to(self, port: int) -> None:
        self._to = port
        self.cut()

    def meet(self, taken: socket.socket) -> None:
        try:
            on = socket.create_connection(("127.0.0.1", self._to))
        except OSError:
            return self._end(taken)
        self._open.append(on)
        threading.Thread(target=self._pump, args=(on, taken), daemon=True).start()
        self._pump(taken, on)

    def _pump(self, source: socket.socket, to: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                to.sendall(data)
        self._end(source)
        self._end(to)
