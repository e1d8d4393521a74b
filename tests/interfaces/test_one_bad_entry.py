"""One bad entry never ends a walk: it is passed over and named, and everything else is shown.

Each kind of thing in place of some files; `make proof` takes every file.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from worldfs.testing.odd_files import EVERY, OddFile

from .odd_home import faults, files_of, make_home

STEP = 20  # of the files, every so many: others for each kind


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("used") / "home"
    make_home(home)
    return home


@pytest.mark.slice(3)
@pytest.mark.parametrize("odd", EVERY)
def test_it_is_passed_over_and_named(odd: OddFile, used: Path, tmp_path: Path) -> None:
    files = files_of(used)
    some = [file for file in files if file.endswith(("rio/memory.md", "workspace/ACTION.md"))]
    some += [file for file in files if "workspace/.paos/done/" in file]
    some += [file for file in files[EVERY.index(odd) % STEP :: STEP] if file not in some]
    assert len(some) >= 5
    assert faults(used, tmp_path / "home", some, odd) == []
