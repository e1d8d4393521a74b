"""What a skill moved beside the thing that it is about is named in its end, whichever step moved it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from worldfs.base.driver import Run
from worldfs.base.model import Scene, Thing
from worldfs.skills.builtin_runtime import BuiltinSkillRuntime
from worldfs.skills.skill_runtime import SkillContext

from .. import lies
from . import test_vla


@pytest.mark.parametrize("end", [{"goal": 0.3}, {"ends": 3}])
def test_the_end_of_a_policy_names_what_it_moved_beside_its_thing(end):
    session = test_vla.Scene(**end)
    line = session.target

    def seen():
        at = (line.x, 0.0, 0.0)
        return Scene((), tuple(Thing(id, shape="box", size=(0.05,) * 3, position=at) for id in ("cup", "bowl")))

    line.scene = seen
    done = session.perform(params={"object_id": "cup"})
    assert done.ok is ("goal" in end)
    assert "also moved: bowl by 300 mm" in done.message and "cup" not in done.message
    assert [one["id"] for one in done.evidence["also_moved"]] == ["bowl"]


def test_a_skill_of_several_steps_names_what_its_first_step_moved(stand):
    built, first = stand(), [True]
    built.runtime = BuiltinSkillRuntime()

    def knock(rig):
        if first and rig.held() == "cube_01":
            first.clear()
            lies.put(rig, "can_01", rig.position("can_01") + np.array([0.0, 0.03, 0.0]))

    built.at(knock)
    request = built.request("rekep_place", object_id="cube_01", target_id="basket_01")
    request = replace(request, skill=replace(request.skill, runtime="BuiltinSkillRuntime"))
    run = Run(built.clock, built.clock.monotonic() + 100)
    done = built.runtime.perform(request, SkillContext(built.target, None, run))
    assert done.code == "MOVED_OTHERS" and not first, done  # and the next step is not begun
    assert done.message.count("also moved: can_01 by 30 mm") == 1
    assert [line["id"] for line in done.evidence["also_moved"]] == ["can_01"]
