"""A package whose plug-ins lie, one for each port: its modules' source, and its entry points.

`port_lies.answered` gives a plug-in its answer: the honest one, or the lie that its number stands for. The plug-ins
do nothing, and say that it is done: a job of theirs that ends as succeeded was believed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

NAME: Final = "lying_plugins_package"
POINTS: Final = f"""
[worldfs.bodies]
lying_body = {NAME}:Body
honest_body = {NAME}:Honest
[worldfs.targets]
LyingTarget = {NAME}:Adapter
[worldfs.robots]
lying_robot = {NAME}:Robot
[worldfs.skills]
LyingRuntime = {NAME}:Runtime
[worldfs.policies]
lying_policy = {NAME}:client
[worldfs.reviewers]
lying_reviewer = {NAME}:Reviewer
[worldfs.models]
lying_model = {NAME}:Model
[worldfs.chat]
lying_chat = {NAME}:Responder
[worldfs.web_search]
lying_search = {NAME}:Search
[worldfs.importers]
lying-import = {NAME}:Importer
"""
SOURCE: Final = '''
"""Plug-ins that do nothing and say that it is done; see worldfs.testing.port_lies."""

import re

import gymnasium
import numpy as np

from worldfs.base.chat_model import ModelReply, RequestedCall
from worldfs.base.driver import Standstill
from worldfs.base.model import AgentTask, Operation, Outcome, Parameter, Profile, Remark, RobotState, Scene
from worldfs.plugins.importers import ImportItem, ImportSource, ParsedSource
from worldfs.policies.policy_client import ActionChunk, PolicyInfo
from worldfs.robots.targets.robots.robot_interface import RobotReading
from worldfs.robots.targets.safety_limits import SafetyLimits
from worldfs.robots.targets.target_adapter import ActionSpec, StepResult
from worldfs.skills.skill_runtime import SkillParameters
from worldfs.testing.port_lies import answered
from worldfs.world.services.web import SearchResult

MOVE = Operation(
    "move_to", "Drive", (Parameter("target_pose", "[x,y,z]"), Parameter("note", "string", optional=True)), undoable=True
)


def made(kind, port, id):
    """A new object of that class, or what a liar gives in its place."""
    return answered(port, id, "made", lambda: object.__new__(kind))


class Body:
    """Stands still at 0, 0."""

    profile = Profile("Liar", "Liar 1", ops=(MOVE,))

    def __new__(cls, context):
        return made(cls, "body", context.robot_id)

    def __init__(self, context):
        self.id = context.robot_id

    @property
    def operations(self):
        return answered("body", self.id, "operations", lambda: (MOVE,))

    @property
    def real(self):
        return answered("body", self.id, "real", lambda: False)

    def open(self, scene):
        return answered("body", self.id, "open", lambda: None)

    def observe(self):
        return answered("body", self.id, "observe", lambda: Scene((RobotState(self.id, (0.0, 0.0, 0.0)),)))

    def assumed(self):
        return answered("body", self.id, "assumed", lambda: None)

    def review(self, order):
        return answered("body", self.id, "review", lambda: ())

    def execute(self, order, run):
        order.params["target_pose"][:] = [0, 0, 0]  # what was ordered is not his to change
        run.cancel.wait(0.05)
        done = Outcome.success("there", evidence_class="real", source="truth")
        return answered("body", self.id, "execute", lambda: done)

    def stop(self):
        return answered("body", self.id, "stop", lambda: None)

    def sources(self, order):
        return answered("body", self.id, "sources", lambda: {})

    def demands(self, job, dependencies):
        return answered("body", self.id, "demands", lambda: ())

    def leave(self):
        return answered("body", self.id, "leave", lambda: False)

    def standstill(self, since):
        return answered("body", self.id, "standstill", lambda: Standstill(True))

    def take_up(self):
        return answered("body", self.id, "take_up", lambda: None)

    def reported(self):
        return answered("body", self.id, "reported", lambda: None)

    def record(self, path, fps):
        return answered("body", self.id, "record", lambda: None)

    def stop_recording(self):
        return answered("body", self.id, "stop_recording", lambda: 0)

    def way(self, order):
        return answered("body", self.id, "way", lambda: ())

    def close(self):
        return answered("body", self.id, "close", lambda: None)


class Honest(Body):
    """Is where it was sent."""

    def __init__(self, context):
        self.id, self.pose, self.made = context.robot_id, (0.0, 0.0, 0.0), 0

    def observe(self):
        return Scene((RobotState(self.id, self.pose),))

    def execute(self, order, run):
        run.cancel.wait(0.05)
        self.pose = tuple(map(float, order.params["target_pose"]))
        return Outcome.success("there")


class Adapter:
    """A target that is never done."""

    def __new__(cls, target, context):
        return made(cls, "target", target.id)

    def __init__(self, target, context):
        self.target, self.id = target, target.id

    def open(self):
        return answered("target", self.id, "open", lambda: None)

    def sensors(self):
        return answered("target", self.id, "sensors", lambda: frozenset({"joint_states"}))

    def actions(self):
        spec = ActionSpec("joint_position", (2,), np.full(2, -1.0), np.full(2, 1.0), 20.0)
        return answered("target", self.id, "actions", lambda: [spec])

    def observations(self):
        return answered("target", self.id, "observations", lambda: {"joint_states": ((1,), "float64")})

    def reset(self, *, seed=None, options=None):
        return answered("target", self.id, "reset", lambda: {"joint_states": np.zeros(1)})

    def step(self, action, representation):
        done = True if self.id == "target_done" else None  # the one that is honest, and is done
        return answered("target", self.id, "step", lambda: StepResult({"joint_states": np.zeros(1)}, success=done))

    def observe(self):
        return answered("target", self.id, "observe", lambda: {"joint_states": np.zeros(1)})

    def scene(self):
        return answered("target", self.id, "scene", lambda: Scene((RobotState(self.id, (0.0, 0.0, 0.0)),)))

    def assumed(self):
        return answered("target", self.id, "assumed", lambda: None)

    def set_run(self, run):
        return answered("target", self.id, "set_run", lambda: None)

    def heartbeat(self):
        return answered("target", self.id, "heartbeat", lambda: None)

    @property
    def ops(self):
        return answered("target", self.id, "ops", lambda: frozenset({"move_to"}))

    def judge(self, order):
        return answered("target", self.id, "judge", lambda: ())

    def carry_out(self, order, run):
        return answered("target", self.id, "carry_out", lambda: Outcome.success("there", success=True))

    def stop(self):
        return answered("target", self.id, "stop", lambda: None)

    def close(self):
        return answered("target", self.id, "close", lambda: None)


class Robot:
    """Two joints that stand still."""

    joints, serial, chain = ("a", "b"), False, None
    maker = SafetyLimits()
    usual = SafetyLimits(joint_low=np.full(2, -3.0), joint_high=np.full(2, 3.0), joint_speed=np.full(2, 1.0))

    def __new__(cls, target, context):
        return made(cls, "robot", target.id)

    def __init__(self, target, context):
        self.id, self.clock = target.id, context.clock
        self.sent = 0

    def connect(self):
        return answered("robot", self.id, "connect", lambda: None)

    def sensors(self):
        return answered("robot", self.id, "sensors", lambda: frozenset({"joint_states"}))

    def pictures(self):
        return answered("robot", self.id, "pictures", lambda: {})

    def read(self):
        return answered("robot", self.id, "read", lambda: RobotReading(self.clock.monotonic(), np.zeros(2)))

    def prepare(self):
        return answered("robot", self.id, "prepare", lambda: None)

    def send(self, command):
        return answered("robot", self.id, "send", lambda: None)

    def halt(self):
        return answered("robot", self.id, "halt", lambda: None)

    def close(self):
        return answered("robot", self.id, "close", lambda: None)


class Runtime:
    """A skill that does nothing and is done."""

    name = "LyingRuntime"

    def review(self, request, target):
        return answered("skill", request.skill.id, "review", lambda: [])

    def parameters(self, request):
        return answered("skill", request.skill.id, "parameters", lambda: SkillParameters(frozenset()))

    def sources(self, request):
        return answered("skill", request.skill.id, "sources", lambda: {})

    def perform(self, request, context):
        return answered("skill", request.skill.id, "perform", lambda: Outcome.success("done", success=True))


class Policy:
    """Asks for nothing. `spec.endpoint` ends with its number."""

    def __new__(cls, spec):
        return made(cls, "policy", spec.endpoint.rpartition("/")[2])

    def __init__(self, spec):
        self.spec, self.id = spec, spec.endpoint.rpartition("/")[2]

    def connect(self, timeout_s):
        info = PolicyInfo("liar", representation="joint_position", action_dim=2)
        return answered("policy", self.id, "connect", lambda: info)

    def reset(self):
        return answered("policy", self.id, "reset", lambda: None)

    def infer(self, observation, words, timeout_s):
        chunk = ActionChunk(np.zeros((4, 2), np.float32), extra={"success": True, "done": True})
        return answered("policy", self.id, "infer", lambda: chunk)

    def close(self):
        return answered("policy", self.id, "close", lambda: None)


def client(spec, clock):
    return Policy(spec)


class Reviewer:
    """Says yes. An order's id ends with its number."""

    def __init__(self, context):
        pass

    def review(self, order, scene, profile):
        return answered("reviewer", order.id, "review", lambda: ())


class Model:
    """Agrees. What it is asked holds its number."""

    def __init__(self, settings, context):
        pass

    def reply(self, messages, tools, run):
        found = re.findall(r"model_\\d+", " ".join(message.text for message in messages))
        agrees = ModelReply("", (RequestedCall("agree", {}),), 1, 1)
        return answered("model", found[-1] if found else "", "reply", lambda: agrees)


class Responder:
    """Answers. The message is its number."""

    lane = ""

    def __init__(self, settings, context):
        pass

    def answer(self, text, run):
        return answered("chat", text.strip(), "answer", lambda: Outcome.success("an answer"))


class Search:
    """Finds one page. The query is its number."""

    def __init__(self, settings):
        pass

    def search(self, query, limit, run):
        found = [SearchResult("a page", "https://example.org/", "words")]
        return answered("search", query, "search", lambda: found)


class Importer:
    """Brings a task and a note. The name of the directory is its number."""

    name, about = "lying-import", "lies"

    def finds(self, place):
        return answered("importer", place.name, "finds", lambda: [ImportSource(self.name, place, "x", (), 0)])

    def read(self, source):
        found = ParsedSource()
        task = answered("importer", source.base_dir.name, "task", lambda: AgentTask("fine", description="fine"))
        note = answered("importer", source.base_dir.name, "note", lambda: Remark("patterns", "a note"))
        found.tasks.append(ImportItem("0" * 16, task, "x:0"))
        found.remarks.append(ImportItem("1" * 16, note, "x:1"))
        return answered("importer", source.base_dir.name, "read", lambda: found)


class Environment(gymnasium.Env):
    """Never done."""

    observation_space = gymnasium.spaces.Box(-1, 1, (2,))
    action_space = gymnasium.spaces.Box(-1, 1, (2,))
    metadata = {"render_modes": [], "render_fps": 20}

    def __init__(self, number):
        self.id = number

    def reset(self, *, seed=None, options=None):
        return answered("environment", self.id, "reset", lambda: (np.zeros(2, np.float32), {}))

    def step(self, action):
        seen = np.zeros(2, np.float32)
        part = lambda name, honest: answered("environment", self.id, name, lambda: honest)
        info = part("info", {"is_success": part("success", False)})
        answer = (part("seen", seen), part("reward", 0.0), part("terminated", False), part("truncated", False), info)
        return answered("environment", self.id, "step", lambda: answer)


if "Lying-v0" not in gymnasium.registry:
    gymnasium.register("Lying-v0", Environment, disable_env_checker=True, order_enforce=False)
'''


def install(place: Path) -> Path:
    """The package in a directory, which a process that is to see it has on its path."""
    info = place / f"{NAME}-1.0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    (place / f"{NAME}.py").write_text(SOURCE)
    return place
