"""config.json: a misspelt key is named at every level, and one that concerns safety is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.base.errors import BadInput
from worldfs.base.messages import render
from worldfs.base.model import ApprovalPolicy
from worldfs.formats import config
from worldfs.formats.config_keys import AGENTS, DEFAULTS, EMBODIMENTS, INSTANCE, SAFETY, SIMULATION, TOP, bare

ASK = {"": ApprovalPolicy.ALWAYS}
# Settings of other programs that share the file: the sections and keys that the specification's own program writes.
FOREIGN = {
    "agents": {"defaults": {"workspace": "", "model": "m", "provider": "auto", "maxTokens": 8192, "temperature": 0.1,
                            "contextWindowTokens": 65536, "maxToolIterations": 40, "reasoningEffort": None,
                            "memoryWindow": 100}},
    "providers": {"acme": {"apiKey": "", "apiBase": None, "safty": 1, "stop": []}},
    "gateway": {"host": "0.0.0.0", "port": 18790, "heartbeat": {"enabled": True, "intervalS": 1800}},
    "channels": {"sendProgress": True, "telegram": {"enabled": False, "token": "", "allowFrom": ["*"]}},
    "tools": {"mcpServers": {}, "restrictToWorkspace": False, "exec": {"timeout": 60}},
    "runtime": {"enabled": False, "workspace": "", "autostartWatchdog": True, "watchdogPollIntervalS": 1.0,
                "targetEnabled": True},
    "embodiments": {"mode": "single", "sharedWorkspace": "", "instances": [
        {"robotId": "a", "driver": "simulation", "workspace": "", "enabled": True, "profileName": "p",
         "sharedEnvironment": True}]},
}  # fmt: skip


def read(document: object, environ: dict[str, str] | None = None) -> config.Config:
    return config.read(json.dumps(document).encode(), environ)


OFF = {"robotId": "arm_1", "driver": "simulation", "enabled": False}


def test_what_other_programs_write_is_neither_named_nor_refused() -> None:
    found = read(FOREIGN)
    assert (found.findings, found.unread, found.approval) == ((), (), {})


@pytest.mark.parametrize(
    ("document", "where", "hint"),
    [
        ({"aproval": "always"}, "aproval", "did you mean approval?"),
        ({"Approvals": {"default": "never"}, "approval": "never"}, "Approvals", "did you mean approval?"),
        ({"safty": {"x": 1}}, "safty", "correct the name"),
        ({"require_approval": True}, "require_approval", "did you mean approval?"),
        ({"robotSafety": {}}, "robotSafety", "correct the name"),
        ({"watchdg": 0.5}, "watchdg", "correct the name"),
        ({"stop": "always"}, "stop", "correct the name"),
        ({"bind": "127.0.0.1"}, "bind", "correct the name"),
        ({"embodiments": {"aproval": "always"}}, "embodiments.aproval", "`approval` stands at the top"),
        ({"embodiments": {"approval": "always"}}, "embodiments.approval", "`approval` stands at the top"),
        ({"agents": {"safety": True}}, "agents.safety", "correct the name"),
    ],
)
def test_a_key_that_concerns_safety_and_that_nothing_reads_is_refused_and_every_robot_asks(
    document: dict[str, Any], where: str, hint: str
) -> None:
    found = read(document)
    (finding,) = found.findings
    assert finding.field == f"config.json {where}" and not finding.warning and finding.code == "FIELD_UNREAD"
    fix = render(finding.fix, "en")
    assert hint in fix and "every robot asks for approval" in fix
    assert found.approval == ASK and found.approval_of("anything") is ApprovalPolicy.ALWAYS


def test_a_robot_whose_entry_has_such_a_key_is_not_served() -> None:
    entries = [{"robotId": "a"}, {"robotId": "b", "enabeld": False}, {"robotId": "c", "Driver": "x"}]
    found = read({"embodiments": {"instances": entries}})
    assert [item.robot_id for item in found.instances] == ["a", "c"]
    (finding,) = found.findings
    assert finding.field == "config.json embodiments.instances[1].enabeld"
    assert render(finding.fix, "en") == "did you mean enabled?" and found.approval == {}
    with pytest.raises(BadInput, match="enabeld"):
        read({"embodiments": {"instances": entries[1:2]}})


@pytest.mark.parametrize(
    ("document", "where", "hint"),
    [
        ({"langauge": "zh"}, "langauge", "did you mean language?"),
        ({"futureSection": {"kept": 1}}, "futureSection", "correct the name"),
        ({"embodiments": {"mdoe": "fleet"}}, "embodiments.mdoe", "did you mean mode?"),
        ({"embodiments": {"instances": [{"robotId": "a", "profile_nmae": "p"}]}},
         "embodiments.instances[0].profile_nmae", "did you mean profileName?"),
        ({"simulation": {"realtim": 1}}, "simulation.realtim", "did you mean realTime?"),
        ({"agents": {"defaults": {"worksapce": "/x"}}}, "agents.defaults.worksapce", "did you mean workspace?"),
        ({"agents": {"brain": []}}, "agents.brain", "did you mean brains?"),
        ({"agents": {"brains": [{"agent": "*", "timeoutSecond": 3}]}}, "agents.brains[0].timeoutSecond",
         "did you mean timeoutSeconds?"),
    ],
)  # fmt: skip
def test_every_other_key_that_nothing_reads_is_named_and_the_settings_stay(
    document: dict[str, Any], where: str, hint: str
) -> None:
    found = read(document)
    (finding,) = found.unread
    assert finding.field == f"config.json {where}" and finding.warning and hint in render(finding.fix, "en")
    assert (found.findings, found.approval) == ((), {})


def test_the_environment_is_judged_too() -> None:
    assert read({}, {"PhyAgentOS_aproval": "always"}).approval == ASK
    assert [item.field for item in read({}, {"PhyAgentOS_langauge": "zh"}).unread] == ["config.json langauge"]
    assert read({}, {"PhyAgentOS_approval__default": "never"}).approval == {"": ApprovalPolicy.NEVER}


def test_comments_and_the_ids_below_approval_are_no_keys() -> None:
    found = read({"_aproval": "x", "approval": {"_why": "y", "saftey_arm": "never"}})
    assert (found.findings, found.unread) == ((), ())


def slip(word: str, at: int, kind: str) -> str:
    at %= len(word) - 1
    match kind:
        case "lost":
            return word[:at] + word[at + 1 :]
        case "swapped":
            return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        case "twice":
            return word[: at + 1] + word[at:]
    return word[:at] + "x" + word[at + 1 :]


LEVELS = {
    "": TOP, "agents": AGENTS, "agents.defaults": DEFAULTS, "embodiments": EMBODIMENTS, "instance": INSTANCE,
    "simulation": SIMULATION,
}  # fmt: skip


@given(
    st.sampled_from([(level, name) for level, names in LEVELS.items() for name in names if len(name) > 4]),
    st.integers(0, 30),
    st.sampled_from(["lost", "swapped", "twice", "wrong"]),
)
def test_a_slip_in_any_known_key_is_named_and_in_one_of_safety_it_is_refused(
    known: tuple[str, str], at: int, kind: str
) -> None:
    level, name = known
    typed = slip(name, at, kind)
    if bare(typed) in map(bare, LEVELS[level]):
        return
    part: dict[str, Any] = {typed: None}
    document: dict[str, Any] = {
        "": part, "agents": {"agents": part}, "agents.defaults": {"agents": {"defaults": part}},
        "embodiments": {"embodiments": part}, "simulation": {"simulation": part},
        "instance": {"embodiments": {"instances": [{"robotId": "a"}, {"robotId": "b", **part}]}},
    }[level]  # fmt: skip
    found = read(document)
    named = [*found.findings, *found.unread]
    assert len(named) == 1 and named[0].field.endswith(typed)
    assert bool(found.findings) == (name in SAFETY)
    assert name in SAFETY or f"did you mean {name}?" == render(named[0].fix, "en")


def test_a_file_of_keys_that_resemble_nothing_is_read_in_time() -> None:
    many = {f"{'x' * 500}{n}": n for n in range(5_000)}
    found = read({**many, "embodiments": {"instances": [{"robotId": f"r{n}", "note": ""} for n in range(3_000)]}})
    assert len(found.instances) == 3_000 and not found.findings


@pytest.mark.parametrize(
    ("name", "value"),
    [("disabled", True), ("Disabled", True), ("active", False), ("dry_run", True), ("hold", True), ("paused", True),
     ("simulate", True), ("readonly", True), ("max_speed", 0.1), ("not_before", "2999-01-01T00:00:00Z")],
)  # fmt: skip
def test_a_key_that_holds_back_and_that_nothing_reads_is_refused(name: str, value: object) -> None:
    robot = {"robotId": "a", "driver": "simulation"}
    for document in ({name: value}, {"embodiments": {"instances": [robot], name: value}}):
        found = read(document)
        assert found.approval == ASK and name in str(found.findings[0]), document
    other = {"robotId": "b", "driver": "simulation"}
    found = read({"embodiments": {"instances": [{**robot, name: value}, other]}})
    assert [one.robot_id for one in found.instances] == ["b"] and name in str(found.findings[0])


@pytest.mark.parametrize("name", ["defualt", "default ", "deafult", "all", "*", "lamp1", "lamp_1 ", "LAMP_1", "全部"])
def test_a_policy_of_a_misspelt_robot_asks_for_all(name: str) -> None:
    robots = {"instances": [{"robotId": "lamp_1", "driver": "simulation"}]}
    found = read({"approval": {name: "always"}, "embodiments": robots})
    assert found.approval == ASK and "approval." in str(found.findings[0])


@pytest.mark.parametrize("name", ["lamp_1", "lamp_2", "bench", "table_target"])
def test_a_policy_of_a_robot_or_a_target_is_kept(name: str) -> None:
    robots = {"instances": [{"robotId": "lamp_1", "driver": "simulation"}]}
    found = read({"approval": {name: "always"}, "embodiments": robots})
    assert (found.approval, found.findings) == ({name: ApprovalPolicy.ALWAYS}, ())


@pytest.mark.parametrize("listed", [[OFF], {"arm_1": {"driver": "simulation", "enabled": False}}])
@pytest.mark.parametrize(
    ("section", "key"),
    [("embodiments", "instnces"), ("embodiments", "instances "), ("embodiment", "instances"), ("embodiments", "robots"),
     ("", "robots"), ("", "instances"), ("", "arms"), ("embodiments", "bodies")],
)  # fmt: skip
def test_robots_that_are_listed_below_another_key_are_not_replaced_by_one_that_is_made_up(
    section: str, key: str, listed: object
) -> None:
    document = {section: {key: listed}} if section else {key: listed}
    with pytest.raises(BadInput) as caught:
        config.read(json.dumps(document).encode())
    assert "did you mean" in str(caught.value.fix)
    good = {"mode": "fleet", "instances": [{"robotId": "arm_2", "driver": "simulation"}]}
    both: dict[str, object] = {**document, "embodiments": {**good, **(document.get("embodiments") or {})}}
    found = config.read(json.dumps(both).encode())
    if "instances" not in document.get("embodiments", {}):
        assert [one.robot_id for one in found.instances] == ["arm_2"]
        assert found.findings and found.approval_of("arm_2") is ApprovalPolicy.ALWAYS


def test_what_another_program_lists_is_no_robot() -> None:
    given = {"plugins": {"music": {"enabled": False}}, "databases": [{"driver": "sqlite"}], "embodiment": None}
    assert not read(given).findings and len(read(given).unread) == 3
