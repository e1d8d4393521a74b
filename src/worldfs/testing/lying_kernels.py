"""A kernel with lying plug-ins of every port beside an honest robot: what was believed, and who else was harmed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Final, NamedTuple

from worldfs.base.json_values import as_object, as_text
from worldfs.base.model import Json

from . import lying_package
from .port_lies import LieEnd, lies
from .wrong_values import faults


class LyingRun(NamedTuple):
    """How the kernel ended, how each liar did, and the honest jobs beside them: id → state."""

    code: int
    printed: str
    ends: tuple[LieEnd, ...]
    honest: Mapping[str, str]


def run(place: Path, numbers: Mapping[str, Sequence[int]]) -> LyingRun:
    """Runs lies, by port and number, in a home below `place`, through `paos up`."""
    home = place / "home"
    workspace = home / "workspace"
    workspace.mkdir(parents=True)
    lying_package.install(place)
    files = _HomeFiles()
    for port, chosen in numbers.items():
        for number in chosen:
            _WRITE[port](files, f"{port}_{number}", number)
    files.write(home)
    code, printed = _paos(place, home, "up", "--until-idle", "--no-cameras")
    ended = _ended(workspace)
    ends = tuple(
        LieEnd(lies(port)[number], *ended.get(f"j_{port}_{number}", ("", "")))
        for port, chosen in numbers.items()
        for number in chosen
    )
    return LyingRun(code, printed, ends, {id: ended.get(id, ("",))[0] for id in files.honest})


def _paos(place: Path, home: Path, *words: str) -> tuple[int, str]:
    path = os.pathsep.join(filter(None, (str(place), os.environ.get("PYTHONPATH", ""))))
    environ = {**os.environ, "PYTHONPATH": path, "PhyAgentOS_approval": "never"}
    command = [sys.executable, "-m", "worldfs.interfaces.cli.main", "--home", str(home), *words]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, errors="replace", check=False)
    return done.returncode, done.stdout + done.stderr


def _ended(workspace: Path) -> dict[str, tuple[str, str]]:
    """Id of an ended job → its state, and why. One whose robot may still move is among the open ones."""
    found, kept = {}, workspace / ".paos"
    for file in (*(kept / "jobs").glob("*.jsonl"), *(kept / "done").glob("*.jsonl")):
        last = as_object(json.loads(file.read_text("utf-8").splitlines()[-1]))
        if "outcome" not in last:
            continue
        said = as_object(last.get("outcome"))
        found[file.stem] = as_text(last.get("status")), f"{as_text(said.get('code'))} {as_text(said.get('message'))}"
    return found


# -- the files of the home -------------------------------------------------------------------------------------------


def _order(id: str, robot: str, **more: object) -> Json:
    params: Json = {"target_pose": [1.0, 2.0, 0.0], **more}
    return {"action_id": id, "action_type": "move_to", "params": params, "robot_id": robot, "status": "pending"}


def _target(id: str, adapter: str = "LyingTarget", **more: object) -> Json:
    return {"id": id, "type": "sim", "adapter": {"class": adapter}, **more}


def _policy_skill(id: str, number: str = "honest") -> Json:
    client: Json = {"type": "lying_policy", "endpoint": f"liar://here/{number}"}
    return {"id": id, "runtime": "VLAPolicyRuntime", "policy_client": client}


@dataclass(slots=True)
class _HomeFiles:
    """An honest robot with an order at the beginning, and one at the end; a target that is done; what liars add."""

    robots: dict[str, str] = field(default_factory=lambda: {"honest_one": "honest_body"})
    orders: list[Json] = field(default_factory=lambda: [_order("honest_1", "honest_one")])
    targets: list[Json] = field(default_factory=lambda: [_target("target_done"), _target("target_one")])
    skills: list[Json] = field(default_factory=lambda: [_policy_skill("look")])
    sessions: list[tuple[str, str, str]] = field(default_factory=lambda: [("honest_s", "target_done", "look")])
    asks: bool = False  # a model, about each order
    honest: tuple[str, ...] = ("honest_1", "honest_2", "honest_s")

    def write(self, home: Path) -> None:
        instances = [{"robotId": id, "driver": name, "profileName": "lying_body"} for id, name in self.robots.items()]
        settings: Json = {"embodiments": {"instances": instances}}
        if self.asks:
            critic = {"kind": "lying_model", "model": "liar", "required": True, "retries": 0, "tokenBudget": 10_000_000}
            settings["models"] = {"critic": critic}
        (home / "config.json").write_text(json.dumps(settings))
        entries = [
            {"session_id": id, "target_ref": target, "skill_ref": skill, "execution": {"max_steps": 3},
             "timeouts": {"session": 60}}
            for id, target, skill in self.sessions
        ]  # fmt: skip
        queue = [*self.orders, _order("honest_2", "honest_one")]
        for file, value in (
            ("ACTION.md", {"queue": queue}), ("TARGETS.md", {"targets": self.targets}),
            ("SKILLS.md", {"skills": self.skills}), ("SESSIONS.md", {"sessions": entries}),
        ):  # fmt: skip
            (home / "workspace" / file).write_text(f"```json\n{json.dumps(value)}\n```\n")


def _body(files: _HomeFiles, id: str, number: int) -> None:
    files.robots[id] = "lying_body"
    late = lies("body")[number].lie.name == "late"
    files.orders.append({**_order(f"j_{id}", id), "timeout_s": 0.5 if late else 60})


def _reviewer(files: _HomeFiles, id: str, number: int) -> None:
    files.orders.append(_order(f"j_{id}", "honest_one"))


def _model(files: _HomeFiles, id: str, number: int) -> None:
    files.asks = True
    files.orders.append(_order(f"j_{id}", "honest_one", note=f"see {id}"))


def _on_target(files: _HomeFiles, id: str, number: int) -> None:
    files.targets.append(_target(id))
    files.sessions.append((f"j_{id}", id, "look"))


def _on_native(files: _HomeFiles, id: str, number: int) -> None:
    if all(skill["id"] != "go" for skill in files.skills):
        steps = [{"move_to": {"target_pose": [1.0, 2.0, 0.0]}}]
        files.skills.append({"id": "go", "runtime": "BuiltinSkillRuntime", "steps": steps})
    files.targets.append(_target(id))
    files.sessions.append((f"j_{id}", id, "go"))


def _on_robot(files: _HomeFiles, id: str, number: int) -> None:
    adapter = {"class": "RealRobotTargetAdapter", "driver": "lying_robot"}
    files.targets.append({"id": id, "type": "real_robot", "adapter": adapter})
    files.sessions.append((f"j_{id}", id, "look"))


def _on_environment(files: _HomeFiles, id: str, number: int) -> None:
    config = {"env_id": f"{lying_package.NAME}:Lying-v0", "representation": "joint_position", "kwargs": {"number": id}}
    files.targets.append(_target(id, "SimTargetAdapter", backend="gymnasium", config=config))
    files.sessions.append((f"j_{id}", id, "look"))


def _with_skill(files: _HomeFiles, id: str, number: int) -> None:
    files.skills.append({"id": id, "runtime": "LyingRuntime"})
    files.sessions.append((f"j_{id}", "target_one", id))


def _with_policy(files: _HomeFiles, id: str, number: int) -> None:
    files.skills.append(_policy_skill(id, id))
    files.sessions.append((f"j_{id}", "target_one", id))


_WRITE: Final[Mapping[str, Callable[[_HomeFiles, str, int], None]]] = {
    "body": _body, "target": _on_target, "native": _on_native, "robot": _on_robot, "skill": _with_skill,
    "policy": _with_policy, "environment": _on_environment, "reviewer": _reviewer, "model": _model,
}  # fmt: skip
PORTS: Final = tuple(_WRITE)


def every(nth: int, first: int = 0) -> dict[str, range]:
    """Every nth lie of each port, from one on."""
    return {port: range(first, len(lies(port)), nth) for port in PORTS}


def raised_by_each() -> dict[str, list[int]]:
    """Of each method of each port an ordinary error, and another thing that code can raise: each of these in turn."""
    names, found = [lie.name for lie in faults()], dict[str, list[int]]()
    turns = cycle(dict.fromkeys(names))
    for port in PORTS:
        numbers = {(lie.method, lie.lie.name): number for number, lie in enumerate(lies(port))}
        methods = dict.fromkeys(method for method, name in numbers if name == names[0])
        chosen = {numbers[method, name] for method in methods for name in (names[0], next(turns))}
        found[port] = sorted(chosen)
    return found
