"""Every documented field of TARGETS.md, SKILLS.md and SESSIONS.md is obeyed, or refused by name (000, field tables)."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from worldfs.base.model import Job
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.null_target import null_parts
from worldfs.world.check import check
from worldfs.world.home import Home
from worldfs.world.onboard import onboard
from worldfs.world.world import World

TARGET: dict[str, Any] = {
    "id": "t1", "type": "sim", "enabled": True, "backend": "mujoco", "supported_skills": ["s1"],
    "adapter": {"class": "SimTargetAdapter", "obs_format": "mujoco_standard"},
    "perception": {"cameras": [{"name": "front", "resolution": [640, 480], "fps": 30}]},
    "config": {"seed": 7},
}  # fmt: skip
SKILL: dict[str, Any] = {
    "id": "s1", "category": "manipulation", "description": "d", "runtime": "NullRuntime",
    "supported_target_types": ["sim"], "policy_client": {"type": "http", "endpoint": "http://localhost:1/predict"},
    "requires": {
        "sensors": ["rgb_camera"], "environment_outputs": ["scene_graph"], "strict_environment_contract": True,
    },
}  # fmt: skip
SESSION: dict[str, Any] = {
    "session_id": "a", "target_ref": "t1", "skill_ref": "s1", "status": "pending", "priority": "high",
    "timeouts": {"session": 120, "skill": 60}, "retry": {"max_attempts": 3, "backoff": "exponential"},
    "routing": {"target_adapter": "SimTargetAdapter", "skill_runtime": "NullRuntime"},
    "execution": {"params": {"object_id": "apple_01"}}, "created_at": "2025-04-01T12:00:00Z",
}  # fmt: skip
DOCUMENTS = {"TARGETS.md": ("targets", TARGET), "SKILLS.md": ("skills", SKILL), "SESSIONS.md": ("sessions", SESSION)}
FIXTURES = Path(__file__).parents[1] / "fixtures" / "runtime"
TEXT = "no such thing"
CAMERA = "perception.cameras.0"

# document, field, a value that nobody serves, code of the refusal, what its field names
REFUSED = [
    ("TARGETS.md", "id", "../x", "SCHEMA_VALIDATION", "/targets/0/id"),
    ("TARGETS.md", "type", "ghost", "SCHEMA_VALIDATION", "/targets/0/type"),
    ("TARGETS.md", "enabled", "yes", "SCHEMA_VALIDATION", "/targets/0/enabled"),
    ("TARGETS.md", "supported_skills", ["other"], "SKILL_NOT_SUPPORTED_BY_TARGET", "supported_skills"),
    ("TARGETS.md", "supported_skills", 7, "SCHEMA_VALIDATION", "/targets/0/supported_skills"),
    ("TARGETS.md", "adapter.class", TEXT, "TARGET_ADAPTER_MISMATCH", "routing.target_adapter"),
    ("TARGETS.md", "adapter.obs_format", "isaac_standard", "TARGET_BUILD", "adapter.obs_format"),
    ("TARGETS.md", CAMERA + ".name", "overhead", "TARGET_BUILD", "perception.cameras[0].name"),
    ("TARGETS.md", CAMERA + ".resolution", [1280, 720], "TARGET_BUILD", "perception.cameras[0].resolution"),
    ("TARGETS.md", CAMERA + ".resolution", [0, 480], "SCHEMA_VALIDATION", "cameras/0/resolution"),
    ("TARGETS.md", CAMERA + ".fps", -1, "SCHEMA_VALIDATION", "cameras/0/fps"),
    ("TARGETS.md", CAMERA + ".device", "/dev/video0", "TARGET_BUILD", "perception.cameras[0].device"),
    ("TARGETS.md", "perception.cameras", [{"name": "front"}, {"name": "front"}], "SCHEMA_VALIDATION", "cameras/1/name"),
    ("TARGETS.md", "config.scene_xml", "/path/to/tabletop.xml", "TARGET_BUILD", "config.scene_xml"),
    ("TARGETS.md", "config.scene_xml", __file__, "TARGET_BUILD", "config.scene_xml"),
    ("TARGETS.md", "config.control_mode", "torque", "TARGET_BUILD", "config.control_mode"),
    ("SKILLS.md", "id", "a/b", "SCHEMA_VALIDATION", "/skills/0/id"),
    ("SKILLS.md", "category", "juggling", "SCHEMA_VALIDATION", "/skills/0/category"),
    ("SKILLS.md", "description", 7, "SCHEMA_VALIDATION", "/skills/0/description"),
    ("SKILLS.md", "runtime", "", "SCHEMA_VALIDATION", "/skills/0/runtime"),
    ("SKILLS.md", "supported_target_types", ["real_robot"], "SKILL_NOT_SUPPORTED_BY_TARGET", "supported_target_types"),
    ("SKILLS.md", "policy_client.type", "", "SCHEMA_VALIDATION", "policy_client/type"),
    ("SKILLS.md", "requires.sensors", ["lidar"], "REQUIRED_SENSOR_MISSING", "perception"),
    ("SKILLS.md", "requires.environment_outputs", ["weather"], "OBSERVATION_CHANNEL_MISSING", "weather"),
    ("SKILLS.md", "requires.strict_environment_contract", "x", "SCHEMA_VALIDATION", "strict_environment_contract"),
    ("SESSIONS.md", "session_id", "../evil", "SCHEMA_VALIDATION", "/sessions/0/session_id"),
    ("SESSIONS.md", "target_ref", "nobody", "NODE_UNKNOWN", "a robot_id"),
    ("SESSIONS.md", "skill_ref", "nothing", "SKILL_RUNTIME_MISSING", "skill_ref"),
    ("SESSIONS.md", "status", "sleeping", "SCHEMA_VALIDATION", "/sessions/0/status"),
    ("SESSIONS.md", "priority", "urgent", "SCHEMA_VALIDATION", "/sessions/0/priority"),
    ("SESSIONS.md", "timeouts.session", -1, "SCHEMA_VALIDATION", "timeouts/session"),
    ("SESSIONS.md", "timeouts.skill", "long", "SCHEMA_VALIDATION", "timeouts/skill"),
    ("SESSIONS.md", "retry.max_attempts", 0, "SCHEMA_VALIDATION", "retry/max_attempts"),
    ("SESSIONS.md", "retry.backoff", "random", "SCHEMA_VALIDATION", "retry/backoff"),
    ("SESSIONS.md", "routing", "fast", "SCHEMA_VALIDATION", "/sessions/0/routing"),
    ("SESSIONS.md", "routing.target_adapter", "RealRobotTargetAdapter", "TARGET_ADAPTER_MISMATCH", "target_adapter"),
    ("SESSIONS.md", "routing.target_adapter", "Wrong", "TARGET_ADAPTER_MISMATCH", "routing.target_adapter"),
    ("SESSIONS.md", "routing.skill_runtime", "Wrong", "SKILL_RUNTIME_MISSING", "routing.skill_runtime"),
    ("SESSIONS.md", "execution.params", [1], "SCHEMA_VALIDATION", "execution/params"),
    ("SESSIONS.md", "timeouts.sesion", 1, "FIELD_UNREAD", "/sessions/0/timeouts/sesion"),
    ("SESSIONS.md", "timeouts.whole", 1, "FIELD_UNREAD", "/sessions/0/timeouts/whole"),
    ("SESSIONS.md", "retry.max_attemps", 1, "FIELD_UNREAD", "/sessions/0/retry/max_attemps"),
    ("SESSIONS.md", "routing.target_adaptor", "x", "FIELD_UNREAD", "/sessions/0/routing/target_adaptor"),
    ("SESSIONS.md", "execution.max_step", 1, "FIELD_UNREAD", "/sessions/0/execution/max_step"),
    ("SESSIONS.md", "execution.dry_run", True, "FIELD_UNREAD", "/sessions/0/execution/dry_run"),
    ("SESSIONS.md", "dry_run", True, "FIELD_UNREAD", "/sessions/0/dry_run"),
    ("SESSIONS.md", "safety_profile", {"workspace_bounds": [0, 1]}, "FIELD_UNREAD", "/sessions/0/safety_profile"),
    ("SESSIONS.md", "execution.params.dry_run", True, "UNKNOWN_PARAMETER", "execution.params"),
    ("SESSIONS.md", "execution.params.object_id", None, "UNKNOWN_OBJECT", "execution.params.object_id"),
    ("SESSIONS.md", "arguments", {"object_id": "apple_01"}, "FIELD_UNREAD", "arguments"),
    ("TARGETS.md", "Enabled", False, "FIELD_UNREAD", "Enabled"),
    ("TARGETS.md", "config.max_speed", 0.1, "FIELD_UNREAD", "config.max_speed"),
    ("SKILLS.md", "disabled", True, "FIELD_UNREAD", "disabled"),
    ("SKILLS.md", "requires.approval", "a person's", "FIELD_UNREAD", "requires.approval"),
]  # fmt: skip


# document, field that nothing reads, what is suggested for it
UNREAD = [
    ("SKILLS.md", "obs_format", "remove the field"),
    ("SKILLS.md", "runtim", "did you mean runtime"),
    ("SKILLS.md", "requires.sensor", "did you mean sensors"),
    ("SKILLS.md", "policy_client.observation", "did you mean observations"),
    ("SKILLS.md", "policy_client.image.rotate", "did you mean rotate180"),
    ("TARGETS.md", "smell", "remove the field"),
    ("TARGETS.md", "adapter.obs_fromat", "did you mean obs_format"),
    ("TARGETS.md", "perception.camera", "did you mean cameras"),
    ("TARGETS.md", CAMERA + ".frames", "remove the field"),
    ("TARGETS.md", "config.sed", "did you mean seed"),
    ("SESSIONS.md", "safety_profile", "remove the field"),
    ("SESSIONS.md", "routing.policy_endpoint", "remove the field"),
    ("SESSIONS.md", "execution.chunk_switch_mode", "remove the field"),
]

# The same, with a value in whose place the default would be taken
NONSENSE = [
    ("SKILLS.md", "policy_client.max_bytes", "many"),
    ("SKILLS.md", "policy_client.images", "jpg"),
    ("SKILLS.md", "policy_client.image", "small"),
    ("SESSIONS.md", "task_description", 7),
    ("SESSIONS.md", "routing.skill_runtime", 7),
    ("SESSIONS.md", "execution.control_hz", "fast"),
    ("SESSIONS.md", "execution.max_steps", -5),
    ("SESSIONS.md", "execution.replan_every", 1.5),
    ("SESSIONS.md", "execution.seed", "x"),
    ("SESSIONS.md", "execution.real_time", "yes"),
    ("SESSIONS.md", "execution.record", 1),
    ("SESSIONS.md", "execution.action_chunk_mode", 4),
]


def put(value: dict[str, Any], path: str, new: Any) -> dict[str, Any]:
    after = copy.deepcopy(value)
    inner: Any = after
    *way, last = path.split(".")
    for key in way:
        inner = inner[int(key)] if isinstance(inner, list) else inner.setdefault(key, {})
    inner[last] = new
    return after


class Shop:
    def __init__(self, root: Path) -> None:
        self.root, self.performed = root, list[str]()
        self.write()

    def write(self, **changed: dict[str, Any]) -> None:
        for name, (key, value) in DOCUMENTS.items():
            (self.root / name).write_text(json.dumps({key: [changed.get(key, value)]}))

    def world(self) -> World:
        parts = null_parts(self.performed)
        return World.open(self.root, clock=ManualClock(), serve=True, threads=False, parts=parts)

    def carried_out(self) -> tuple[World, dict[str, Job]]:
        world = self.world()
        while world.tick():
            pass
        return world, {id: world.jobs.load(id) for id in world.jobs.done_ids()}


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_the_documents_as_they_stand_are_carried_out_without_a_warning(shop: Shop) -> None:
    world, jobs = shop.carried_out()
    with world:
        outcome = jobs["a"].status.outcome
        assert outcome is not None and outcome.ok and outcome.findings == (), outcome
    found = [item for item in check(shop.root) if item.field.startswith(tuple(DOCUMENTS))]
    assert [item.found for item in found] == ["NullRuntime"]  # the test's own, which no installation has


@pytest.mark.slice(8)
@pytest.mark.parametrize(
    ("document", "field", "value", "code", "named"), REFUSED, ids=[f"{r[0]}-{r[1]}-{n}" for n, r in enumerate(REFUSED)]
)
def test_what_nobody_serves_is_refused_by_name_and_nothing_moves(
    shop: Shop, document: str, field: str, value: Any, code: str, named: str
) -> None:
    key, entry = DOCUMENTS[document]
    shop.write(**{key: put(entry, field, value)})
    world, jobs = shop.carried_out()
    with world:
        assert world.kernel is not None
        said = list(world.kernel.alert.now().values())
        for job in jobs.values():
            assert job.status.outcome is not None and not job.status.outcome.ok
            said += job.status.outcome.findings
        found = [item for item in said if item.code == code and (named in item.field or code == "NODE_UNKNOWN")]
        assert found, said
        assert all(item.expected and item.found and item.fix for item in found)
    assert shop.performed == []


def test_a_session_may_name_the_adapter_where_its_target_names_none(shop: Shop) -> None:
    shop.write(targets=put(TARGET, "adapter", {}))
    world, jobs = shop.carried_out()
    with world:
        assert jobs["a"].status.outcome.ok, jobs["a"].status.outcome  # type: ignore[union-attr]
    shop.write(
        targets=put(TARGET, "adapter", {}), sessions=put(put(SESSION, "routing.target_adapter", "W"), "session_id", "b")
    )
    world, jobs = shop.carried_out()
    with world:
        (finding,) = jobs["b"].status.outcome.findings  # type: ignore[union-attr]
        assert finding.field == "SESSIONS.md b routing.target_adapter" and "SimTargetAdapter" in finding.expected
    shop.write(targets=put(TARGET, "adapter", {}), sessions=put(put(SESSION, "routing", {}), "session_id", "c"))
    world, jobs = shop.carried_out()
    with world:
        assert "found no adapter.class" in jobs["c"].status.outcome.message  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("field", "value"), [("requires.sensors", ["lidar"]), ("requires.environment_outputs", ["weather"])]
)
def test_an_omission_that_is_not_strict_stands_as_a_warning_in_the_result(shop: Shop, field: str, value: Any) -> None:
    loose = put(SKILL, "requires.strict_environment_contract", False)
    shop.write(skills=put(loose, field, value))
    world, jobs = shop.carried_out()
    with world:
        outcome = jobs["a"].status.outcome
        assert outcome is not None and outcome.ok and all(item.warning for item in outcome.findings)
        assert value[0] in str(outcome.findings[0])
    (entry,) = json.loads((shop.root / "SESSIONS.md").read_text())["sessions"]
    assert value[0] in entry["result"]["warnings"][0]


@pytest.mark.slice(4)
@pytest.mark.parametrize(("document", "field", "fix"), UNREAD, ids=[f"{d}-{f}" for d, f, _ in UNREAD])
def test_a_field_that_nothing_reads_is_named_in_check_and_in_the_result(
    shop: Shop, document: str, field: str, fix: str
) -> None:
    own = {"TARGETS.md": TARGET, "SKILLS.md": put(SKILL, "runtime", "BuiltinSkillRuntime")}
    own["SESSIONS.md"] = put(SESSION, "routing", {})
    own[document] = put(own[document], field, "smell")
    shop.write(**{DOCUMENTS[name][0]: entry for name, entry in own.items()})
    (found,) = [item for item in check(shop.root) if item.code == "FIELD_UNREAD"]
    name = field.replace(".0", "[0]")
    assert found.warning and found.field.endswith(name) and found.field.startswith(document)
    assert name.rpartition(".")[2] in found.found and fix in found.fix
    world, jobs = shop.carried_out()
    with world:
        outcome = jobs["a"].status.outcome
        assert outcome is not None and outcome.ok and [item.code for item in outcome.findings] == ["FIELD_UNREAD"]
    (written,) = json.loads((shop.root / "SESSIONS.md").read_text())["sessions"]
    assert name.rpartition(".")[2] in written["result"]["warnings"][0]


def test_of_the_specification_s_own_examples_every_field_is_read(tmp_path: Path) -> None:
    for name in DOCUMENTS:
        (tmp_path / name).write_bytes((FIXTURES / name).read_bytes())
    assert not [item for item in check(tmp_path) if item.code == "FIELD_UNREAD"]


@pytest.mark.slice(4)
@pytest.mark.parametrize(("document", "field", "value"), NONSENSE, ids=[f"{d}-{f}" for d, f, _ in NONSENSE])
def test_a_value_in_whose_place_a_default_would_be_taken_is_refused(
    shop: Shop, document: str, field: str, value: Any
) -> None:
    key, entry = DOCUMENTS[document]
    shop.write(**{key: put(entry, field, value)})
    said = [item for item in check(shop.root) if item.field.replace("/", ".").endswith(field)]
    assert said and not said[0].warning and said[0].expected and said[0].fix, said
    world, jobs = shop.carried_out()
    with world:
        assert not [job for job in jobs.values() if job.status.outcome is None or job.status.outcome.ok]
    assert shop.performed == []


@pytest.mark.parametrize(
    "number", [n for n, row in enumerate(REFUSED) if row[0] == "TARGETS.md" and row[3] == "TARGET_BUILD"]
)
def test_check_says_before_any_session_what_a_target_asks_for_in_vain(shop: Shop, number: int) -> None:
    _, field, value, code, named = REFUSED[number]
    shop.write(targets=put(TARGET, field, value))
    assert any(item.code == code and named in item.field for item in check(shop.root))


@pytest.mark.parametrize("leads_to", ["/nowhere/at/all", "EMBODIED.md", "TASK.md"])
def test_a_document_that_is_a_link_is_named_once(tmp_path: Path, leads_to: str) -> None:
    """Wherever the link leads: out of the workspace, to itself, or to another document."""
    home = Home(tmp_path / "家 a")
    onboard(home)
    (home.workspace / "EMBODIED.md").unlink()
    (home.workspace / "EMBODIED.md").symlink_to(leads_to)
    assert [f.code for f in check(home) if f.field.endswith("EMBODIED.md")] == ["UNSAFE_PATH"]


def test_what_a_target_finds_out_about_its_robot_is_stored_for_the_next_kernel(shop: Shop) -> None:
    for found in (None, "told"):
        world = shop.world()
        assert world.kernel is not None
        memory = world.kernel.nodes[TARGET["id"]].driver._registries.memory  # type: ignore[attr-defined]
        assert memory.recall("fact") == found
        memory.keep("fact", "told")
        world.close()
