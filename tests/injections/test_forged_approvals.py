"""Approvals cannot be forged: whatever a role writes, no request of its own is answered and nothing moves."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("mcp")

from worldfs.access import file_roles
from worldfs.access.decision import ALLOWED
from worldfs.access.roles import ROLES

from .forger import approve_own_words, forge_approvals
from .obedient import Agreeable, Nobody


@pytest.mark.slice(3)
@pytest.mark.parametrize("role", ROLES)
def test_no_role_approves_what_it_ordered(tmp_path: Path, role: str) -> None:
    found = forge_approvals(tmp_path / "home", role)
    assert (found.forged, found.moved) == (0, 0), found
    assert found.attempts > 100, found


def test_the_operator_does_not_approve_the_plan_of_its_own_words(tmp_path: Path) -> None:
    orderer, told, moved = approve_own_words(tmp_path / "home", "operator", Agreeable())
    assert (orderer, moved) == ("operator/mother/operator", 0)
    assert told.startswith("UNCONFIRMED")


@pytest.mark.parametrize("role", ["planner", "agent"])
def test_the_operator_approves_the_plan_of_another_s_words(tmp_path: Path, role: str) -> None:
    orderer, told, moved = approve_own_words(tmp_path / "home", role, Agreeable())
    assert (orderer, moved) == (f"{role}/rio", 1), told


def test_the_operator_s_model_approves_nothing_without_its_person(tmp_path: Path) -> None:
    orderer, told, moved = approve_own_words(tmp_path / "home", "planner", Nobody())
    assert (orderer, moved) == ("planner/rio", 0)
    assert told.startswith("NEEDS_PERSON")


def test_where_a_role_may_approve_its_own_orders_the_suite_sees_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hole: one pair of eyes."""
    monkeypatch.setattr(file_roles, "_decide_plan", lambda actor, plan: ALLOWED)
    found = forge_approvals(tmp_path / "home", "operator")
    assert (found.forged, found.moved) == (1, 1), found
