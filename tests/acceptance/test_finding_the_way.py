"""What a new user types by trial: every answer names the next step, and every hint can be typed as it stands."""

from __future__ import annotations

import shlex
from collections.abc import Callable

import pytest

pytest.importorskip("mujoco")


@pytest.fixture(scope="module")
def home(onboarded: Callable):
    place = onboarded()
    assert place.do("put the apple in the basket", "--seed", "7").code == 0
    return place


def test_a_listing_can_be_followed_to_every_file(home) -> None:
    listed = home.paos("ls").out.split()
    assert "SESSIONS.md" not in listed  # what cannot be read is not listed
    for name in listed:
        said = home.paos("ls" if name.endswith("/") else "cat", name)
        assert said.code == 0, (name, said)
    job = home.paos("ls", "jobs").out.split()[0]
    files = home.paos("ls", "jobs/" + job).out.split()
    assert files == ["cancel", "job.json", "result.txt", "status.json"]
    assert "apple_01" in home.paos("cat", f"jobs/{job}result.txt").out
    assert home.paos("ls", "TASK.md").out == "TASK.md\n"


def test_a_place_that_there_is_not_is_said(home) -> None:
    for words in (["ls", "nowhere"], ["ls", "/projects/other"], ["cat", "nonsense.md"], ["ls", "../.."]):
        said = home.paos(*words)
        assert (said.code, said.out) == (2, ""), words


def test_a_hint_names_the_home_that_was_meant(home) -> None:
    said = home.paos("status").out
    hint = said.split("start it with: ")[1].split(")")[0]
    assert shlex.split(hint) == ["paos", "--home", str(home.root.parent), "up"]


def test_a_job_that_has_ended_is_not_cancelled(home) -> None:
    job = next(iter(home.ended()))
    said = home.paos("cancel", job)
    assert said.code == 1
    assert "has already ended (succeeded)" in said.out
    assert home.paos("cancel", "no_such_job").code == 2


def test_up_names_the_body_that_really_moves(found: Callable) -> None:
    assert "simulation, in place of rekep_real" in found("page_en").up().out


def test_up_tells_what_moved_and_what_was_refused_once_each(found: Callable) -> None:
    lines = [line for line in found("page_en").up().out.splitlines() if "act_002" in line]
    assert len(lines) == 1  # a refused action never ran
    assert "failed (rejected)" in lines[0]


def test_the_version_is_told_in_either_way(home) -> None:
    assert home.paos("--version").out.split()[:2] == home.paos("version").out.split()[:2]
