"""A simulated robot on loopback: joints or a base with inertia, behind a wire with latency, that no library knows of.

The stand-ins of the robots' libraries beside this file speak to it as the libraries speak to theirs. It moves by
itself, on `CLOCK` where a test has set one, else in real time; with `manual` it moves in `advance` only.
"""

from __future__ import annotations

import json
import math
import socket
import socketserver
import threading
import time

import numpy as np

CLOCK = None  # a clock in hand, on which robots move and their libraries wait; None: the machine's
ANSWER_S = 60.0  # real seconds for an answer on loopback, however busy the machine is
TICK = 0.002  # s, of the physics
HEARD = {}  # when each of those that tell of themselves in a thread of their own has told last, on `CLOCK`
HERE = {}  # the simulated robots of this process, by address
INERTIA = 0.03  # s in which a speed follows
LAG = 0.05  # s in which a servo closes in on its goal


def monotonic():
    return time.monotonic() if CLOCK is None else CLOCK.monotonic()


def sleep(seconds):
    """On a clock in hand the time passes at once."""
    if CLOCK is None:
        time.sleep(seconds)
    else:
        CLOCK.advance(seconds)


class Plant:
    """`kind`: servo (holds its last goal), fci (stops when its wire is cut), base (goes on at its last velocity)."""

    def __init__(self, kind, q=(0.0,) * 6, *, speed=4.0, latency=0.0, manual=False):
        self.kind, self.latency, self.manual = kind, latency, manual
        self.q = np.array(q, float)
        self.v = np.zeros_like(self.q)
        self.goal = self.q.copy()
        self.most = np.full(self.q.size, float(speed))
        self.place, self.twist, self.wanted = np.zeros(3), np.zeros(3), np.zeros(3)
        self.opening, self.asked = 1.0, 1.0
        self.between = 0.0  # of the opening: how wide what is between the fingers is
        self.force = 0.0
        self.threshold = math.inf
        self.mode = "idle"  # idle | move | reflex | user_stopped | guiding
        self.blocked = False  # something holds it
        self.calibrated = True
        self.deaf = False  # it says nothing more
        self.lie = lambda said: said  # what is said of its state, given what is true
        self.told = []  # every command, as it came over the wire
        self.stops = 0
        self.stopped_at = None
        self.lock = threading.RLock()
        self._then = monotonic()
        self._at = 0.0
        self._server = None

    # -- physics -----------------------------------------------------------------------------------------------------

    def advance(self, seconds):
        with self.lock:
            for _ in range(round(seconds / TICK)):
                self._tick()

    def _tick(self):
        self._at += TICK
        if self.force > self.threshold and self.mode == "move":
            self.mode, self.goal = "reflex", self.q.copy()
        wanted = np.clip((self.goal - self.q) / LAG, -self.most, self.most)
        if self.blocked:
            wanted = np.zeros_like(wanted)
            self.v[:] = 0
        self.v += (wanted - self.v) * TICK / INERTIA
        self.q += self.v * TICK
        if (
            self.mode == "move"
            and np.abs(self.goal - self.q).max(initial=0) < 1e-4
            and np.abs(self.v).max(initial=0) < 1e-3
        ):
            self.mode = "idle"
        self.opening += float(np.clip(self.asked - self.opening, -TICK * 2, TICK * 2))
        self.opening = max(self.opening, self.between)
        self.twist += (self.wanted - self.twist) * TICK / (3 * INERTIA)
        c, s = math.cos(self.place[2]), math.sin(self.place[2])
        vx, vy, wz = self.twist
        self.place += np.array([c * vx - s * vy, s * vx + c * vy, wz]) * TICK

    def _catch_up(self):
        now = monotonic()
        if CLOCK is not None and not self.manual:
            ticks = round((now - self._then) / TICK)
            self.advance(ticks * TICK)
            self._then += ticks * TICK
            return
        if not self.manual:
            self.advance(min(now - self._then, 1.0))
        self._then = now

    @property
    def still(self):
        with self.lock:
            self._catch_up()
            return bool(np.abs(self.v).max(initial=0) < 0.01 and np.abs(self.twist).max() < 0.01)

    # -- the wire ----------------------------------------------------------------------------------------------------

    def answer(self, said):
        if self.latency:
            time.sleep(self.latency)
        with self.lock:
            self._catch_up()
            return getattr(self, "_" + said.pop("op"))(**said)

    def _state(self):
        said = {
            "t": self._at, "q": self.q.tolist(), "dq": self.v.tolist(), "mode": self.mode, "force": self.force,
            "opening": self.opening, "place": self.place.tolist(), "twist": self.twist.tolist(),
            "calibrated": self.calibrated,
        }  # fmt: skip
        return self.lie(said)

    def _goto(self, q, opening=None):
        self.told.append(q)
        if self.mode in ("reflex", "user_stopped", "guiding"):
            return {"error": self.mode}
        self.goal, self.mode = np.array(q, float), "move"
        if opening is not None:
            self.asked = opening
        return {}

    def _grip(self, opening):
        self.asked = opening
        return {}

    def _twist(self, velocity):
        self.told.append(velocity)
        self.wanted = np.array(velocity, float)
        return {}

    def _stop(self):
        self.stops += 1
        self.stopped_at = monotonic()
        self.goal, self.wanted = self.q + self.v * LAG, np.zeros(3)
        return {}

    def _threshold(self, force, share):
        self.threshold = force
        self.share = share
        self.most = share * np.array([2.175] * 4 + [2.61] * 3) if self.q.size == 7 else self.most
        return {}

    def _recover(self):
        if self.mode == "reflex":
            self.mode = "idle"
        return {}

    def _cut(self):
        """The wire is gone, whoever held it."""
        if self.kind == "fci" and self.mode == "move":
            with self.lock:
                self._catch_up()
                self._stop()
                self.mode = "reflex"

    def __enter__(self):
        plant = self

        class Line(socketserver.StreamRequestHandler):
            def handle(self):
                for line in self.rfile:
                    if plant.deaf:
                        time.sleep(0.05)
                        continue
                    self.wfile.write(json.dumps(plant.answer(json.loads(line))).encode() + b"\n")

            def finish(self):
                plant._cut()
                super().finish()

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, request, client_address):
                """A peer that died in the middle of a line is no error of ours."""

        self._server = Server(("127.0.0.1", 0), Line)
        HERE[self.address] = self
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        del HERE[self.address]
        self._server.shutdown()
        self._server.server_close()

    @property
    def address(self):
        return f"127.0.0.1:{self._server.server_address[1]}"


class Wire:
    """A client's end: one line a question. Raises OSError where nobody answers.

    A robot of this process is asked without the detour over loopback, which is most of what a question costs; the wire
    to it is there all the same, and cut when its holder lets go.
    """

    def __init__(self, address, timeout=2.0):
        self._address = address
        host, _, port = address.partition(":")
        if not port:
            raise ConnectionRefusedError(f"nobody at {address}")
        self._socket = socket.create_connection((host, int(port)), max(timeout, ANSWER_S))
        self._file = self._socket.makefile("rwb")
        self._lock = threading.Lock()

    def ask(self, op, **said):
        line = json.dumps({"op": op, **said})
        with self._lock:
            here = HERE.get(self._address)
            if here is not None and not here.deaf and not self._file.closed:
                return json.loads(json.dumps(here.answer(json.loads(line))))
            self._file.write(line.encode() + b"\n")
            self._file.flush()
            line = self._file.readline()
        if not line:
            raise ConnectionResetError("the wire was cut")
        return json.loads(line)

    def close(self):
        self._file.close()
        self._socket.close()

    def __del__(self):
        """A library whose objects are dropped lets go of the robot."""
        if hasattr(self, "_file"):
            self.close()
