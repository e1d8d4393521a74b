"""What the quadruped's head sees, and films of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from worldfs.base.errors import MissingRequirement
from worldfs.base.model import Scene, Thing
from worldfs.robots.mujoco.gl import gl_status


@pytest.fixture(autouse=True)
def gl() -> None:
    """Asked where a test begins: to ask starts a program that draws, and every worker reads this file."""
    if not gl_status().backend:
        pytest.skip(f"no GL on this machine: {gl_status().why}")


RED = Thing("box_01", "red box", "box", (2.2, 0.0, 0.25), size=(0.5, 0.5, 0.5), shape="box", color="red")


def reds(path: Path) -> int:
    with Image.open(path) as picture:
        assert picture.size == (640, 480)
        return sum(r > 90 and g < 60 and b < 60 for r, g, b in picture.convert("RGB").get_flattened_data())


def test_it_sees_what_it_was_sent_to_and_not_what_is_behind_it(dog: Callable[..., Any], tmp_path: Path) -> None:
    one = dog(Scene(furniture=(RED,)))
    run = one.run()
    run.artifacts = tmp_path
    assert one.go("box_01", run).ok
    before, above = reds(tmp_path / "head.png"), reds(tmp_path / "front.png")
    assert before > 20_000 and above > 100
    assert one.do("move_to", run, target_pose=[0.5, 0.0, 0.0, 0.0, 0.0, 3.0]).ok
    assert reds(tmp_path / "head.png") == 0


@pytest.mark.proof
def test_a_walk_is_filmed(dog: Callable[..., Any], tmp_path: Path) -> None:
    one = dog(Scene(furniture=(RED,)))
    one.body.record(tmp_path / "walk.gif", 10)
    done = one.go("box_01")
    assert done.ok and one.body.stop_recording() == int(done.evidence["sim_seconds"] * 10)
    with Image.open(tmp_path / "walk.gif") as film:
        assert getattr(film, "n_frames", 1) > 10


def test_without_cameras_it_walks_and_takes_no_film(dog: Callable[..., Any], tmp_path: Path) -> None:
    one = dog(Scene(furniture=(RED,)), cameras=False)
    with pytest.raises(MissingRequirement):
        one.body.record(tmp_path / "walk.gif", 10)
    run = one.run()
    run.artifacts = tmp_path
    assert one.go("box_01", run).ok and not [*tmp_path.iterdir()]
