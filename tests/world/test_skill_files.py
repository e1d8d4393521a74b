"""A skill file in a workspace: who writes it, what SESSIONS.md may do with it, and who allows it on a real robot."""

from __future__ import annotations

import json

import pytest

from worldfs.base.errors import BadInput, Conflict, NotFound, NotPermitted
from worldfs.base.model import ApprovalPolicy, Cause, JobState
from worldfs.formats.config import Config
from worldfs.sessions.skill_records import RECORDS, SkillRecords, SkillTrial
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.null_target import null_parts
from worldfs.world.world import World

PROGRAM = b'```python\nnum_stages = 1\ngrasp_keypoints = [0]\nkeypoints = ["apple_01.centre"]\n```\n'
TARGETS = {
    "targets": [
        {"id": "table", "type": "sim", "backend": "mujoco", "adapter": {"class": "SimTargetAdapter"}},
        {"id": "arm", "type": "real_robot", "adapter": {"class": "RealRobotTargetAdapter", "driver": "franka"}},
    ]
}
SKILLS = {"skills": [{"id": "rekep_pick", "runtime": "ReKepPolicyRuntime"},
                     {"id": "own", "runtime": "ReKepPolicyRuntime", "constraints": "constraints/own"}]}  # fmt: skip
PATH, ALLOW = "/projects/main/skills/wave.md", "/nodes/arm/allow_skill"


class Shop:
    def __init__(self, root):
        self.root, self.clock, self.performed, self.count = root, ManualClock(), [], 0
        (root / "TARGETS.md").write_text(json.dumps(TARGETS))
        (root / "SKILLS.md").write_text(json.dumps(SKILLS))
        (root / "SESSIONS.md").write_text("")

    def open(self, *, serve=False):
        config = Config(approval={"": ApprovalPolicy.NEVER})
        return World.open(
            self.root, clock=self.clock, config=config, serve=serve, threads=False, parts=null_parts(self.performed)
        )

    def session(self, world, target, skill="wave", routing=None, **params):
        self.count += 1
        id = f"sess_{self.count}"
        entry = {"session_id": id, "target_ref": target, "skill_ref": skill, "execution": {"params": params}}
        if routing:
            entry["routing"] = routing
        world.namespace("planner").write("/projects/main/SESSIONS.md", json.dumps({"sessions": [entry]}).encode())
        while world.tick():
            pass
        status = world.jobs.load(id).status
        assert status.state.terminal
        return status

    def succeed(self, times=100, bad=0):
        """What so many trials in simulation would leave."""
        with self.open() as world:
            skill = world.declarations().skill_files()[0]["wave"]
            lines = [SkillTrial(seed, seed >= bad)._asdict() for seed in range(times)]
            data = "".join(json.dumps(line) + "\n" for line in lines).encode()
            world.store.put(f"{RECORDS}/{skill.digest}.trials.jsonl", data)
            return skill.digest


@pytest.fixture
def shop(tmp_path):
    shop = Shop(tmp_path)
    with shop.open() as world:
        world.namespace("planner").write(PATH, PROGRAM)
    return shop


def states(world):
    value = json.loads(world.namespace("planner").read("/projects/main/skills.json").data)
    return {item["skill"]: item for item in value["skills"]}


def allow(world, digest, role="operator"):
    world.namespace(role).write(ALLOW, json.dumps({"skill": "wave", "sha256": digest}).encode())


def test_a_draft_runs_in_simulation_and_is_refused_by_name_on_a_real_robot(shop):
    with shop.open(serve=True) as world:
        assert shop.session(world, "table").state is JobState.SUCCEEDED
        status = shop.session(world, "arm")
    assert status.outcome.cause is Cause.REJECTED and status.outcome.code == "SKILL_DRAFT"
    assert not status.started_at  # preflight: it never was `running`
    (finding,) = status.outcome.findings
    assert finding.field == "skills/wave.md" and "draft: 0 of 100" in finding.found
    assert "paos skill try wave" in finding.fix and "arm" in finding.expected
    assert shop.performed == ["sess_1"]


def test_after_its_trials_and_the_operators_word_it_runs_until_it_is_edited(shop):
    digest = shop.succeed()
    with shop.open(serve=True) as world:
        simulated = shop.session(world, "arm")
        assert simulated.outcome.code == "SKILL_DRAFT" and "paos skill allow wave arm" in str(simulated.outcome.message)
        allow(world, digest)
        assert states(world)["wave"]["targets"]["arm"]["state"] == "allowed" == states(world)["wave"]["state"]
        assert shop.session(world, "arm").state is JobState.SUCCEEDED
    with shop.open(serve=True) as world:  # the record is durable
        assert shop.session(world, "arm").state is JobState.SUCCEEDED
        world.namespace("planner").write(PATH, PROGRAM + b" ")
        assert states(world)["wave"]["state"] == "draft"
        assert shop.session(world, "arm").outcome.code == "SKILL_DRAFT"
        world.namespace("planner").write(PATH, PROGRAM)
        assert shop.session(world, "arm").state is JobState.SUCCEEDED
        (shop.root / "TARGETS.md").write_text(json.dumps(TARGETS).replace("franka", "lerobot"))
        assert shop.session(world, "arm").outcome.code == "SKILL_DRAFT"


def test_what_is_carried_out_is_the_text_that_was_judged(shop):
    """Edited after preflight and before it starts: the text that runs is looked up and judged once more."""
    digest = shop.succeed()
    with shop.open(serve=True) as world:
        allow(world, digest)
        driver = world.kernel.nodes["arm"].driver
        review = driver.review

        def edited_after(order):
            found = review(order)
            (shop.root / "skills/wave.md").write_bytes(PROGRAM.replace(b"apple", b"knife"))
            return found

        driver.review = edited_after
        status = shop.session(world, "arm")
    assert status.outcome.cause is Cause.REJECTED and status.outcome.code == "SKILL_DRAFT" and not shop.performed


@pytest.mark.parametrize("role", ["planner", "critic", "watchdog", "orchestrator", "runtime_watchdog", "agent"])
def test_only_the_operator_promotes(shop, role):
    digest = shop.succeed()
    with shop.open(serve=True) as world:
        with pytest.raises((NotPermitted, NotFound)):
            allow(world, digest, role)
        with pytest.raises((NotPermitted, NotFound)):
            world.namespace(role).write(f"/projects/main/.paos/skills/{digest}.trials.jsonl", b"{}")
        assert shop.session(world, "arm").outcome.code == "SKILL_DRAFT"


def test_the_planner_and_the_operator_write_skill_files_and_the_others_read(shop):
    with shop.open() as world:
        for role in ("critic", "watchdog", "orchestrator", "runtime_watchdog"):
            assert world.namespace(role).read(PATH).data == PROGRAM
            with pytest.raises(NotPermitted):
                world.namespace(role).write(PATH, b"")
        world.namespace("operator").write(PATH, b"")
        with pytest.raises(NotFound):
            world.namespace("agent").read(PATH)


def test_a_promotion_needs_its_hash_its_trials_and_a_real_target(shop):
    digest = shop.succeed(99)
    with shop.open() as world:
        with pytest.raises(BadInput, match="99 of 100"):
            allow(world, digest)
        with pytest.raises(Conflict, match="another hash"):
            allow(world, "0" * 64)
        operator = world.namespace("operator")
        with pytest.raises(BadInput, match="no real target"):
            operator.write("/nodes/table/allow_skill", json.dumps({"skill": "wave", "sha256": digest}).encode())
        with pytest.raises(NotFound, match="no skill file"):
            operator.write(ALLOW, json.dumps({"skill": "rekep_pick", "sha256": ""}).encode())
        for bad in (b"", b"wave", b"[]", b'{"skill": "wave"}', b'{"skill": 1, "sha256": "x"}', b"[" * 9_000):
            with pytest.raises(BadInput):
                operator.write(ALLOW, bad)


def test_a_skill_that_fails_often_stays_a_draft(shop):
    digest = shop.succeed(100, bad=6)
    with shop.open(serve=True) as world:
        with pytest.raises(BadInput, match="94/100"):
            allow(world, digest)
        assert states(world)["wave"]["state"] == "draft" and "94/100" in states(world)["wave"]["why"]
        assert shop.session(world, "arm").outcome.code == "SKILL_DRAFT"


def test_constraints_that_are_in_no_skill_file_do_not_move_a_real_robot(shop):
    with shop.open(serve=True) as world:
        assert shop.session(world, "table", "rekep_pick", constraints="def x(): pass").state is JobState.SUCCEEDED
        given = shop.session(world, "arm", "rekep_pick", constraints="def x(): pass")
        declared = shop.session(world, "arm", "own")
        assert shop.session(world, "arm", "rekep_pick", object_id="apple_01").state is JobState.SUCCEEDED
    for status in (given, declared):
        assert status.outcome.code == "SKILL_DRAFT" and "skills/NAME.md" in status.outcome.findings[0].fix


def test_what_was_not_tried_is_not_allowed_along(shop):
    digest = shop.succeed()
    with shop.open(serve=True) as world:
        allow(world, digest)
        slack = shop.session(world, "arm", slack=0.1)
        other = shop.session(world, "arm", routing={"skill_runtime": "NullRuntime"})
        own = shop.session(world, "arm", constraints="def x(): pass")
        assert shop.session(world, "arm").state is JobState.SUCCEEDED
    assert {status.outcome.code for status in (slack, other, own)} == {"SKILL_DRAFT"}


def test_an_entry_of_skills_md_comes_before_a_file_of_its_name(shop):
    with shop.open() as world:
        world.namespace("planner").write("/projects/main/skills/rekep_pick.md", PROGRAM)
        assert not world.declarations().skills()["rekep_pick"].digest
        assert "SKILLS.md declares" in states(world)["rekep_pick"]["why"]


def test_what_is_no_skill_file_is_named_and_stops_nothing(shop):
    folder = shop.root / "skills"
    (folder / "bad.md").write_bytes(b"\xff\xfe")
    (folder / "long.md").write_bytes(b"#" * 200_000)
    (folder / "Not A Name.md").write_bytes(PROGRAM)
    (folder / "link.md").symlink_to(shop.root / "TARGETS.md")
    with shop.open() as world:
        value = json.loads(world.namespace("operator").read("/projects/main/skills.json").data)
    assert [item["skill"] for item in value["skills"]] == ["wave"]
    assert len(value["unreadable"]) == 3 and "bad.md" in value["unreadable"][0]


def test_a_directory_of_skills_that_is_a_file_breaks_no_session(tmp_path):
    shop = Shop(tmp_path)
    (tmp_path / "skills").write_text("my notes")
    with shop.open(serve=True) as world:
        assert shop.session(world, "table", "rekep_pick").state is JobState.SUCCEEDED
        assert world.declarations().skill_files()[1]


def test_a_record_in_a_home_is_read_by_another_process(shop):
    digest = shop.succeed()
    with shop.open() as world:
        allow(world, digest)
    with shop.open() as world:
        skill, arm = world.declarations().skills()["wave"], world.declarations().targets()["arm"]
        assert SkillRecords(world.store, shop.clock).state(skill, arm).state == "allowed"
