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


def test_both_names_make_the_body():
    for name in ("simulation", "rekep_sim"):
        made = BodyCatalogue(cameras=False)[name](PluginContext(SystemClock(), robot_id="franka_001"))
        assert {op.name for op in made.operations} >= {"pick_up", "place"}
    assert list(BODIES.built_in) == ["simulation", "rekep_sim"]


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
        "try: BODIES['simulation'](PluginContext(SystemClock(), robot_id='r'))\n"
        "except MissingRequirement as e: print(e.fix)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=ENV, check=True)
    assert done.stdout.strip() == "pip install 'worldfs[sim]'"
