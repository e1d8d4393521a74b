"""Every file of a used home, each replaced by each kind of thing that is no file of ours: every command goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.interfaces.odd_home import COMMANDS, faults, files_of, make_home

from worldfs.testing.odd_files import EVERY

pytestmark = pytest.mark.proof


def test_no_bad_entry_ends_a_walk(tmp_path: Path, record_property: pytest.RecordProperty) -> None:
    make_home(tmp_path / "used")
    files = files_of(tmp_path / "used")
    found = []
    for odd in EVERY:
        found += faults(tmp_path / "used", tmp_path / odd.__name__, files, odd)
    record_property("odd_entries", f"{len(files)} files × {len(EVERY)} kinds × {len(COMMANDS)} commands")
    assert found == []
