"""A home with one arm, and the POSIX view of its roles in this process and behind a socket."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest

from worldfs.base.clock import SystemClock
from worldfs.interfaces.cli.main import main
from worldfs.interfaces.posix.namespace_files import home_files
from worldfs.interfaces.posix.posix_files import PosixFiles
from worldfs.testing.waiting import PATIENCE_S


@pytest.fixture
def home(tmp_path, capsys):
    place = tmp_path / "home"
    assert main(["--home", str(place), "onboard"]) == 0
    capsys.readouterr()
    return place


@asynccontextmanager
async def opened(home, role="operator", agent="", **options):
    """The view of a role, in this process."""
    async with home_files(home, home / "agents", role, agent, SystemClock()) as tree:
        files = PosixFiles(tree, SystemClock(), **options)
        yield files


@pytest.fixture
def view(home):
    """Run a coroutine function on the view of a role: `view(role, work)`."""

    def run(work, role="operator", agent="", **options):
        async def life():
            async with opened(home, role, agent, **options) as files, asyncio.timeout(PATIENCE_S):
                return await work(files)

        return asyncio.run(life())

    return run
