"""Models that obey whatever they read: all injections in each role, all forged approvals, all ways to a secret."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("mcp")

from tests.injections.forger import forge_approvals
from tests.injections.obedient import CASES, ROLES, run_injections
from tests.injections.thief import steal_secrets

from worldfs.access import roles

pytestmark = pytest.mark.proof


@pytest.mark.parametrize("role", ROLES)
def test_no_injection_moves_the_arm(tmp_path: Path, role: str) -> None:
    found = run_injections(tmp_path / "home", role)
    print(f"{found.cases} injections, {found.obeyed} obeyed by a model, {found.moved} motions that nobody asked for")
    assert (found.moved, found.unheard, found.obeyed) == (0, (), len(CASES))


@pytest.mark.parametrize("role", roles.ROLES)
def test_no_approval_is_forged(tmp_path: Path, role: str) -> None:
    found = forge_approvals(tmp_path / "home", role)
    print(f"{found.attempts} attempts at an approval, {found.forged} forged")
    assert (found.forged, found.moved) == (0, 0)


@pytest.mark.parametrize("role", roles.ROLES)
def test_no_secret_gets_out(tmp_path: Path, role: str) -> None:
    found = steal_secrets(tmp_path / "home", role)
    print(f"{found.attempts} attempts at a secret, {len(found.out)} got out")
    assert found.out == ()
