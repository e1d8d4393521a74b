"""Drivers are found by name, and load nothing before they are made."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import worldfs
from worldfs.base.errors import BadInput
from worldfs.robots.driver_registry import DriverSettings, driver_names, make_driver

ENV = {**os.environ, "PYTHONPATH": str(Path(worldfs.__file__).parent.parent)}


def test_both_names_make_the_body():
    for name in ("simulation", "rekep_sim", " Simulation "):
        assert make_driver(name, DriverSettings("franka_001", cameras=False)).ops >= {"pick_up", "place"}
    assert driver_names() == ("simulation", "rekep_sim")


def test_an_unknown_name_is_told_the_known_ones():
    with pytest.raises(BadInput) as caught:
        make_driver("rekep_real", DriverSettings("franka_001"))
    assert "simulation" in caught.value.expected
    assert "rekep_real" in caught.value.found


def test_importing_it_loads_no_engine():
    code = "import sys, worldfs.robots.driver_registry; sys.exit(any(m in sys.modules for m in ('mujoco', 'numpy')))"
    assert subprocess.run([sys.executable, "-c", code], env=ENV, check=False).returncode == 0


def test_without_the_engine_it_names_the_command():
    code = (
        "import sys; sys.modules['mujoco'] = None\n"
        "from worldfs.robots.driver_registry import make_driver, DriverSettings\n"
        "from worldfs.base.errors import MissingRequirement\n"
        "try: make_driver('simulation', DriverSettings('r'))\n"
        "except MissingRequirement as e: print(e.fix)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=ENV, check=True)
    assert done.stdout.strip() == "pip install 'worldfs[sim]'"
