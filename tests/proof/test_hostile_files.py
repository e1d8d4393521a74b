"""No content of any file keeps a world from starting or stops a running one: it is named, and the rest goes on."""

from __future__ import annotations

import json
import shutil
import tempfile
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from worldfs.base.driver import Driver, PluginContext
from worldfs.base.errors import UserError
from worldfs.base.model import Finding, Order
from worldfs.testing import hostile
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.null_target import null_parts
from worldfs.world.check import check
from worldfs.world.home import Home
from worldfs.world.world import World

FIXTURES = Path(__file__).parent.parent / "fixtures"
POSE = [0.4, 0.0, 0.5, 0.0, 0.0, 0.0]
APPLE = {"id": "apple_01", "name": "Red Apple", "category": "fruit", "position": [0.9, 0.0, 0.9], "size": [0.1] * 3}
V2: dict[str, Any] = {
    "schema_version": "v2.0",
    "updated_at": "2025-04-01T12:00:00Z",
    "scene_graph": {
        "nodes": [
            {"id": "table_01", "type": "furniture", "position": [1.2, 0, 0.8], "size": [1, 1, 0.1]},
            {"id": "apple_01", "type": "object", "position": [0.9, 0, 0.9], "status": "on_table"},
        ],
        "edges": [{"from": "apple_01", "to": "table_01", "relation": "on"}],
    },
    "robots": [
        {"robot_id": "arm_1", "pose": [0, 0, 0], "joint_state": {"joint_1": 0.0}, "gripper": "open", "holding": None},
        {"robot_id": "arm_2", "pose": [0, 0, 0]},
    ],
    "objects": [
        {**APPLE, "mass": 0.1, "color": "red", "orientation": [1, 0, 0, 0]},
    ],
    "perception": {"camera_rgb": "artifacts/camera/front.jpg"},
    "map": {"grid": [1]},
    "tf": {"a": {"parent": "b", "translation": [0, 0, 0]}},
}
V1 = {
    "schema_version": "v1",
    "robot": {"robot_id": "arm_2", "pose": [0, 0, 0], "holding": None},
    "objects": [APPLE],
    "scene_graph": {"nodes": V2["scene_graph"]["nodes"]},
}
KEYED = {
    "objects": {"cup": {"type": "cup", "position": {"x": 1, "y": 2, "z": 3}, "location": "table"}},
    "robots": {
        "arm_1": {"connection_state": {"status": "ok"}, "robot_pose": {"frame": "map", "x": 0, "y": 0}},
        "arm_2": {},
    },
    "scene_graph": {
        "nodes": [{"id": "cup", "class": "cup", "center": {"x": 1, "y": 2, "z": 3}}],
        "edges": [{"source": "cup", "target": "cup", "relation": "ON", "confidence": 0.9}],
    },
}
ORDER = {"id": "old_1", "node": "arm_1", "op": "move_to", "params": {"target_pose": POSE}}
JOB = {**ORDER, "priority": "high", "sheet": "ACTION.md", "depends_on": [], "timeout_s": 5}
ACTIONS = {
    "queue": [
        {
            "action_id": "act_001", "action_type": "move_to", "params": {"target_pose": POSE}, "status": "pending",
            "robot_id": "arm_1", "created_at": "2025-04-01T12:00:00Z", "priority": "high",
            "timeouts": {"execute": 5, "queue": 1e6}, "retry": {"max_attempts": 2, "backoff": "linear"},
            "depends_on": ["act_002"],
        },
        {
            "action_id": "act_002", "action_type": "pick_up", "params": {"object_id": "apple_01"},
            "status": "completed", "robot_id": "arm_1", "completed_at": "2025-04-01T12:00:00Z",
            "result": {"message": "x"},
        },
        {"id": "act_003", "action_type": "move_to", "parameters": {}, "status": "running", "robot_id": "arm_2"},
    ]
}  # fmt: skip
SESSIONS = {
    "sessions": [
        {
            "session_id": "sess_1", "target_ref": "sim_t", "skill_ref": "rekep_pick", "status": "pending",
            "priority": "high", "timeouts": {"session": 120, "skill": 60, "preflight": 3},
            "retry": {"max_attempts": 3, "backoff": "exponential"}, "created_at": "2025-04-01T12:00:00Z",
            "routing": {"target_adapter": "SimTargetAdapter", "skill_runtime": "ReKepPolicyRuntime"},
            "execution": {"params": {"object_id": "apple_01"}, "max_steps": 3, "control_hz": 20},
            "task_description": "pick",
        }
    ]
}  # fmt: skip
TARGETS = {
    "targets": [
        {
            "id": "sim_t", "type": "sim", "enabled": True, "backend": "mujoco", "supported_skills": ["rekep_pick"],
            "adapter": {"class": "SimTargetAdapter", "obs_format": "mujoco_standard"},
            "perception": {"cameras": [{"name": "front", "resolution": [640, 480], "fps": 30}]},
            "config": {"control_hz": 20},
        },
        {
            "id": "real_t", "type": "real_robot", "enabled": False, "supported_skills": ["rekep_pick"],
            "adapter": {"class": "RealRobotTargetAdapter", "driver": "franka"},
            "perception": {"cameras": [{"name": "front", "device": "/dev/video0", "resolution": [1280, 720]}]},
            "config": {"ip": "192.168.1.100", "control_mode": "joint_position"},
        },
    ]
}  # fmt: skip
SKILLS = {
    "skills": [
        {
            "id": "rekep_pick", "category": "manipulation", "description": "d", "runtime": "ReKepPolicyRuntime",
            "supported_target_types": ["sim", "real_robot"],
            "policy_client": {"type": "http", "endpoint": "http://localhost:8765/predict", "checkpoint": "/x"},
            "requires": {
                "sensors": ["rgb_camera"], "environment_outputs": ["scene_graph"],
                "strict_environment_contract": True,
            },
        }
    ]
}  # fmt: skip
CONFIG: dict[str, Any] = {
    "language": "en",
    "agents": {
        "defaults": {"workspace": "", "language": "en", "model": "m"},
        "brains": [{"agent": "rio", "kind": "command", "argv": ["true"], "timeoutSeconds": 3, "cwd": "/"}],
    },
    "webSearch": {"backend": "searxng", "url": "http://127.0.0.1:1", "timeoutSeconds": 3},
    "embodiments": {
        "mode": "single",
        "instances": [
            {"robotId": "arm_1", "driver": "simulation", "enabled": True, "profileName": "franka_panda"},
            {"robotId": "arm_2", "driver": "simulation", "enabled": True},
        ],
    },
}
DATA: dict[str, list[Any]] = {
    "ENVIRONMENT.md": [V2, V1, KEYED],
    "ACTION.md": [ACTIONS],
    "SESSIONS.md": [SESSIONS],
    "TARGETS.md": [TARGETS],
    "SKILLS.md": [SKILLS],
}
ROBOTS = """# Robot Registry

| Robot ID | Driver | Type | Capabilities | Workspace | Enabled | Profile | Connection | Navigation |
|---|---|---|---|---|---|---|---|---|
| arm_1 | simulation | arm | pick_up | `/w` | yes | p.md | unknown | unknown |
| arm_3 | simulation | arm | pick_up | `/w` | no | p.md | unknown | unknown |
"""
MISSIONS = (
    "# Dashboard\n\n| Mission | Assigned To | Priority | Status |\n|---|---|---|---|\n| Clear | arm_1 | high | x |\n"
)
TASK = (
    "# Task: Clear the Table\n\n| Sub-Task | Action | Target Device | Status | Depends On | Result |\n"
    "|---|---|---|---|---|---|\n| 1 | Grasp apple | arm_1 | ✅ done | — | picked |\n"
    "| 2 | Place | arm_1 | ⬜ pending | 1 | — |\n\n**Overall Progress**: 1/2 (50%)\n"
)
LESSONS = (
    "# LESSONS\n\n## 2025-04-01 12:00:05 — Grasp Failed: Object Out of Workspace\n- **Action**: pick_up apple_01\n"
    "- **Reason**: Target position [1.8, 0.75, 0.8] exceeds max reach (0.855m)\n- **Fix**: Execute move_to first\n"
)
PROSE = {"TASK.md": TASK, "LESSONS.md": LESSONS, "ORCHESTRATOR.md": MISSIONS, "ROBOTS.md": ROBOTS}
STATE: dict[str, Any] = {
    ".paos/alerts.json": {"x": {"code": "A", "field": "b", "expected": "c", "found": "d", "fix": "e", "job": "j"}},
    ".paos/jobs/old_1.jsonl": JOB,
    ".paos/done/old_2.jsonl": {**JOB, "id": "old_2"},
    ".paos/cancel/old_1": "operator",
    ".paos/control/arm_1": "x.gif",
    ".paos/profiles/arm_1": "0123",
    ".paos/starts.json": {"arm_1 open": {"n": 3, "code": "0123"}},
    ".paos/known/arm_1.json": {"positions": ["a"], "crept": 2.0, "place": "x", "unmeasured": {"denied": [0.1]}},
    ".paos/quarantine/x.json": {"file": "ACTION.md"},
}
BROKEN = (
    b"", b" ", b"\0", b"\xff\xfe", b"{", b"[]", b"null", b"{}", b'{"queue":', b"```json\n{", b"```json\n[1]\n```\n",
    b"---\n", b"a: &a [*a]\n", b"sessions:\n- !!python/object:os.system x\n", b"\xef\xbb\xbf{}", b"|" * 5000,
    b"- " * 2000, b"[" * 5000, b"targets: [[[[[", b"targets:\n- {id: 0x" + b"f" * 6000 + b", type: sim}\n",
    b"sessions:\n- {session_id: s, target_ref: sim_t, skill_ref: rekep_pick, execution: {params: {a: 0x" + b"f" * 6000
    + b", b: .nan, c: 2001-01-01, d: !!binary eA==, 1: 2, [1, 2]: 3, null: 1}}}\n",
    b'[' * 200_000,
)  # fmt: skip
SKILL = "num_stages = 1\ngrasp_keypoints = [-1]\nrelease_keypoints = [-1]\n\ndef stage1_subgoal_constraint1(a, b):\n"
PROGRAMS = tuple(
    (SKILL + f"    {body}\n").encode()
    for body in (
        "return round(1, -200000000)", "return 9 ** 9 ** 9", "return [0] * 10 ** 9", "return np.diff(b, 10 ** 15)",
        "x = [0]\n    x[0:0] = x\n    return x", "return " + "(" * 5000, "return " + "-" * 60_000 + "1",
        "return 0" + "\n" * 60_000,
        "x = 1\n    if x:\n        x = 1\n" + "    elif x:\n        x = 1\n" * 900 + "    return x",
    )
)  # fmt: skip
VALUES = st.sampled_from(hostile.VALUES)


def embodied() -> str:
    return resources.files("worldfs").joinpath("profiles", "franka_panda.md").read_text(encoding="utf-8")


@st.composite
def changed(draw: Any, value: Any) -> Any:
    """A document with a hostile value in one field, a hostile name for one key, or one entry twice."""
    at = draw(st.sampled_from(list(hostile.fields(value))))
    how = draw(st.sampled_from(["value", "value", "value", "name", "twice"]))
    if how == "name" and at and isinstance(at[-1], str):
        return hostile.renamed(value, at, draw(VALUES.filter(lambda one: isinstance(one, str))))
    if how == "twice" and at:
        return hostile.doubled(value, at)
    return hostile.replaced(value, at, draw(VALUES))


@st.composite
def documents(draw: Any) -> tuple[str, bytes]:
    """A file of a workspace, and hostile content for it."""
    name = draw(st.sampled_from([*DATA, *DATA, *PROSE, "EMBODIED.md", "skills/drafted.md", *STATE]))
    if name == "skills/drafted.md":
        return name, draw(st.sampled_from(PROGRAMS + BROKEN))
    if draw(st.integers(0, 9)) == 0:
        return name, draw(st.sampled_from(BROKEN))
    if name in DATA:
        return name, hostile.document(draw(changed(draw(st.sampled_from(DATA[name])))))
    if name in STATE:
        content = STATE[name]
        if isinstance(content, str):
            return name, hostile.spelled(draw(VALUES))
        return name, hostile.document(draw(changed(content)), fenced=False) + b"\n"
    text = PROSE.get(name) or embodied()
    start, end = draw(st.sampled_from(hostile.passages(text)))
    return name, text[:start].encode() + hostile.spelled(draw(VALUES)) + text[end:].encode()


class Place:
    """A workspace with every document of the specification, and worlds over it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True)
        for name, (value, *_) in DATA.items():
            self.put(name, hostile.document(value))
        for name, text in PROSE.items():
            self.put(name, text.encode())
        self.put("EMBODIED.md", embodied().encode())

    def put(self, name: str, data: bytes) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_bytes(data)

    def open(self, config: Any = None) -> World:
        def make(seat: PluginContext) -> Driver:
            return NullDriver()

        return World.open(
            self.root, clock=ManualClock(), serve=True, threads=False, parts=null_parts([]), config=config,
            drivers={"simulation": make},
        )  # fmt: skip

    def goes_on(self, world: World, id: str, *, must: bool) -> None:
        """A job that another program submits is carried out (`must`), or at least ended, and everything can be read."""
        world.jobs.accept([Order(id, "arm_2", "move_to", {"target_pose": POSE})])
        for _ in range(60):
            if not world.tick():
                break
        status = world.jobs.load(id).status
        assert status.state.terminal, status
        assert not must or (status.outcome is not None and status.outcome.ok), status
        self.reads(world)

    def reads(self, world: World) -> None:
        world.status()
        for name in (*DATA, *PROSE, "EMBODIED.md", "alerts.json"):
            try:
                world.namespace("operator").read(world.resolve(name))
            except UserError:
                continue  # said in words, not with a traceback
        check(self.root)


def tried(name: str, data: bytes, *, running: bool) -> None:
    # The scene and the profile may say that arm_2 is not there or can do nothing; every other file is not about it.
    must = name not in ("ENVIRONMENT.md", "EMBODIED.md", "ROBOTS.md")
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder) / "w")
        if not running:
            place.put(name, data)
        world = place.open()
        if running:
            place.goes_on(world, "before", must=True)
            place.put(name, data)
        place.goes_on(world, "first", must=must)
        world.abandon()  # what was refused once is not fatal at the next start
        with place.open() as world:
            place.goes_on(world, "second", must=must)
        with World.open(place.root) as world:
            place.reads(world)


PATHLIKE = json.dumps({"queue": [{"action_id": "../x", "action_type": "strategy", "params": {}, "status": "failed"}]})


@settings(max_examples=3, suppress_health_check=list(HealthCheck))
@example(("ACTION.md", PATHLIKE.encode()), False)
@example(("SESSIONS.md", PATHLIKE.replace("queue", "sessions").replace("action_id", "session_id").encode()), True)
@example(("ENVIRONMENT.md", b"{"), False)
@example(("skills/drafted.md", PROGRAMS[0]), False)
@given(documents(), st.booleans())
def test_no_content_of_any_file_stops_a_world(document: tuple[str, bytes], running: bool) -> None:
    tried(*document, running=running)


@pytest.mark.proof
@settings(max_examples=2000, suppress_health_check=list(HealthCheck))
@given(documents(), st.booleans())
def test_no_content_of_any_file_stops_a_world_at_length(document: tuple[str, bytes], running: bool) -> None:
    tried(*document, running=running)


def configured(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        place = Place(home.workspace)
        home.config_path.write_bytes(data)
        home.config_path.chmod(0o600)
        check(home)
        try:
            config = home.config({})
        except UserError as error:  # exit 2: nothing can go on with that, and the message says where and what
            assert error.path.endswith("config.json") and (error.expected or error.fix)
            return
        try:
            opened = place.open(config)
        except UserError as error:  # a profile that is not there: no world starts with an empty EMBODIED.md
            assert error.code == "PROFILE_MISSING" and error.path.startswith("config.json ") and error.fix
            return
        with opened as world:
            assert world.kernel is not None
            alerts = list(world.kernel.alert.now().values())
            assert all(item in alerts for item in config.findings)
            place.goes_on(world, "a", must=False)


@settings(max_examples=3, suppress_health_check=list(HealthCheck))
@given(st.one_of(changed(CONFIG).map(lambda v: hostile.document(v, fenced=False)), st.sampled_from(BROKEN)))
def test_a_bad_field_of_the_configuration_is_refused_by_name(data: bytes) -> None:
    configured(data)


@pytest.mark.proof
@settings(max_examples=3000, suppress_health_check=list(HealthCheck))
@given(changed(CONFIG).map(lambda value: hostile.document(value, fenced=False)))
def test_a_bad_field_of_the_configuration_is_refused_by_name_at_length(data: bytes) -> None:
    configured(data)


# -- the entry is named --------------------------------------------------------------------------------------------

NAMED = [
    ("ACTION.md", ("queue", 0, "action_id"), "../x", "ACTION.md /queue/0/action_id"),
    ("ACTION.md", ("queue", 0, "action_id"), "/etc/x", "ACTION.md /queue/0/action_id"),
    ("ACTION.md", ("queue", 0, "robot_id"), "../x", "ACTION.md /queue/0/robot_id"),
    ("ACTION.md", ("queue", 0, "depends_on"), ["../x"], "ACTION.md /queue/0/depends_on/0"),
    ("ACTION.md", ("queue", 0, "timeouts", "execute"), float("nan"), "ACTION.md /queue/0/timeouts/execute"),
    ("SESSIONS.md", ("sessions", 0, "session_id"), "../evil", "SESSIONS.md /sessions/0/session_id"),
    ("SESSIONS.md", ("sessions", 0, "target_ref"), "a/b", "SESSIONS.md /sessions/0/target_ref"),
    ("TARGETS.md", ("targets", 1, "id"), "../x", "TARGETS.md /targets/1/id"),
    ("TARGETS.md", ("targets", 1, "id"), "sim_t", "TARGETS.md /targets/1/id"),
    ("TARGETS.md", ("targets", 1, "enabled"), "no", "TARGETS.md /targets/1/enabled"),
    ("SKILLS.md", ("skills", 0, "id"), "x" * 5000, "SKILLS.md /skills/0/id"),
    ("ENVIRONMENT.md", ("objects", 1, "id"), "../x", "ENVIRONMENT.md /objects/1/id"),
    ("ENVIRONMENT.md", ("objects", 1, "position", 1), 1e308, "ENVIRONMENT.md /objects/1/position/1"),
    ("ENVIRONMENT.md", ("objects", 1, "size", 0), -1, "ENVIRONMENT.md /objects/1/size/0"),
    ("ENVIRONMENT.md", ("objects", 1, "mass"), 5e-324, "ENVIRONMENT.md /objects/1/mass"),
    ("ENVIRONMENT.md", ("robots", 0, "robot_id"), "a\0b", "ENVIRONMENT.md /robots/0/robot_id"),
    ("ENVIRONMENT.md", ("robots", 0, "pose"), float("inf"), "ENVIRONMENT.md /robots/0/pose"),
]


@pytest.mark.slice(19)
@pytest.mark.parametrize("running", [False, True], ids=["stopped", "running"])
@pytest.mark.parametrize(
    ("name", "at", "value", "field"), NAMED, ids=[f"{row[0]}-{row[1][-1]}-{n}" for n, row in enumerate(NAMED)]
)
def test_the_bad_entry_is_named_by_the_kernel_and_by_check(
    tmp_path: Path, name: str, at: hostile.Field, value: Any, field: str, running: bool
) -> None:
    # The pen is new: of what a body sees already, the next observation writes the numbers anew.
    pen = {"id": "pen_01", "position": [0.5, 0.1, 0.4], "size": [0.1, 0.01, 0.01], "mass": 0.01}
    value_of = {**DATA, "ENVIRONMENT.md": [{**V2, "objects": [*V2["objects"], pen]}]}
    place, data = Place(tmp_path / "w"), hostile.document(hostile.replaced(value_of[name][0], at, value))
    if not running:
        place.put(name, data)
    with place.open() as world:
        assert world.kernel is not None
        if running:
            world.tick()
            place.put(name, data)
        place.goes_on(world, "a", must=True)
        alerts = world.kernel.alert.now().values()
        assert any(complete(item) and item.field.startswith(field) for item in alerts), alerts
        assert any(item["field"].startswith(field) for item in world.status()["alerts"])
    if not running and name not in ("ACTION.md", "SESSIONS.md"):
        assert any(item.field.startswith(field) for item in check(place.root))


def complete(item: Finding) -> bool:
    return all((item.code, item.field, item.expected, item.found, item.fix))


# -- what stands where a document should ---------------------------------------------------------------------------


KINDS = ("link", "dangling", "loop", "directory", "fifo")
PLACES = [*DATA, *PROSE, "EMBODIED.md", ".paos/alerts.json", ".paos/jobs/old_1.jsonl"]


@pytest.mark.slice(27)
@pytest.mark.parametrize(
    ("name", "kind"),
    [  # each file with two of the kinds, each kind with some of the files; with all of them in `make proof`
        pytest.param(name, kind, marks=() if (of - at) % len(KINDS) < 2 else pytest.mark.proof)
        for at, name in enumerate(PLACES)
        for of, kind in enumerate(KINDS)
    ],
)
def test_nothing_that_stands_in_the_place_of_a_file_stops_a_world(tmp_path: Path, name: str, kind: str) -> None:
    for running in (False, True):
        place = Place(tmp_path / f"w{running}")
        if not running:
            stands(place.root / name, kind)
        with place.open() as world:
            if running:
                place.goes_on(world, "before", must=True)
                stands(place.root / name, kind)
            place.goes_on(world, "first", must=False)
        with place.open() as world:
            place.goes_on(world, "second", must=False)


def stands(path: Path, kind: str) -> None:
    import os

    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    match kind:
        case "link":
            path.symlink_to("/etc/passwd")
        case "dangling":
            path.symlink_to("/nowhere/at/all")
        case "loop":
            path.symlink_to(path.name)
        case "directory":
            path.mkdir()
        case "fifo":
            os.mkfifo(path)


def test_a_scene_that_was_unreadable_at_the_start_is_taken_up_when_it_is_mended(tmp_path: Path) -> None:
    place = Place(tmp_path / "w")
    good = (place.root / "ENVIRONMENT.md").read_bytes()
    place.put("ENVIRONMENT.md", good[: len(good) // 2])
    shutil.rmtree(place.root / ".paos", ignore_errors=True)
    with place.open() as world:
        assert world.kernel is not None
        assert (place.root / "ENVIRONMENT.md").read_bytes() == good[: len(good) // 2]
        assert any(item.field == "ENVIRONMENT.md" for item in world.kernel.alert.now().values())
        before = world.kernel.nodes
        place.put("ENVIRONMENT.md", good)
        world.tick()
        assert not any(where.startswith("ENVIRONMENT.md") for where in world.kernel.alert.now()), before
