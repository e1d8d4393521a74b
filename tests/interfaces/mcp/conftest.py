"""A home with one arm whose driver does nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from worldfs.base.model import Order
from worldfs.interfaces.cli.kernel_thread import KernelThread
from worldfs.interfaces.cli.main import main
from worldfs.testing.null_driver import NullDriver
from worldfs.world.home import Home
from worldfs.world.world import World

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "tests/fixtures/workspaces/page_en"


@pytest.fixture
def home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    place = tmp_path / "home"
    assert main(["--home", str(place), "onboard"]) == 0
    for file in ("ENVIRONMENT.md", "EMBODIED.md", "LESSONS.md"):
        shutil.copy(PAGE / file, place / "workspace" / file)
    capsys.readouterr()
    return place


@pytest.fixture
def executed(home: Path) -> Iterator[list[Order]]:
    """The orders that the arm was given, by a kernel that runs in this process."""
    orders: list[Order] = []
    drivers = {"simulation": lambda seat: NullDriver(executed=orders)}
    place = Home(home)
    with (
        World.open(
            place.workspace, config=place.config({}), agents=home / "agents", serve=True, drivers=drivers
        ) as world,
        KernelThread(world),
    ):
        yield orders
