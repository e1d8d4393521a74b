"""Random worlds, random failures, one LESSONS.md: an order goes as soon as what refused it has passed, and is refused
without a try, with the cause, while it is measured to be so."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from worldfs.base.measured_facts import fact
from worldfs.base.model import Cause, Finding, JobState, JobStatus, Lesson, Order, Outcome, Scene
from worldfs.formats import lessons_file
from worldfs.planning.critic import Critic
from worldfs.planning.lesson_notes import avoid, note_for, note_for_failure, note_for_lost
from worldfs.planning.planner import Planner

from .conftest import World, ball, can, cube, scene_of

THINGS = {"apple_01": "apple", "can_01": "can", "cube_01": "blue cube"}
HOT = "hot"
FAILURES = (
    (Cause.ERROR, "GRASP_MISSED"), (Cause.ERROR, "NAV_ABORTED"), (Cause.TIMEOUT, "EXECUTION_TIMEOUT"),
    (Cause.LOST, "LOST"), (Cause.ERROR, "CRITIC_REFUSED"), (Cause.ERROR, "PROFILE_LIMIT"),
)  # fmt: skip


class LearningWorld(World):
    """A world whose body refuses to take what is hot, and whose kernel writes lessons as the real one does."""

    lessons_file = b"# LESSONS\n"
    language_of_lessons = "en"

    def remember(self, note: Lesson) -> None:
        self.lessons_file = lessons_file.add(self.lessons_file, note, language=self.language_of_lessons)

    def lessons(self) -> list[Lesson]:
        return lessons_file.read(self.lessons_file)

    def avoid(self, order: Order) -> Lesson | None:
        return avoid(self.lessons(), order, self.now_scene, self.profile())

    def learn(self, order: Order, scene: Scene) -> None:
        found = Critic().review(order, scene, self.profile())
        self.remember(note_for(order, found, self.now(), self.language_of_lessons))

    def wait(self, job_id, stop) -> JobStatus:
        order = next(o for o in self.log if o.id == job_id)
        thing = self.now_scene.thing(str(order.params.get("object_id", "")))
        if order.op == "pick_up" and thing is not None and thing.status == HOT:
            found = Finding("CRITIC_REFUSED", "touch", "a cool thing", f"{thing.id} is {HOT}", "let it cool", order.id,
                            condition=(fact(thing.id, "status", HOT),))  # fmt: skip
            outcome = Outcome.failure(Cause.REJECTED, "CRITIC_REFUSED", str(found), findings=(found,))
            self.remember(note_for(order, outcome.findings, self.now(), self.language_of_lessons))
            return JobStatus(JobState.FAILED, 1, outcome=outcome)
        status = super().wait(job_id, stop)
        if (outcome := status.outcome) is not None and not outcome.ok:
            note = (
                note_for_lost
                if outcome.cause is Cause.LOST
                else lambda *given: note_for_failure(order, outcome, *given[1:])
            )
            self.remember(note(order, self.now(), self.language_of_lessons))
        return status

    def heat(self, id: str, status: str) -> None:
        things = tuple(replace(t, status=status) if t.id == id else t for t in self.now_scene.objects)
        self.now_scene = replace(self.now_scene, objects=things)


def fresh() -> Scene:
    return scene_of(ball("apple_01", 0.5, 0.1), cube("cube_01", 0.4, -0.1, "blue"), can("can_01", 0.6, 0.0))


@pytest.mark.parametrize("seed", range(12))
def test_a_lesson_refuses_exactly_while_its_condition_is_measured(seed: int) -> None:
    chance = Random(seed)
    written, refused, done, learned = b"# LESSONS\n", 0, 0, set()
    for _ in range(25):
        world = LearningWorld(fresh())  # a new process each time: only LESSONS.md is kept
        world.lessons_file, world.language_of_lessons = written, chance.choice(("en", "zh"))
        hot = {id for id in THINGS if chance.random() < 0.4}
        for id in THINGS:
            world.heat(id, HOT if id in hot else "on_table")
        id = chance.choice(list(THINGS))
        if failing := chance.random() < 0.4:
            cause, code = chance.choice(FAILURES)
            world.fail[("pick_up", id)] = [Outcome.failure(cause, code, f"{id}: status 6")] * 9
        report = Planner(world).run(f"put the {THINGS[id]} in the basket")
        picks = [o for o in world.log if o.op == "pick_up" and o.params["object_id"] == id]
        if id in hot:
            refused += 1
            assert not report.ok and f"{id} is {HOT}" in report.reason, report.reason
            assert len(picks) == (0 if id in learned else 1), (picks, written.decode())
            learned.add(id)
        else:
            assert picks, "an order that nothing refuses any more is tried"
            assert report.ok is not failing, report.reason
            done += report.ok
        written = world.lessons_file
    assert refused > 3 and done > 3


def test_what_failed_is_tried_again_at_the_next_instruction() -> None:
    world = LearningWorld(fresh())
    world.fail[("pick_up", "apple_01")] = [Outcome.failure(Cause.ERROR, "NAV_ABORTED", "status 6")] * 2
    assert not Planner(world).run("put the apple in the basket").ok
    assert len(world.lessons()) == 1 and world.lessons()[0].count == 2
    assert Planner(world).run("put the apple in the basket").ok
