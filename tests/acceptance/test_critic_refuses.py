"""Five orders that no such arm can carry out, through ACTION.md of a running world: refused, each with one lesson."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("mujoco")

BENCH = """# Environment

```json
{
  "schema_version": "v2.0",
  "scene_graph": {"nodes": [{"id": "table_01", "type": "furniture", "position": [0.5, 0.0, 0.0]}], "edges": []},
  "robots": [{"robot_id": "franka_001", "pose": [0.0, 0.0, 0.0], "gripper": "open", "holding": null}],
  "objects": [
    {"id": "apple_01", "name": "Red Apple", "category": "fruit", "position": [1.2, 0.3, 0.033]},
    {"id": "box_01", "name": "Crate", "category": "box", "position": [0.5, 0.2, 0.05], "shape": "box",
     "size": [0.1, 0.1, 0.1], "mass": 0.4},
    {"id": "anvil_01", "name": "Anvil", "category": "tool", "position": [0.5, -0.2, 0.025], "shape": "box",
     "size": [0.05, 0.05, 0.05], "mass": 5.0},
    {"id": "cube_01", "name": "Cube", "category": "cube", "position": [0.4, 0.0, 0.025], "shape": "box",
     "size": [0.05, 0.05, 0.05], "mass": 0.1}
  ]
}
```
"""

# what is asked, what the refusal says, what the lesson's title says
ORDERS: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "far": ("pick_up", {"object_id": "apple_01"}, r"1\.2\d\d m .* 0\.855 m", "Out of Reach"),
    "wide": ("pick_up", {"object_id": "box_01"}, r"0\.1\d* m wide", "Too Wide"),
    "heavy": ("pick_up", {"object_id": "anvil_01"}, r"5 kg.* 3 kg", "Too Heavy"),
    "unknown": ("pick_up", {"object_id": "unicorn_01"}, r"unicorn_01.*cube_01", "Unknown Object"),
    "nan": ("move_to", {"target_pose": [float("nan"), 0.0, 0.5, 0, 0, 0]}, "NaN.*finite|finite.*NaN", "Invalid"),
}


@pytest.fixture(scope="module")
def bench(onboarded: Callable):
    """A kernel that runs for all these tests, with a body that counts how often it is started."""
    from worldfs.interfaces.cli.kernel_thread import KernelThread
    from worldfs.robots.driver_registry import BodyCatalogue
    from worldfs.world.home import Home
    from worldfs.world.world import World

    place = onboarded()
    place.put("ENVIRONMENT.md", BENCH)
    place.started = []
    make = BodyCatalogue(cameras=False)["simulation"]

    def counting(seat):
        body = make(seat)
        execute = body.execute
        body.execute = lambda order, run: (place.started.append(order.id), execute(order, run))[1]
        return body

    config = Home(place.root.parent).config({})
    with (
        World.open(place.root, config=config, serve=True, drivers={"simulation": counting}) as world,
        KernelThread(world),
    ):
        yield place


def entry(id: str, kind: str) -> dict[str, Any]:
    op, params, *_ = ORDERS[kind]
    return {"action_id": id, "action_type": op, "params": params, "status": "pending", "robot_id": "franka_001"}


def ask(place, *entries: dict[str, Any]) -> list[Any]:
    """Append to the sheet as a program does that has read it; the entries as they ended."""
    sheet = place.value("ACTION.md")
    sheet["queue"] += entries
    place.put("ACTION.md", json.dumps(sheet))
    return place.answers(*(one["action_id"] for one in entries))


@pytest.mark.parametrize("kind", ORDERS)
def test_it_is_refused_with_its_reason_and_one_lesson(bench, kind: str) -> None:
    _, _, reason, title = ORDERS[kind]
    before = bench.lessons()
    [answer] = ask(bench, entry(f"{kind}_1", kind))
    assert answer["status"] == "failed"
    assert answer["error"]["cause"] == "rejected"
    assert re.search(reason, answer["error"]["message"]), answer["error"]["message"]
    new = [lesson for lesson in bench.lessons() if lesson not in before]
    assert len(new) == 1 == len(bench.lessons()) - len(before)
    assert title in new[0].splitlines()[0]
    for label in ("Action", "Reason", "Critic Rejection", "Fix"):
        assert re.search(rf"^- \*\*{label}\*\*: \S", new[0], re.MULTILINE), label
    assert bench.started == []


@pytest.mark.parametrize("kind", ORDERS)
def test_the_same_again_is_counted_and_not_piled_up(bench, kind: str) -> None:
    number = len(bench.lessons())
    ask(bench, entry(f"{kind}_2", kind))
    ask(bench, entry(f"{kind}_3", kind))
    assert len(bench.lessons()) == number
    [lesson] = [text for text in bench.lessons() if ORDERS[kind][3] in text.splitlines()[0]]
    assert "- **Count**: 3" in lesson
    assert bench.started == []


def test_what_can_be_done_is_done_beside_all_that(bench) -> None:
    cube = {"action_type": "pick_up", "params": {"object_id": "cube_01"}, "status": "pending"}
    ended = ask(bench, entry("far_9", "far"), {"action_id": "cube_1", **cube}, entry("nan_9", "nan"))
    assert [one["status"] for one in ended] == ["failed", "completed", "failed"]
    assert bench.started == ["cube_1"]


def test_every_lesson_is_found_by_its_own_word(bench) -> None:
    words = {"reach": "Reach", "wide": "Wide", "heavy": "Heavy", "unicorn": "Unknown", "finite": "Invalid"}
    for word, title in words.items():
        found = bench.paos("--json", "lessons", word).values[0]["lessons"]
        assert found, word
        assert title in found[0]["title"]
