"""`make demo ARGS=--fleet`: one instruction, two arms and a carrier, two tables, one basket."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("mujoco", reason="the simulation extra is not installed: pip install 'worldfs[sim]'")

ROOT = Path(__file__).resolve().parents[2]


def test_every_cube_of_two_tables_ends_in_one_basket_and_no_bodies_touched(tmp_path, capfd):
    spec = importlib.util.spec_from_file_location("demo_fleet", ROOT / "scripts" / "demo_fleet.py")
    assert spec is not None and spec.loader is not None
    demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    assert demo.main(tmp_path) == 0
    said = capfd.readouterr().out
    assert "Done: every goal holds in the world." in said
    scene = demo.scene(tmp_path / "1")
    assert {(r.subject, r.object) for r in scene.relations if r.relation == "in"} == {
        (f"cube_0{k}", "basket_01") for k in (1, 2, 3)
    }
    page = (tmp_path / "1" / "shared_workspace" / "ORCHESTRATOR.md").read_text()
    assert "clear both tables into the basket 5/5: succeeded" in page
