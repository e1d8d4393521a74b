"""A copy of a whole store names what it could not take."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

from worldfs.storage.disk_store import DiskStore
from worldfs.world.store_transfer import copy_store


def test_links_and_what_is_no_file_are_named_and_the_rest_is_copied(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name / "skills").mkdir(parents=True)
    (tmp_path / "one/TASK.md").write_text("# Task\n")
    (tmp_path / "one/skills/own.md").symlink_to("/etc/passwd")
    (tmp_path / "one/skills/gone.md").symlink_to("nowhere")
    os.mkfifo(tmp_path / "one/skills/pipe.md")
    with closing(DiskStore(tmp_path / "one")) as source, closing(DiskStore(tmp_path / "other")) as target:
        report = copy_store(source, target)
    assert report.copied == 1 and not report.equal
    assert sorted(report.odd) == ["skills/gone.md", "skills/own.md", "skills/pipe.md"]
    assert os.listdir(tmp_path / "other/skills") == []
