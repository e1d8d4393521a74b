"""What a body declares is what its EMBODIED.md says, and what the critic reads there."""

from dataclasses import replace
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.base.model import Parameter, Profile
from worldfs.base.standard_operations import STANDARD, described
from worldfs.formats import embodied, embodied_write

WORD = st.from_regex(r"[a-z]{2,8}(_[a-z]{2,6})?", fullmatch=True)
PARAMETER = st.builds(
    Parameter, WORD, st.sampled_from(("", "string", "number", "[x,y,z]")), st.booleans(), st.sampled_from(("", "cm"))
)
PARAMETERS = st.lists(PARAMETER, max_size=3, unique_by=lambda item: item.name).map(tuple)
TEXT = st.sampled_from(("Grasp an object by ID and lift it", "Wave", "Turn left"))
ADDED = st.lists(st.builds(described, WORD, TEXT, PARAMETERS), max_size=3, unique_by=lambda op: op.name)
METRES = st.one_of(st.none(), st.integers(1, 5000).map(lambda mm: mm / 1000))


@given(added=ADDED, reach=METRES, payload=METRES, dof=st.one_of(st.none(), st.integers(1, 30)))
def test_what_is_written_is_read_back(added, reach, payload, dof):
    ops = (*(op for op in STANDARD.values() if op.name not in {one.name for one in added}), *added)
    profile = Profile(
        "Toy", "Toy 3", dof, "Gripper", "toy", sensors=(("RGB-D Camera (front)", True), ("Force", False)), ops=ops,
        max_reach=reach, max_payload=payload, bounds=((-1.0, 1.0), (0.0, 2.0)),
    )  # fmt: skip
    read = embodied.read(embodied_write.write(profile))
    units = tuple(replace(op, parameters=_spread(op.parameters)) for op in profile.ops)
    assert read == replace(profile, ops=units)


def _spread(parameters):
    """A unit behind the last of several bare names is the unit of all of them (embodied_ops.parse_parameters)."""
    alone = len(parameters) > 1 and parameters[-1].unit and not any(p.unit or p.type for p in parameters[:-1])
    return tuple(replace(p, unit=parameters[-1].unit) for p in parameters) if alone else parameters


@pytest.mark.parametrize("language", ["", ".zh"])
def test_the_profile_of_the_simulation_is_what_its_driver_declares(language):
    pytest.importorskip("mujoco")
    from worldfs.robots.mujoco.tabletop_driver import OPERATIONS

    page = resources.files("worldfs").joinpath("profiles", f"franka_panda{language}.md").read_bytes()
    printed, declared = embodied.read(page).ops, OPERATIONS
    if language:  # the same, in another language
        printed = tuple(replace(op, description="") for op in printed)
        declared = tuple(replace(op, description="") for op in declared)
    assert printed == declared
