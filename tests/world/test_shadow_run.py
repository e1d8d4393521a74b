"""A session of a real target is carried out in simulation first; nobody is asked before that has succeeded."""

from __future__ import annotations

import json

import pytest

from worldfs.base.model import JobState
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.null_target import NullAdapter, null_parts
from worldfs.world.world import World

ARM = {"id": "arm", "type": "real_robot", "adapter": {"class": "RealRobotTargetAdapter"}, "config": {"shadow": "twin"}}
TWIN = {"id": "twin", "type": "sim", "adapter": {"class": "SimTargetAdapter"}, "config": {"scene": "environment"}}
SKILLS = {"skills": [{"id": "pick", "runtime": "NullRuntime"}, {"id": "wave", "runtime": "NullRuntime"}]}
PEAR = {"id": "pear_01", "name": "pear", "category": "fruit", "position": [0.4, 0.0, 0.03]}


class Twin(NullAdapter):
    """Builds all that it is given."""

    def scene(self):
        return self.context.scene


class Table:
    """A workspace with an arm, its twin, and the scenes that the twin was opened on."""

    def __init__(self, root):
        self.root, self.scenes, self.clock = root, [], ManualClock()
        (root / "TARGETS.md").write_text(json.dumps({"targets": [ARM, TWIN]}))
        (root / "SKILLS.md").write_text(json.dumps(SKILLS))
        self.lay()

    def lay(self, *things):
        world = {"schema_version": "v2.0", "objects": things, "robots": [], "scene_graph": {"nodes": [], "edges": []}}
        (self.root / "ENVIRONMENT.md").write_text(json.dumps(world))

    def twin(self, target, context):
        self.scenes.append([thing.id for thing in context.scene.objects])
        return Twin(target, context)

    def world(self):
        parts = null_parts()
        parts = parts._replace(targets={**parts.targets, "SimTargetAdapter": self.twin})
        return World.open(self.root, clock=self.clock, serve=True, threads=False, parts=parts)

    def put(self, *entries):
        (self.root / "SESSIONS.md").write_text(json.dumps({"sessions": list(entries)}))


@pytest.fixture
def table(tmp_path):
    return Table(tmp_path)


def drain(world):
    while world.tick():
        pass


def session(id, target, skill="pick", depends_on=(), **params):
    return {"session_id": id, "target_ref": target, "skill_ref": skill, "status": "pending",
            "depends_on": [*depends_on], "execution": {"params": params}}  # fmt: skip


def test_it_runs_on_the_twin_as_environment_md_has_the_scene_and_then_asks(table):
    table.put(session("shadow", "twin", object_id="pear_01"),
              session("real", "arm", depends_on=["shadow"], object_id="pear_01"))  # fmt: skip
    with table.world() as world:
        assert table.scenes == [[]] and not world.approvals.requests()
        table.lay(PEAR)  # it is there now
        drain(world)
        assert world.jobs.load("shadow").status.state is JobState.SUCCEEDED
        assert table.scenes[-1] == ["pear_01"]
        (asked,) = world.approvals.requests()
        assert asked.job == "real" and world.jobs.load("real").status.state is JobState.PENDING
        world.approvals.answer(asked.plan, "approved", "operator")
        world.wake()
        drain(world)
        assert world.jobs.load("real").status.state is JobState.SUCCEEDED
    text = (table.root / "ENVIRONMENT.md").read_text()
    assert "pear_01" in text and '"twin"' not in text  # what a twin did is no observation


def test_a_scene_without_things_is_not_made_up(table):
    table.put(session("shadow", "twin"), session("real", "arm", depends_on=["shadow"]))
    with table.world() as world:
        drain(world)
        assert world.jobs.load("shadow").status.outcome.code == "SHADOW_EMPTY" and table.scenes == [[]]
        assert not world.approvals.requests()


def test_a_shadow_that_fails_ends_the_session_and_nobody_is_asked(table):
    table.lay(PEAR)
    table.put(
        session("shadow", "twin", fail="dropped it"), session("real", "arm", depends_on=["shadow"], fail="dropped it")
    )
    with table.world() as world:
        drain(world)
        assert world.jobs.load("shadow").status.outcome.message.startswith("dropped it")
        assert world.jobs.load("real").status.outcome.code == "DEPENDENCY_FAILED"
        assert not world.approvals.requests()


@pytest.mark.parametrize(
    ("shadow", "words"),
    [
        (None, "with the same parameters"), (session("shadow", "twin", object_id="apple_01"), "something else"),
        (session("shadow", "twin", "wave", object_id="pear_01"), "something else"),
    ],
)  # fmt: skip
def test_without_a_shadow_of_the_same_work_it_is_refused_before_anybody_is_asked(table, shadow, words):
    real = session("real", "arm", depends_on=["shadow"] if shadow else [], object_id="pear_01")
    table.put(*([shadow] if shadow else []), real)
    with table.world() as world:
        drain(world)
        outcome = world.jobs.load("real").status.outcome
        assert outcome.code == "SHADOW_MISSING" and words in outcome.message and "twin" in outcome.message
        assert not world.approvals.requests()


def test_a_shadow_of_an_earlier_scene_does_not_count(table):
    table.lay(PEAR)
    table.put(session("shadow", "twin", object_id="pear_01"))
    with table.world() as world:
        drain(world)
        table.clock.advance(60)
        table.put(session("real", "arm", depends_on=["shadow"], object_id="pear_01"))
        world.wake()
        drain(world)
        assert world.jobs.load("real").status.outcome.code == "SHADOW_MISSING"
        assert not world.approvals.requests()
