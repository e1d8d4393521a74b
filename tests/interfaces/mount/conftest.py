"""Homes to be mounted; without FUSE these tests are skipped by name."""

from __future__ import annotations

import pytest

from worldfs.interfaces.cli.main import main

from .mounted import WITHOUT, mounting


@pytest.fixture(scope="session")
def fuse():
    if WITHOUT:
        pytest.skip(f"nothing can be mounted here: {WITHOUT}")


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory, fuse):
    place = tmp_path_factory.mktemp("mounted") / "home"
    assert main(["--home", str(place), "onboard"]) == 0
    return place


@pytest.fixture
def home(tmp_path, fuse):
    place = tmp_path / "home"
    assert main(["--home", str(place), "onboard"]) == 0
    return place


@pytest.fixture
def directory(tmp_path):
    place = tmp_path / "tree"
    place.mkdir()
    return place


@pytest.fixture
def operator(home, directory):
    """The tree of the operator, mounted."""
    with mounting(directory, home=home) as tree:
        yield tree
