"""The simulation: one physics world, stepped in one place, the same for the same start and the same commands.

Several bodies share a world, each driven from a thread of its own. The world goes on only while every body at work has
asked for steps, and the thread that asks last takes them for all. So a body at work finds the world at rest whenever it
measures or plans, and it makes no difference which thread runs first. A body alone steps in its own thread and waits
for no other. Nothing here is random: a seed decides the scene, and the scene the model.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import mujoco
import numpy as np

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded

from .array_types import Array, Native
from .pacing import Pacing
from .touch_log import TouchLog

STATE: Final = mujoco.mjtState.mjSTATE_INTEGRATION.value  # all that the next step depends on, warm start included


@dataclass(frozen=True, slots=True)
class SimulationState:
    """Everything that the next step depends on (float64), and a hash of the model that it belongs to."""

    model: str
    numbers: bytes


@dataclass(slots=True)
class _StepRequest:
    """Steps that a body asks for: one row of `commands` a step for its `servos`; None: the servos hold."""

    left: int
    servos: slice
    commands: Array | None
    woken: threading.Condition  # notified when it has its steps, or is the one to take them: the others sleep on
    done: int = 0


class Simulation:
    """Every body at work reads `model` and `data`; only this class steps them.

    A body is named by the prefix of its names in the model. `data` may be read, and what is not at work in it changed,
    between `begin` and `end` of a body, and in no other thread.
    """

    def __init__(self, model: Native) -> None:
        self.model = model
        self.data: Native = mujoco.MjData(model)
        self._lock = threading.RLock()
        self._turn = threading.Condition(self._lock)
        self._working: Counter[str] = Counter()  # body → how often it has begun and not ended
        self._expected: Counter[str] = Counter()  # body → orders that are to begin before the world goes on
        self._asked: dict[str, _StepRequest] = {}
        self._stepping = False
        self._wanting: set[str] = set()  # bodies that wait for their turn to plan, or have it
        self._planning = ""
        self._chunks = 0  # how often steps were taken
        self._time = float(self.data.time)
        self.touches: TouchLog | None = None  # of a world of several bodies
        self.pacing: Pacing | None = None  # None: as fast as it can
        self.on_steps: Callable[[], None] | None = None  # after steps, in the thread that took them
        self.on_rest: Callable[[], None] | None = None  # nobody is at work any more

    # --- whose turn it is ---

    def expect(self, body: str) -> None:
        """An order of this body is to begin: the world does not go on until it has (see `begin` and `dismiss`)."""
        with self._turn:
            self._expected[body] += 1
            self._turn.notify_all()

    def dismiss(self, body: str) -> None:
        """The expected order does not come."""
        with self._turn:
            self._expected[body] = max(0, self._expected[body] - 1)
            self._waited_for_fewer()

    def begin(self, body: str, *, order: bool = False) -> None:
        """From now on the world goes on only when this body asks for steps; it stands still when this returns.

        `order`: the caller carries out an order, the one that was expected if one was.
        """
        with self._turn:
            self._begin(body)
            if order:
                self._expected[body] = max(0, self._expected[body] - 1)
            self._turn.wait_for(lambda: not self._stepping)

    def end(self, body: str) -> None:
        with self._turn:
            self._end(body)

    def _begin(self, body: str) -> None:
        if not self._working[body]:
            self._turn.wait_for(lambda: not any(self._is_next(other) for other in self._wanting))  # theirs is first
            if self._may_step():  # then let it: a body that looks at the world again and again stops no other
                chunk = self._chunks
                self._turn.wait_for(lambda: self._chunks != chunk or not self._may_step())
            self._turn.notify_all()
        self._working[body] += 1

    def _end(self, body: str) -> None:
        self._working[body] -= 1
        if not self._working[body]:
            self._waited_for_fewer()
            if self.on_rest is not None and self.resting:
                self.on_rest()

    @contextmanager
    def working(self, body: str, *, order: bool = False) -> Iterator[None]:
        self.begin(body, order=order)
        try:
            yield
        finally:
            self.end(body)

    @property
    def resting(self) -> bool:
        """Whether no body is at work; that may change a moment later."""
        return not any(list(self._working.values()))

    @contextmanager
    def at_rest(self) -> Iterator[bool]:
        """Whether the world is at rest; if so, it stays so inside, for a short look."""
        with self._turn:
            yield self.resting and not self._stepping

    @property
    def waiting(self) -> frozenset[str]:
        """The bodies that have asked for steps and wait for the others."""
        with self._turn:
            return frozenset(self._asked)

    @contextmanager
    def planning_turn(self, body: str) -> Iterator[None]:
        """One body plans at a time, the first by name among those that want to, once all others at work have asked
        for steps: for the same start and orders always the same one comes first. The caller is at work."""
        with self._turn:
            self._wanting.add(body)
            self._turn.notify_all()
            self._turn.wait_for(lambda: self._is_next(body))
            self._planning = body
        try:
            yield
        finally:
            with self._turn:
                self._wanting.discard(body)
                self._planning = ""
                self._turn.notify_all()

    def _is_next(self, body: str) -> bool:
        if self._planning or self._stepping:
            return False
        at_work = {other for awaited in (self._working, self._expected) for other, n in awaited.items() if n}
        ready = {*self._asked, *(other for other in self._wanting if other >= body)}
        return at_work <= {body, *ready}

    # --- steps ---

    def advance(self, body: str, steps: int, servos: slice = slice(0), commands: Array | None = None) -> None:
        """The world goes on by `steps`, once every other body at work has asked as well.

        `commands` (steps × actuators): the goals of the actuators `servos`, a row a step; None: they hold.
        """
        request = _StepRequest(steps, servos, commands, threading.Condition(self._lock))
        with self._turn:
            if body in self._asked:
                raise RuntimeError(f"the body {body!r} is moved from two threads at once")
            self._begin(body)
            self._asked[body] = request
            if self._wanting:
                self._turn.notify_all()  # it may be the turn of one of them
            try:
                while request.left:
                    if self._stepping or not self._may_step():
                        request.woken.wait()
                    else:
                        self._step()
            finally:
                if self._asked.get(body) is request:
                    del self._asked[body]
                self._end(body)

    def _waited_for_fewer(self) -> None:
        """A body is no longer at work or expected: one of those that wait for steps may have to take them."""
        self._turn.notify_all()
        self._wake_one()

    def _wake_one(self) -> None:
        if not self._stepping and self._may_step():
            next(iter(self._asked.values())).woken.notify()

    def _may_step(self) -> bool:
        """Whether steps are asked for, and by every body that the world waits for."""
        asked = self._asked
        for awaited in (self._working, self._expected):
            for body, times in awaited.items():
                if times and body not in asked:
                    return False
        return bool(asked)

    def _step(self) -> None:
        """As many steps as all have asked for; the caller has the lock, and has it again afterwards."""
        asked = dict(self._asked)
        steps = min(request.left for request in asked.values())
        self._stepping = True
        goals = [(r.servos, r.commands[r.done : r.done + steps]) for r in asked.values() if r.commands is not None]
        self._turn.release()
        try:
            self._take(steps, goals)
            if self.on_steps is not None:
                self.on_steps()
            if self.pacing is not None:
                self.pacing.keep(steps * float(self.model.opt.timestep))
        finally:
            self._turn.acquire()
            self._stepping = False
            self._chunks += 1
            self._turn.notify_all()
        for body, request in asked.items():
            request.left -= steps
            request.done += steps
            if not request.left:
                del self._asked[body]  # from here on it is waited for again
                request.woken.notify()
        self._wake_one()

    def _take(self, steps: int, goals: list[tuple[slice, Array]]) -> None:
        model, data, control, touches = self.model, self.data, self.data.ctrl, self.touches
        if float(data.time) != self._time:
            raise RuntimeError(f"the world was stepped elsewhere: left at {self._time} s, found at {data.time} s")
        if goals or touches is not None:
            step = mujoco.mj_step
            for i in range(steps):
                for servos, rows in goals:
                    control[servos] = rows[i]
                step(model, data)
                if touches is not None:
                    touches.look(data)
        else:
            mujoco.mj_step(model, data, steps)
        self._time = float(data.time)

    # --- the state ---

    def save(self) -> SimulationState:
        with self._turn:
            self._turn.wait_for(lambda: not self._stepping)
            numbers = np.empty(mujoco.mj_stateSize(self.model, STATE))
            mujoco.mj_getState(self.model, self.data, numbers, STATE)
            return SimulationState(self._model_hash(), numbers.tobytes())

    def restore(self, state: SimulationState) -> None:
        """The world is as it was saved, and goes on as it would have. Raises `BadInput` for another model's state."""
        if state.model != self._model_hash():
            raise BadInput(coded("robot.other_state"), op="restore", expected=coded("robot.own_state"))
        with self._turn:
            self._turn.wait_for(lambda: not self._stepping)
            mujoco.mj_setState(self.model, self.data, np.frombuffer(state.numbers), STATE)
            mujoco.mj_forward(self.model, self.data)  # poses and contacts are computed from the state
            self._time = float(self.data.time)

    def _model_hash(self) -> str:
        """Two worlds of one size may differ: MuJoCo itself refuses only a state of another size."""
        packed = np.empty(mujoco.mj_sizeModel(self.model), np.uint8)
        mujoco.mj_saveModel(self.model, None, packed)
        return hashlib.blake2b(packed.tobytes(), digest_size=16).hexdigest()
