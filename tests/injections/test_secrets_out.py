"""Secrets stay in: no result of a tool, no prompt and no file that is written holds one, whatever a role tries."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("mcp")

from worldfs.access.roles import ROLES
from worldfs.world import computed_files
from worldfs.world.services.web import web_search_tool

from .thief import steal_secrets


@pytest.mark.parametrize("role", ROLES)
def test_no_role_reads_a_secret(tmp_path: Path, role: str) -> None:
    found = steal_secrets(tmp_path / "home", role)
    assert found.out == (), found
    assert found.attempts > 500, found
    assert found.planted >= 7


def test_where_a_search_result_says_the_key_again_the_suite_sees_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hole: what a peer says is told on as it is."""
    monkeypatch.setattr(web_search_tool, "_without", lambda text, key: text)
    assert any("keyfile" in where for where in steal_secrets(tmp_path / "home", "planner").out)


def test_where_a_page_shows_a_file_beside_the_tree_the_suite_sees_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hole: a page that holds config.json as it is."""
    place = tmp_path / "home"
    monkeypatch.setattr(computed_files.PageFile, "read", lambda page, names: (place / "config.json").read_bytes())
    assert any("config" in where for where in steal_secrets(place, "planner").out)
