"""/nodes/<node>/readings/<instruction>: what the robot would do, before anybody orders it."""

from __future__ import annotations

import json

import pytest

from worldfs.access.roles import AGENT, OPERATOR
from worldfs.base.errors import NotFound, WorldError
from worldfs.formats import config
from worldfs.interfaces.cli.main import main
from worldfs.world.home import Home
from worldfs.world.world import World

THINGS = """# ENVIRONMENT

```json
{"schema_version": "v2.0", "scene_graph": {"nodes": [
  {"id": "table_01", "type": "furniture", "position": [0.45, 0.0, 0.0], "name": "table", "size": [0.9, 1.2, 0.75]},
  {"id": "basket_01", "type": "container", "position": [0.4, -0.4, 0.045], "name": "basket", "size": [0.3, 0.4, 0.09]},
  {"id": "apple_01", "type": "object", "position": [0.5, 0.1, 0.03], "name": "red apple", "size": [0.06, 0.06, 0.06]}],
 "edges": [{"from": "basket_01", "to": "table_01", "relation": "on"},
           {"from": "apple_01", "to": "table_01", "relation": "on"}]},
 "robots": [{"robot_id": "franka_001", "pose": [0.0, 0.0, 0.0]}], "perception": {}}
```
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    home = tmp_path_factory.mktemp("readings")
    assert main(["--home", str(home), "onboard"]) == 0
    Home(home).workspace.joinpath("ENVIRONMENT.md").write_text(THINGS)
    with World.open(Home(home).workspace) as world:
        yield world


def reading(world, instruction, node="franka_001", role=OPERATOR):
    return json.loads(world.namespace(role).read(f"/nodes/{node}/readings/{instruction}").data)


def test_a_command_is_read_back_as_goals_and_steps_and_nothing_is_ordered(world):
    said = reading(world, "put the apple into the basket")
    assert (said["kind"], said["understood"]) == ("command", True)
    assert [goal["held"] for goal in said["goals"]] == [False]
    assert [step.split()[0] for step in said["steps"]] == ["Grasp", "Place"]
    assert not world.jobs.open_ids()


def test_the_reading_is_in_the_language_of_the_instruction(world):
    said = reading(world, "把苹果放进篮子里")
    assert said["language"] == "zh" and said["steps"][0].startswith("抓取")


@pytest.mark.parametrize("text", ["stop", "franka_001 stop", "停下小车"])
def test_a_stop_is_read_as_one(world, text):
    said = reading(world, text)
    assert (said["kind"], said["understood"]) == ("stop", True) and "reason" not in said


def test_a_question_is_answered(world):
    said = reading(world, "what is on the table?")
    assert (said["kind"], said["understood"]) == ("question", True) and "apple" in said["answer"]


def test_what_is_not_understood_says_why_and_what_could_be_asked(world):
    said = reading(world, "grab the unicorn")
    assert not said["understood"] and "unicorn" in said["reason"] and said["can"]
    assert reading(world, said["can"][0])["understood"]


def test_who_may_not_read_the_scene_gets_no_reading(world):
    with pytest.raises(WorldError):
        reading(world, "clear the table", role=AGENT)


def test_a_node_that_is_not_there_reads_nothing(world):
    with pytest.raises(NotFound):
        reading(world, "clear the table", node="nobody")


DRAWER = '{"id": "drawer_01", "type": "furniture", "shape": "drawer", "position": [0.5, 0.3, 0.06], "name": "drawer"},'


@pytest.mark.parametrize(
    ("driver", "said", "told"),
    [
        ("simulation", "", "no, the drawer is closed"),
        ("simulation", '"opening": 0.1,', "the scene does not tell"),
        ("simulation", '"status": "open",', "yes, the drawer is open"),
        ("lab_arm", "", "the scene does not tell"),
        ("lab_arm", '"status": "closed",', "no, the drawer is closed"),
    ],
)
def test_a_drawer_without_a_word_is_shut_where_a_simulation_builds_it_and_not_told_elsewhere(
    tmp_path, driver, said, told
):
    page = THINGS.replace('  {"id": "apple_01"', f"  {DRAWER[:-2]}, {said}".rstrip(", ") + '},\n  {"id": "apple_01"')
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "ENVIRONMENT.md").write_text(page)
    robots = [{"robotId": "franka_001", "driver": driver, "profileName": "franka_panda"}]
    settings = config.read(json.dumps({"embodiments": {"instances": robots}}).encode())
    with World.open(tmp_path / "workspace", config=settings) as world:
        found = reading(world, "is the drawer open?")
    assert found["answer"].startswith(told), found
