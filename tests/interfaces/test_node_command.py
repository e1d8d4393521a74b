"""What a machine shows of itself: for reading, unless it says otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldfs.base.errors import BadInput
from worldfs.interfaces.cli.node_command import parse_export


@pytest.mark.parametrize(("ending", "ro"), [("", True), (":ro", True), (":rw", False)])
def test_an_export_is_for_reading_unless_it_says_rw(tmp_path: Path, ending: str, ro: bool) -> None:
    found = parse_export(f"files={tmp_path}{ending}")
    assert (found.name, found.path, found.ro) == ("files", str(tmp_path), ro)


@pytest.mark.parametrize("text", ["files", "=.", "a/b=.", "files=", "files=./nowhere", "files=.:wr"])
def test_what_is_no_export_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse_export(text)
