"""What was refused once is not tried again, and no longer forbidden when it is no longer true."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

pytest.importorskip("mujoco")

SAY = {"en": "pick up the apple", "zh": "拿起苹果"}


@pytest.mark.parametrize("language", SAY)
def test_a_second_do_says_why_not_names_the_lesson_and_submits_nothing(found: Callable, language: str) -> None:
    place = found(f"page_{language}")
    place.up()
    title = place.lessons()[0].splitlines()[0].split(" — ")[1]
    done, lessons, sheet = place.ended(), place.text("LESSONS.md"), place.text("ACTION.md")
    for _ in range(2):
        said = place.do(SAY[language])
        assert said.code == 1
        assert title in said.out
        assert re.search(r"1\.3\d* m", said.out)
        assert (place.ended(), place.text("LESSONS.md"), place.text("ACTION.md")) == (done, lessons, sheet)
    task = place.text("TASK.md")
    assert title in task
    assert "⏭ skipped" in task
    assert ("# 任务" if language == "zh" else "# Task") in task


@pytest.mark.parametrize("language", SAY)
def test_a_lesson_forbids_no_more_when_the_apple_lies_within_reach(found: Callable, language: str) -> None:
    place = found(f"page_{language}")
    place.up()
    before = place.lessons()
    near = re.sub(
        r'("id": "apple_01".*?"position": )\[[^\]]*\]', r"\g<1>[0.95, 0.2, 0.3]", place.text("ENVIRONMENT.md")
    )
    place.put("ENVIRONMENT.md", near)
    said = place.do(SAY[language])
    assert said.code == 0, said
    assert place.value("ENVIRONMENT.md")["robots"][0]["holding"] == "apple_01"
    assert place.lessons() == before  # history is not rewritten
    assert "✅ done" in place.text("TASK.md")


def test_the_first_do_for_what_is_out_of_reach_learns_and_the_second_heeds(found: Callable) -> None:
    place = found("page_en")
    place.queue()
    place.put("LESSONS.md", "# LESSONS\n")
    first = place.do("pick up the apple")
    assert first.code == 1
    assert "out of reach" in first.out
    assert len(place.lessons()) == 1
    tried = len(place.ended())
    second = place.do("pick up the apple")
    assert second.code == 1
    assert "lesson" in second.out
    assert len(place.ended()) == tried <= 1
    assert len(place.lessons()) == 1
