"""Drivers are found by name, and load nothing before they are made."""

import os
import subprocess
import sys
from pathlib import Path

import worldfs
from worldfs.base.clock import SystemClock
from worldfs.base.driver import PluginContext
from worldfs.robots.driver_registry import BODIES, BodyCatalogue

ENV = {**os.environ, "PYTHONPATH": str(Path(worldfs.__file__).parent.parent)}


def test_each_name_makes_its_body():
    for name in ("simulation", "rekep_sim"):
        made = BodyCatalogue(cameras=False)[name](PluginContext(SystemClock(), robot_id="franka_001"))
        assert {op.name for op in made.operations} >= {"pick_up", "place"}
    made = BodyCatalogue(cameras=False)["go2_edu"](PluginContext(SystemClock(), robot_id="go2_edu_001"))
    assert [op.name for op in made.operations] == ["target_navigation", "move_to", "stop"]
    made = BodyCatalogue(cameras=False)["wheeled_carrier"](PluginContext(SystemClock(), robot_id="cart_1"))
    assert [op.name for op in made.operations] == ["move_to", "target_navigation"]
    assert list(BODIES.built_in) == ["simulation", "rekep_sim", "wheeled_carrier", "go2_edu"]


def test_importing_it_loads_no_engine():
    code = "import sys, worldfs.robots.driver_registry; sys.exit(any(m in sys.modules for m in ('mujoco', 'numpy')))"
    assert subprocess.run([sys.executable, "-c", code], env=ENV, check=False).returncode == 0


def test_without_the_engine_it_names_the_command():
    code = (
        "import sys; sys.modules['mujoco'] = None\n"
        "from worldfs.base.clock import SystemClock\n"
        "from worldfs.base.driver import PluginContext\n"
        "from worldfs.robots.driver_registry import BODIES\n"
        "from worldfs.base.errors import MissingRequirement\n"
        "for name in ('simulation', 'go2_edu'):\n"
        "    try: BODIES[name](PluginContext(SystemClock(), robot_id='r'))\n"
        "    except MissingRequirement as e: print(e.fix)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=ENV, check=True)
    assert done.stdout.split("\n") == [*["pip install 'worldfs[sim]'"] * 2, ""]
