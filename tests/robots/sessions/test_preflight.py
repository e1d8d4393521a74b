"""Preflight: a policy and a target that do not fit are told so before anything moves, and only those."""

import pytest

from worldfs.base.model import Order, Skill, Target
from worldfs.policies.policy_client import PolicyInfo
from worldfs.sessions.preflight import TargetCapabilities, check_contract, check_documents

SHAPES = {"joint_position": (8,), "ee_delta": (7,)}
SEEN = {"rgb.front": ((480, 640, 3), "uint8"), "joints": ((7,), "float32")}


def found(policy, *, strict=True, observations=SEEN):
    given = TargetCapabilities(frozenset(), observations, SHAPES, policy=policy)
    skill = Skill("reach", "VLAPolicyRuntime", strict=strict)
    return check_contract(Order("one", "arm", "reach", {}), skill, given, {}, lambda *words: " ".join(words))


@pytest.mark.parametrize(
    ("name", "numbers", "fits"),
    [
        ("joint_position", 8, True), ("joint_position", 7, False), ("joint_position", 9, False),
        ("ee_delta", 7, True), ("ee_delta", 8, False), ("", 7, True), ("", 8, True), ("", 6, False),
        ("joint_position", 0, True), ("", 0, True), ("base_velocity", 3, False),
        ("base_velocity", 7, False), ("base_velocity", 0, False),
    ],
)  # fmt: skip
def test_a_policy_must_give_actions_that_the_target_takes(name, numbers, fits):
    findings = found(PolicyInfo("p", representation=name, action_dim=numbers))
    assert [finding.code for finding in findings] == ([] if fits else ["ACTION_CONTRACT_UNSATISFIED"])
    assert not any(finding.warning for finding in findings)
    assert all(finding.found in (name, f"{numbers} numbers") for finding in findings)


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        ({"joints": ((7,), "float32")}, True), ({"joints": ((8,), "float32")}, False),
        ({"joints": ((7, 1), "float32")}, False), ({"rgb.front": ((0, -1, 3), "uint8")}, True),
        ({"rgb.front": ((480, 640, 4), "uint8")}, False), ({"rgb.wrist": ((480, 640, 3), "uint8")}, False),
    ],
)  # fmt: skip
def test_a_policy_must_be_shown_what_it_asks_for(wanted, fits):
    findings = found(PolicyInfo("p", observations=wanted))
    assert [finding.code for finding in findings] == ([] if fits else ["POLICY_INPUT_CONTRACT_UNSATISFIED"])


def test_what_does_not_fit_is_a_warning_where_the_skill_is_not_strict():
    (finding,) = found(PolicyInfo("p", action_dim=3), strict=False)
    assert finding.warning


ARM = {"id": "arm", "kind": "SIM", "backend": "mujoco", "adapter": "SimTargetAdapter"}


@pytest.mark.parametrize(
    ("target", "skill", "routing", "code"),
    [
        ({}, {}, {}, ""),
        ({"skills": ("reach", "wipe")}, {"target_types": ("REAL", "SIM")}, {"target_adapter": "SimTargetAdapter"}, ""),
        ({"skills": ("wipe",)}, {}, {}, "SKILL_NOT_SUPPORTED_BY_TARGET"),
        ({}, {"target_types": ("REAL",)}, {}, "SKILL_NOT_SUPPORTED_BY_TARGET"),
        ({}, {}, {"target_adapter": "RealRobotTargetAdapter"}, "TARGET_ADAPTER_MISMATCH"),
        ({}, {}, {"target_adapter": 7}, "TARGET_ADAPTER_MISMATCH"),
        ({"adapter": ""}, {}, {"target_adapter": "SimTargetAdapter"}, ""),
    ],
)
def test_what_the_documents_rule_out_is_refused_before_anything_is_opened(target, skill, routing, code):
    order = Order("one", "arm", "reach", {}, extra={"routing": routing})
    fitted = Skill("reach", "VLAPolicyRuntime", **skill)
    findings = check_documents(order, fitted, Target(**{**ARM, **target}), lambda *words: " ".join(words))
    assert [finding.code for finding in findings] == ([code] if code else [])
    assert not any(finding.warning for finding in findings)


@pytest.mark.parametrize(
    ("member", "refused"),
    [("dependson", True), ("dependsOn", True), ("retries", True), ("timeout", True),
     ("params", True), ("object_id", True), ("Args", True), ("shop_number", False), ("task_descripton", False)],
)  # fmt: skip
def test_an_entry_whose_restriction_or_parameter_nothing_reads_is_not_carried_out_without_it(member, refused):
    order = Order("s1", "arm_1", "reach", extra={member: ["s0"]}, sheet="SESSIONS.md")
    (found,) = check_documents(order, Skill("reach", "VLAPolicyRuntime"), Target(**ARM), lambda *words: " ".join(words))
    assert (found.code, found.warning) == ("FIELD_UNREAD", not refused)


@pytest.mark.parametrize(("sheet", "codes"), [("SESSIONS.md", ["FIELD_UNREAD"]), ("ACTION.md", [])])
def test_only_an_entry_of_the_session_sheet_is_warned_of_members_that_nothing_reads(sheet, codes):
    order = Order("one", "arm", "reach", {}, sheet=sheet, extra={"speed": "slow"})
    found = check_documents(order, Skill("reach", "VLAPolicyRuntime"), Target(**ARM), lambda *words: " ".join(words))
    assert [finding.code for finding in found] == codes
    assert all(finding.warning and finding.field == "SESSIONS.md one speed" for finding in found)
