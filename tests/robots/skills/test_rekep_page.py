"""What docs/rekep.md shows can be read, and its program runs."""

from __future__ import annotations

import re
from pathlib import Path

from worldfs.formats.runtime import skills

PAGE = (Path(__file__).parents[3] / "docs" / "rekep.md").read_text(encoding="utf-8")


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


def test_its_skills_can_be_read():
    (text,) = blocks("yaml")
    found = skills.read(f"```yaml\n{text}```\n".encode())
    assert not found.findings and set(found.entries) == {"rekep_place", "over_the_cube", "real_execute"}


def test_its_program_runs(stand):
    (text,) = blocks("python")
    table = stand()
    outcome = table.do("x", constraints={"program": text, "keypoints": ["apple_01.centre", "can_01.top"]})
    assert [line["result"] for line in outcome.evidence["stages"]][:2] == ["done", "done"], outcome.message
