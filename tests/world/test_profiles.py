"""Profiles by name: a name that can be no file's is a profile that is not there."""

import pytest

from worldfs.world.profiles import profile_text


@pytest.mark.parametrize("name", ["", "..", "a/b", "a\\b", "a\0b", "x" * 300, "机" * 90, "\ud800"])
def test_a_name_that_can_be_no_files_is_no_profile(tmp_path, name):
    assert profile_text(name, "zh", tmp_path) is None


def test_the_operators_own_comes_first(tmp_path):
    (tmp_path / "franka_panda.md").write_text("# mine")
    assert profile_text("franka_panda", "en", tmp_path) == b"# mine"
    assert profile_text("franka_panda", "en") != b"# mine"
