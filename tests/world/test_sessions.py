"""Sessions of skills on targets, over a workspace that holds only the runtime's three documents."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from worldfs.base.driver import Run
from worldfs.base.model import MAY_MOVE, ApprovalPolicy, JobState
from worldfs.formats.runtime import sessions
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.null_target import NullRuntime, null_parts
from worldfs.testing.waiting import until
from worldfs.world.check import check
from worldfs.world.world import World

FIXTURES = Path(__file__).parent.parent / "fixtures" / "runtime"
SCENE = "scene_xml: /path/to/tabletop.xml"
SESSION = "sess_pick_apple_001"


class Workshop:
    """A workspace with the specification's examples, and worlds over it."""

    def __init__(self, root):
        self.root = root
        self.clock = ManualClock()
        self.performed = []
        for file in FIXTURES.glob("*.md"):
            shutil.copy(file, root / file.name)
        self.edit("TARGETS.md", (SCENE, "seed: 7"))  # the example's scene file is a placeholder: there is none

    def edit(self, name, *changes):
        text = (self.root / name).read_text()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        (self.root / name).write_text(text)

    def put(self, *entries):
        (self.root / "SESSIONS.md").write_text(json.dumps({"sessions": list(entries)}))

    def world(self, **more):
        parts = null_parts(self.performed, trouble=more.pop("trouble", ""))
        return World.open(self.root, clock=self.clock, serve=True, threads=False, parts=parts, **more)

    def entries(self):
        return {entry.id: entry for entry in sessions.read((self.root / "SESSIONS.md").read_bytes()).entries}

    def text(self, name="SESSIONS.md"):
        return (self.root / name).read_text()


@pytest.fixture
def shop(tmp_path):
    return Workshop(tmp_path)


def drain(world, clock=None, seconds=0.0):
    if clock is not None:
        clock.advance(seconds)
    while world.tick():
        pass


def entry(id, target="sim_franka_tabletop", skill="rekep_pick", **more):
    return {"session_id": id, "target_ref": target, "skill_ref": skill, "status": "pending", **more}


def params(**values):
    return {"execution": {"params": values}}


def test_a_simulation_that_becomes_a_real_robot_asks_from_then_on(shop):
    with shop.world() as world:
        drain(world)
        before = world.kernel.nodes["sim_franka_tabletop"].approval
        shop.edit("TARGETS.md", ("type: sim", "type: real_robot"))
        until(lambda: drain(world) or world.kernel.nodes["sim_franka_tabletop"].approval.real)
        assert (before, world.kernel.nodes["sim_franka_tabletop"].approval.policy) == (MAY_MOVE, ApprovalPolicy.ALWAYS)


def test_a_session_is_approved_whole_and_what_it_runs_cannot_be_edited_afterwards(shop):
    shop.put(entry("one", task_description="pour the tea", **params(object_id="can")))
    shop.edit("TARGETS.md", ("type: sim", "type: real_robot"))
    with shop.world() as world:
        drain(world)
        (first,) = world.approvals.requests()
        (step,) = first.steps
        assert step["request"]["task_description"] == "pour the tea"
        assert set(step["sources"]) == {"target sim_franka_tabletop", "skill rekep_pick"}, step["sources"]
        world.approvals.answer(first.plan, "approved", "operator")
        shop.edit("SKILLS.md", ("description:", "description: now with the acid,"))
        until(lambda: drain(world) or world.approvals.requests()[0].plan != first.plan)
        assert shop.performed == []
        assert world.jobs.load("one").status.state is JobState.PENDING


def test_a_runtime_that_breaks_as_it_is_asked_for_its_files_stops_no_kernel(shop, monkeypatch):
    def broken(self, request):
        raise RuntimeError("a bug of a package")

    monkeypatch.setattr(NullRuntime, "sources", broken, raising=False)
    shop.put(entry("one"))
    shop.edit(
        "TARGETS.md", ("type: sim", "type: real_robot"), ("enabled: true", "enabled: true\n    1: odd\n    a: key")
    )
    with shop.world() as world:
        drain(world)
        (request,) = world.approvals.requests()
        assert request.steps[0]["sources"]["runtime"] == "RuntimeError"


def test_a_skill_that_is_edited_as_its_session_begins_is_not_run(shop):
    shop.put(entry("one"))
    with shop.world() as world:
        drain(world)
        driver, order = world.kernel.nodes["sim_franka_tabletop"].driver, world.jobs.load("one").order
        held = {"plan": "0" * 16, "sources": driver.sources(order)}
        shop.edit("SKILLS.md", ("description:", "description: now with the acid,"))
        count = len(shop.performed)
        outcome = driver.execute(order, Run(shop.clock, shop.clock.monotonic() + 100, approval=held))
        assert (outcome.code, len(shop.performed)) == ("APPROVAL_EXPIRED", count)


def test_the_specifications_example_runs_and_its_result_stands_in_the_sheet(shop):
    with shop.world() as world:
        drain(world)
        job = world.jobs.load(SESSION)
    assert job.status.state is JobState.SUCCEEDED, job.status.outcome
    text = shop.text()
    assert shop.entries()[SESSION].word == "succeeded"
    assert "success: true" in text and "trace_path: artifacts/runtime/" in text and "attempts: 1" in text
    episode = json.loads((shop.root / "artifacts/runtime" / SESSION / "episode.json").read_text())
    assert episode["success"] is True and episode["params"]["object_id"] == "apple_01"
    # what the operator wrote is as it was
    assert (shop.root / "SKILLS.md").read_bytes() == (FIXTURES / "SKILLS.md").read_bytes()
    assert shop.text("TARGETS.md") == (FIXTURES / "TARGETS.md").read_text().replace(SCENE, "seed: 7")


def test_nobody_makes_up_a_robot_beside_declared_targets(shop):
    with shop.world() as world:
        assert world.specs == () and world.node_ids() == ["sim_franka_tabletop", "real_franka_lab"]
        drain(world)
    with World.open(shop.root) as again:  # what it saw of its targets makes no robot of them either
        assert again.specs == ()


def test_without_its_policy_it_is_refused_and_told_how_to_start_one(shop):
    with shop.world(trouble="nothing listens at localhost:8765") as world:
        drain(world)
        outcome = world.jobs.load(SESSION).status.outcome
    assert outcome.code == "POLICY_ENDPOINT_UNREACHABLE" and "paos policy serve --port 8765" in outcome.message
    assert shop.performed == [] and "POLICY_ENDPOINT_UNREACHABLE" in shop.text()
    assert SESSION in shop.text("LESSONS.md") or "rekep_pick" in shop.text("LESSONS.md")


def test_a_missing_sensor_refuses_where_the_contract_is_strict_and_warns_where_it_is_not(shop):
    shop.edit("TARGETS.md", ("      seed: 7", "      sensors: [rgb_camera, joint_states]"))
    with shop.world() as world:
        drain(world)
        outcome = world.jobs.load(SESSION).status.outcome
        found = {item.code: item for item in outcome.findings}
        assert "REQUIRED_SENSOR_MISSING" in found and found["REQUIRED_SENSOR_MISSING"].expected == "depth_camera"
        assert found["REQUIRED_SENSOR_MISSING"].field == "TARGETS.md targets[0].perception"
        shop.edit("SKILLS.md", ("strict_environment_contract: true", "strict_environment_contract: false"))
        shop.put(entry("second"))
        drain(world)
        assert world.jobs.load("second").status.state is JobState.SUCCEEDED


def test_a_disabled_target_waits_until_the_operator_enables_it(shop):
    shop.edit("TARGETS.md", ("enabled: true", "enabled: false"))
    with shop.world() as world:
        drain(world, shop.clock, 500)
        assert world.jobs.load(SESSION).status.state is JobState.PENDING and shop.performed == []
        shop.edit("TARGETS.md", ("enabled: false", "enabled: true"))
        drain(world)
        assert world.jobs.load(SESSION).status.state is JobState.SUCCEEDED


def test_a_target_that_is_declared_while_we_work_takes_sessions(shop):
    with shop.world() as world:
        drain(world)
        more = "  - id: second\n    type: sim\n    adapter: {class: SimTargetAdapter}\n```"
        head, _, _ = shop.text("TARGETS.md").rpartition("```")
        (shop.root / "TARGETS.md").write_text(head + more + "\n")
        shop.put(entry("on_second", "second"))
        drain(world)
        assert world.jobs.load("on_second").status.state is JobState.SUCCEEDED


def test_one_bad_entry_is_refused_alone(shop):
    shop.put(entry("good"), entry("bad", priority="urgent"), entry("worse", target=7), entry("also_good"))
    with shop.world() as world:
        drain(world)
        assert shop.performed == ["good", "also_good"]
    text = shop.text()
    assert "urgent" in text and "high, normal, medium, low" in text


def test_priority_then_time_then_place_in_the_file(shop):
    shop.put(
        entry("low", priority="low"), entry("new", created_at="2026-01-02T00:00:00Z"),
        entry("old", created_at="2026-01-01T00:00:00Z"), entry("first", priority="high"),
    )  # fmt: skip
    with shop.world() as world:
        drain(world)
    assert shop.performed == ["first", "old", "new", "low"]


def test_a_skill_that_fails_is_tried_again_after_its_backoff(shop):
    shop.put(entry("a", retry={"max_attempts": 3, "backoff": "exponential"}, **params(fail="slipped")))
    with shop.world() as world:
        drain(world)
        assert len(shop.performed) == 1
        drain(world, shop.clock, 1.2)
        drain(world, shop.clock, 2.3)
        job = world.jobs.load("a")
    assert len(shop.performed) == 3 and job.status.attempt == 3 and job.status.outcome.code == "RUNTIME_ERROR"


def test_a_session_that_takes_too_long_is_stopped_and_says_so(shop):
    shop.put(entry("a", timeouts={"session": 5}, retry={"max_attempts": 5}, **params(hang=True)))
    with shop.world() as world:
        drain(world)
        job = world.jobs.load("a")
    assert job.status.outcome.code == "SESSION_TIMEOUT" and job.status.attempt == 1


def test_unknown_skills_targets_and_runtimes_are_named(shop):
    shop.put(entry("a", skill="juggle"), entry("b", target="moon"), entry("c", routing={"skill_runtime": "Magic"}))
    with shop.world() as world:
        drain(world)
        codes = {id: world.jobs.load(id).status.outcome for id in "abc"}
    assert codes["a"].code == "SKILL_RUNTIME_MISSING" and "rekep_pick" in codes["a"].message
    assert codes["b"].code == "NODE_UNKNOWN" and "sim_franka_tabletop" in codes["b"].message
    assert codes["c"].code == "SKILL_RUNTIME_MISSING" and "ReKepPolicyRuntime" in codes["c"].message


def test_a_runtime_that_breaks_ends_its_session_only(shop):
    shop.put(entry("a", **params(**{"raise": "bug"})), entry("b"))
    with shop.world() as world:
        drain(world)
        assert world.jobs.load("a").status.outcome.code == "RUNTIME_ERROR"
        assert world.jobs.load("b").status.state is JobState.SUCCEEDED


def test_what_ran_when_the_power_went_is_lost_and_not_repeated(shop):
    world = shop.world()
    world.jobs.accept([])
    drain(world)
    job = world.jobs.load(SESSION)
    assert job.status.state is JobState.SUCCEEDED
    world.abandon()
    with shop.world() as again:
        drain(again)
    assert shop.performed == [SESSION]


def test_sessions_through_the_tree_are_accepted_and_shown(shop):
    (shop.root / "SESSIONS.md").unlink()
    with shop.world() as world:
        path = "/projects/main/SESSIONS.md"
        planner = world.namespace("planner")
        planner.write(path, json.dumps({"sessions": [entry("a"), entry("b", status="cancelled")]}).encode())
        drain(world)
        shown = {item.id: item.word for item in sessions.read(planner.read(path).data).entries}
    assert shown == {"a": "succeeded"} and shop.entries()["a"].word == "succeeded"


def test_check_names_what_refers_to_nothing(shop):
    shop.edit("SESSIONS.md", ("rekep_pick", "rekep_sing"), ("sim_franka_tabletop", "sim_franka_table"))
    found = {(item.code, item.found) for item in check(shop.root)}
    assert ("SKILL_RUNTIME_MISSING", "rekep_sing") in found and ("NODE_UNKNOWN", "sim_franka_table") in found
    assert ("SKILL_RUNTIME_MISSING", "rekep_place") in found  # TARGETS.md names it, the catalogue does not have it


def test_targets_are_nodes_of_the_served_tree_and_a_skill_is_invoked_by_writing_a_file(shop, tmp_path_factory):
    from worldfs.access.binding import ADMIN, MOTHER, SYSTEM, Binding
    from worldfs.world.served_world import ServedWorld

    shop.edit("SESSIONS.md", (SESSION, "sess_other_001"))
    home = tmp_path_factory.mktemp("home")
    parts = null_parts(shop.performed)
    with World.open(shop.root, serve=True, parts=parts) as world:
        import threading

        stop = threading.Event()
        thread = threading.Thread(target=world.run, kwargs={"stop": stop})
        thread.start()
        realm = ServedWorld.open(home, world=world, memory_only=True)
        try:
            tree = realm.namespace(Binding(ADMIN, MOTHER, SYSTEM))
            base = "/nodes/sim_franka_tabletop"
            assert {"services", "rekep_pick", "STATUS.json"} <= set(tree.list(base))
            schema = json.loads(tree.read(f"{base}/services/rekep_pick/SCHEMA.json").data)
            assert schema["requires"]["sensors"] == ["rgb_camera", "depth_camera", "joint_states"]
            written = tree.write(f"{base}/rekep_pick/control/invoke.json", b'{"object_id": "apple_01"}')
            assert written.until is not None
            until(written.until.ready)
            result = json.loads(tree.read(f"{base}/rekep_pick/result.json").data)
            assert result["message"] == "done" and result["job"].startswith("sess_rekep_pick_")
        finally:
            stop.set()
            world.wake()
            thread.join()
            realm.close()
    assert shop.entries()[result["job"]].word == "succeeded"


def test_a_session_of_a_target_that_was_refused_is_told_why_the_target_was(shop):
    shop.edit("TARGETS.md", ("enabled: true", "enabled: 0"))
    shop.put(entry("a"), entry("b", target="moon"))
    told = [item for item in check(shop.root) if item.job == "a"]
    with shop.world() as world:
        drain(world)
        a, b = (world.jobs.load(id).status.outcome for id in "ab")
        (why,) = [item for item in world.targets.findings()["TARGETS.md"] if not item.warning]
    assert a.code == why.code and why.found in a.message and "embodiments.instances" not in a.message
    assert b.code == "NODE_UNKNOWN"
    assert [(item.code, item.found) for item in told if item.code == why.code] == [(why.code, why.found)]
