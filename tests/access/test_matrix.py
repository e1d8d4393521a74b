"""The permission matrix, computed from the layout table, is the specification's (000, "Who Reads, Who Writes")."""

import itertools

import pytest

from worldfs.access.judge import judge, require
from worldfs.access.roles import MATRIX_ROLES, OPERATOR
from worldfs.access.verb import Verb
from worldfs.base.errors import NotFound, NotPermitted
from worldfs.world.layout import ROWS
from worldfs.world.protocol_pages import matrix

PRINTED = """
ENVIRONMENT.md  | R | R | W              | R | R
EMBODIED.md     | R | R | W (at startup) | — | —
ACTION.md       | W | R | R + W          | — | —
SESSIONS.md     | W | — | —              | W | R + W
TARGETS.md      | R | — | —              | R | R
SKILLS.md       | R | — | —              | R | R
TASK.md         | W | R | —              | R | —
ORCHESTRATOR.md | — | — | —              | W | —
LESSONS.md      | R | W | —              | R | —
ROBOTS.md       | R | — | R              | R | —
"""

# Somebody must read what the orchestrator writes: the one cell that we change (workspace_protocol D2).
CHANGED = {("ORCHESTRATOR.md", "planner"): "R"}


def printed():
    for line in PRINTED.strip().splitlines():
        name, *cells = (cell.strip() for cell in line.split("|"))
        yield name, dict(zip(MATRIX_ROLES, cells, strict=True))


def test_the_computed_matrix_is_the_specifications_but_for_one_named_cell():
    wanted = dict(printed())
    for (name, role), cell in CHANGED.items():
        wanted[name][role] = cell
    assert matrix() == wanted


CELLS = [(row, role) for row in ROWS if row.in_matrix for role in MATRIX_ROLES]


@pytest.mark.parametrize(("row", "role"), CELLS, ids=[f"{row.name}-{role}" for row, role in CELLS])
def test_every_cell_is_enforced(row, role):
    cell = matrix()[row.name][role]
    assert bool(judge(role, Verb.READ, row)) == (cell != "—")  # a writer may read back what it writes
    assert bool(judge(role, Verb.WRITE, row)) == (cell in ("W", "R + W"))
    assert bool(judge(role, Verb.WRITE_AT_STARTUP, row)) == cell.startswith(("W", "R + W"))


def test_what_a_role_may_not_see_does_not_exist_for_it():
    row = next(row for row in ROWS if row.name == "TARGETS.md")
    with pytest.raises(NotFound):
        require("critic", Verb.READ, row, "/projects/main/TARGETS.md")
    with pytest.raises(NotFound):
        require("critic", Verb.WRITE, row, "/projects/main/TARGETS.md")
    with pytest.raises(NotPermitted) as refusal:
        require("planner", Verb.WRITE, row, "/projects/main/TARGETS.md")
    assert "operator" in str(refusal.value)


def test_an_unknown_role_may_nothing():
    for row, verb in itertools.product(ROWS, Verb):
        assert not judge("stranger", verb, row)


def test_the_operator_sees_everything_that_is_kept():
    assert all(judge(OPERATOR, Verb.READ, row) for row in ROWS)


def test_no_view_is_written_by_anybody():
    for row in ROWS:
        if row.kind == "view":
            assert not row.writers
