"""`make demo ARGS=--fleet`: one instruction, two arms and a carrier, two tables, one basket."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

pytest.importorskip("mujoco", reason="the simulation extra is not installed: pip install 'worldfs[sim]'")

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("cubes", [1, pytest.param(3, marks=pytest.mark.proof)])
def test_every_cube_of_two_tables_ends_in_one_basket_and_no_bodies_touched(tmp_path, capfd, cubes):
    """One cube needs them all: an arm takes it from the left table, the carrier brings it, the other arm puts it in."""
    spec = importlib.util.spec_from_file_location("demo_fleet", ROOT / "scripts" / "demo_fleet.py")
    assert spec is not None and spec.loader is not None
    demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    demo.PAGE["objects"] = demo.PAGE["objects"][:cubes]
    assert demo.main(tmp_path) == 0
    said = capfd.readouterr().out
    assert "Done: every goal holds in the world." in said
    scene = demo.scene(tmp_path / "1")
    assert {(r.subject, r.object) for r in scene.relations if r.relation == "in"} == {
        (f"cube_0{k + 1}", "basket_01") for k in range(cubes)
    }
    page = (tmp_path / "1" / "shared_workspace" / "ORCHESTRATOR.md").read_text()
    assert re.search(r"clear both tables into the basket (\d)/\1: succeeded", page)
