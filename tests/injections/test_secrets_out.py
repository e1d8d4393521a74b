"""Secrets stay in: no result of a tool, no prompt and no file that is written holds one, whatever a role tries."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("mcp")
pytest.importorskip("pydantic_ai", reason="the extra `models`")
pytest.importorskip("mujoco", reason="the extra `sim`")

from worldfs.access.roles import ROLES
from worldfs.base.errors import BadInput
from worldfs.interfaces.cli import do_command
from worldfs.planning.planner import model_prompt
from worldfs.plugins.rekep import program_sources
from worldfs.world import computed_files
from worldfs.world.services.web import web_search_tool

from .thief import steal_secrets


@pytest.mark.slice(7)
@pytest.mark.parametrize("role", ROLES)
def test_no_role_reads_a_secret(tmp_path: Path, role: str) -> None:
    found = steal_secrets(tmp_path / "home", role)
    assert found.out == (), found
    assert found.attempts > 500, found
    assert found.planted >= 7
    asked = {"planner", "critic", "judge", "chat"} if role in ("planner", "agent") else {"planner"}
    assert {name for name, times in found.prompts.items() if times} >= asked, found


@pytest.mark.proof
def test_where_a_search_result_says_the_key_again_the_suite_sees_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hole: what a peer says is told on as it is."""
    monkeypatch.setattr(web_search_tool, "_without", lambda text, key: text)
    assert any("keyfile" in where for where in steal_secrets(tmp_path / "home", "planner").out)


@pytest.mark.proof
def test_where_a_page_shows_a_file_beside_the_tree_the_suite_sees_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hole: a page that holds config.json as it is."""
    place = tmp_path / "home"
    monkeypatch.setattr(computed_files.PageFile, "read", lambda page, names: (place / "config.json").read_bytes())
    assert any("config" in where for where in steal_secrets(place, "planner").out)


@pytest.mark.proof
def test_where_a_prompt_an_answer_or_an_entry_quotes_a_file_the_suite_sees_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The holes: a key in what a model is asked, in what `paos do` says, and in the refusal of a session's entry."""
    home = tmp_path / "home"

    def key(*given: object) -> str:
        return (home / "keys/search.key").read_text()

    def quoting(*given: object) -> Path:
        raise BadInput(key(), path="constraints")

    monkeypatch.setattr(model_prompt, "robot_json", lambda profile: {"name": key()})
    monkeypatch.setattr(do_command, "ended_early", key)
    monkeypatch.setattr(program_sources, "_folder", quoting)
    found = steal_secrets(home, "planner")
    assert found.sessions > 25
    for where in ("request ", "`paos do` ", "SESSIONS.md"):
        assert any(where in one and one.endswith(": keyfile") for one in found.out), (where, found)
