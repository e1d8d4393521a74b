"""A kernel in trouble, in a process of its own: ROOT [WORD…]. Its robot moves until it is stopped.

On standard output it says "ready", "moving", "heard" (the driver's stop was called) and "still". A line of standard
input brings the trouble that it names. Words: "hang" (the driver's stop never returns), "lock" (the driver's stop needs
a lock that its motion holds), "deaf" (the robot moves on), "blind" (its driver measures nothing), "approval", "policy"
(its motion waits for an answer of a policy's server that does not answer).
"""

from __future__ import annotations

import errno
import os
import random
import re
import resource
import socket
import sys
import threading
from pathlib import Path

from worldfs.base.disk import Disk
from worldfs.base.driver import Run, Standstill
from worldfs.base.model import ApprovalPolicy, Cause, Order, Outcome
from worldfs.formats.config import Config
from worldfs.planning.planner.plan_search import PlacementProblem, search_moves
from worldfs.planning.planner.scene_facts import ThingLocation
from worldfs.storage.disk_store import DiskStore
from worldfs.storage.engine_record import DISK, engine_of
from worldfs.storage.store_interface import Store
from worldfs.testing.null_driver import NullDriver
from worldfs.world.workspace_engine import open_engine
from worldfs.world.world import World

WRITES = {"create", "write", "append", "patch", "truncate", "rename", "link", "mkdir", "stamp"}


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


class Mover(NullDriver):
    """Its robot moves from the beginning of an order until it is told to stop."""

    real = True

    def __init__(self, words: set[str]) -> None:
        super().__init__()
        self._words, self._told, self._moving = words, threading.Event(), False
        self._lock = threading.Lock()

    def execute(self, order: Order, run: Run) -> Outcome:
        self._told.clear()
        self._moving = True
        say("moving")
        if "policy" in self._words:
            self._ask_policy()
        with self._lock:
            while not (run.stop or self._told.is_set()) or self._words & {"deaf", "lock"}:
                self._told.wait(0.02)
        self._moving = False
        say("still")
        return Outcome.failure(Cause.CANCELLED, "CANCELLED", "it stands")

    def _ask_policy(self) -> None:
        """It takes the request, and never answers."""
        with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as asked:
            asked.sendall(b"what next?")
            asked.recv(1)

    def stop(self) -> None:
        say("heard")
        if "hang" in self._words:
            threading.Event().wait()
        if "lock" in self._words:
            with self._lock:
                pass
        self._told.set()

    def standstill(self, since: float) -> Standstill:
        return Standstill(not self._moving)


class Blind(Mover):
    """It cannot measure whether its robot stands."""

    standstill = None  # type: ignore[assignment]  # as a driver that has no such method


class Trouble:
    """What may happen to this process."""

    def __init__(self) -> None:
        self.refused = 0  # the number of the error that every write gets

    def disk(self, name: str, path: str) -> None:
        if self.refused and name in WRITES:
            raise OSError(self.refused, os.strerror(self.refused), path)

    def begin(self, word: str) -> None:
        if word == "full":
            self.refused = errno.ENOSPC
        elif word == "read-only":
            self.refused = errno.EROFS
        elif word == "descriptors":
            use_descriptors()
        elif word == "plan":
            threading.Thread(target=plan, daemon=True).start()
        say(f"{word} begun")
        if word == "compute":
            compute()


def use_descriptors() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
    while True:
        try:
            os.dup(0)
        except OSError:
            return


def plan() -> None:
    """One plan after the other: of towers of blocks that are to be built in another order."""
    chance, ids = random.Random(1), [f"block_{n}" for n in range(14)]

    def tower() -> dict[str, ThingLocation]:
        order = chance.sample(ids, len(ids))
        return {top: ThingLocation("on", under) for top, under in zip(order, ["table", *order], strict=False)}

    while True:
        search_moves(PlacementProblem(tower(), tower(), frozenset(), aside="table"))


def compute() -> None:
    """Of a library that keeps the interpreter for itself: for longer than anybody waits."""
    re.match(r"(a+)+$", "a" * 60 + "b")


def main(root: str, *words: str) -> None:
    trouble, given = Trouble(), set(words)
    engine = engine_of(root)
    store: Store = DiskStore(root, Disk(trouble.disk)) if engine == DISK else open_engine(Path(root), engine)
    asks = ApprovalPolicy.ALWAYS if "approval" in given else ApprovalPolicy.NEVER
    body = Blind(given) if "blind" in given else Mover(given)
    world = World.open(
        Path(root),
        store=store,
        config=Config(approval={"": asks}),
        serve=True,
        drivers={"simulation": lambda seat: body},
    )
    threading.Thread(target=world.run, kwargs={"stop": threading.Event()}, daemon=True).start()
    say("ready")
    for line in sys.stdin:
        trouble.begin(line.strip())


if __name__ == "__main__":
    main(*sys.argv[1:])
