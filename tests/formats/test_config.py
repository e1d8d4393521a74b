"""config.json: read in both spellings, overridden by the environment, never guessed, never shown."""

import json

import pytest

from worldfs.base.errors import BadInput
from worldfs.formats import config

FLEET = {
    "_comment": {"mode": "ignored"},
    "agents": {"defaults": {"workspace": "~/w", "maxTokens": 8192}},
    "embodiments": {
        "mode": "fleet",
        "sharedWorkspace": "/srv/shared",
        "instances": [
            {"robotId": "franka_001", "driver": "simulation", "profileName": "franka", "_why": "the first"},
            {"robot_id": "go2_001", "driver": "go2_edu", "workspace": "~/go2", "enabled": False},
        ],
    },
    "providers": {"acme": {"apiKey": "sk-1", "apiBase": "https://x", "extraHeaders": {"X-Org": "mine"}}},
    "futureSection": {"kept": [1, 2]},
}


def encoded(document: object) -> bytes:
    return json.dumps(document).encode()


def test_both_spellings_read_and_the_file_is_kept_whole() -> None:
    read = config.read(encoded(FLEET))
    assert (read.mode, read.workspace, read.shared_workspace) == ("fleet", "~/w", "/srv/shared")
    assert read.instances[0] == config.Instance("franka_001", "simulation", "", True, "franka")
    assert read.instances[1] == config.Instance("go2_001", "go2_edu", "~/go2", False)
    assert read.instances[1].profile == "go2_edu"
    assert read.raw == FLEET


def test_snake_case_sections_read_as_camel_case_ones() -> None:
    read = config.read(encoded({"embodiments": {"shared_workspace": "/s", "instances": [{"robot_id": "a"}]}}))
    assert (read.mode, read.shared_workspace, read.instances[0].robot_id) == ("single", "/s", "a")


def test_keys_with_an_underscore_in_front_are_comments() -> None:
    assert config.read(encoded({"_embodiments": {"mode": "fleet"}})).mode == "single"


def test_the_environment_overrides_the_file() -> None:
    environ = {
        "PhyAgentOS_embodiments__mode": "single",
        "PHYAGENTOS_EMBODIMENTS__INSTANCES__1__ENABLED": "true",
        "PhyAgentOS_agents__defaults__language": "zh",
        "PATH": "/bin",
    }
    read = config.read(encoded(FLEET), environ)
    assert (read.mode, read.language, read.instances[1].enabled) == ("single", "zh", True)
    assert read.raw == FLEET


def test_a_whole_list_may_come_from_the_environment() -> None:
    read = config.read(b"{}", {"PhyAgentOS_embodiments__instances": '[{"robotId": "r", "driver": "d"}]'})
    assert read.instances == (config.Instance("r", "d"),)


def test_a_robot_with_a_workspace_of_its_own_names_the_address_of_its_store() -> None:
    entry = {"robotId": "arm_1", "driver": "workspace", "store": "nats://HUB:4222/arm_1?domain=arm_1"}
    assert config.read(encoded({"embodiments": {"instances": [entry]}})).instances[0].store == entry["store"]
    with pytest.raises(BadInput):
        config.read(encoded({"embodiments": {"instances": [{**entry, "store": 7}]}}))


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b'{"a": 1,\n  "b": }', r"line 2 column 8"),
        (b" ", r"line 1 column 2"),
        (b"[]", r"list at line 1"),
        (b'{"a": "\xff"}', r"offset 7 \(line 1\)"),
    ],
)
def test_an_unreadable_file_is_refused_with_its_place_and_never_the_defaults(data: bytes, place: str) -> None:
    with pytest.raises(BadInput, match=place):
        config.read(data)


def test_no_file_is_the_defaults_and_a_refusal_names_the_file_asked_for() -> None:
    assert config.read(b"") == config.Config()
    with pytest.raises(BadInput, match=r"^/etc/x/config\.json: "):
        config.read(b"{", where="/etc/x/config.json")


@pytest.mark.parametrize(
    ("bodies", "key"),
    [
        ({"mode": "swarm"}, r"embodiments\.mode"),
        ({"instances": {}}, r"embodiments\.instances"),
        ({"instances": [{"driver": "d"}]}, r"instances\[0\]\.robotId"),
        ({"instances": [{"robotId": "../x"}]}, r"instances\[0\]\.robotId"),
        ({"instances": [{"robotId": "a", "enabled": "yes"}]}, r"instances\[0\]\.enabled"),
        ({"instances": [{"robotId": 7}]}, r"instances\[0\]\.robotId"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_by_name(bodies: object, key: str) -> None:
    with pytest.raises(BadInput, match=key):
        config.read(encoded({"embodiments": bodies}))


@pytest.mark.parametrize(
    ("bad", "key"),
    [
        ({"robotId": "a"}, "robotId"),
        ({"robotId": "../x"}, "robotId"),
        ({"robotId": "\ud800"}, "robotId"),
        ({"robotId": "x" * 5000}, "robotId"),
        ({"robotId": "b", "enabled": "yes"}, "enabled"),
        ({"robotId": "b", "driver": 7}, "driver"),
        ("b", "instances[1]"),
    ],
)
def test_a_robot_that_cannot_be_used_is_refused_by_name_and_the_others_go_on(bad: object, key: str) -> None:
    read = config.read(encoded({"embodiments": {"instances": [{"robotId": "a"}, bad]}}))
    (finding,) = read.findings
    assert finding.field.startswith("config.json embodiments.instances[1]") and key in finding.field
    assert [one.robot_id for one in read.instances] == ["a"]


def test_the_template_reads_back_as_one_simulated_body() -> None:
    data = config.template("franka_001", profile_name="franka_panda", language="zh")
    read = config.read(data)
    assert (read.mode, read.language) == ("single", "zh")
    assert read.instances == (config.Instance("franka_001", "simulation", "", True, "franka_panda"),)
    assert b'"robotId"' in data
    assert data.endswith(b"}\n")


def test_no_view_shows_a_secret() -> None:
    document = {
        **FLEET,
        "channels": {"telegram": {"bot_token": "123:abc", "enabled": True, "password": ""}},
        "tools": {"mcpServers": {"s": {"command": "x", "env": {"KEY": "hidden"}}}},
        "store": "nats://robot:hunter2@host:4222",
        "tokens": ["t1"],
        "agents": {"defaults": {"maxTokens": 8192, "contextWindowTokens": 9}},
    }
    shown = config.redact(document)
    text = json.dumps(shown)
    assert not any(secret in text for secret in ("sk-1", "mine", "123:abc", "hidden", "hunter2", "t1"))
    assert shown["agents"] == document["agents"]
    assert shown["channels"]["telegram"] == {"bot_token": config.MASK, "enabled": True, "password": ""}
    assert shown["providers"]["acme"]["apiBase"] == "https://x"
    assert document["providers"]["acme"]["apiKey"] == "sk-1"


def test_two_robots_that_are_spelled_alike_do_not_share_a_policy():
    found = config.read(b'{"Approval": {"arm_1": "never", "Arm1": "risky", "default": "always", "_of": "whom"}}')
    asked = [found.approval_of(id) for id in ("arm_1", "Arm1", "arm1", "arm-1", "ARM_1")]
    assert asked == ["never", "risky", "always", "always", "always"]
    assert not found.findings


def test_a_policy_from_the_environment_is_of_the_id_as_it_is_written():
    one = config.read(b"", {"PhyAgentOS_approval__arm_1": "never"})
    whole = config.read(b"", {"PhyAgentOS_approval": '{"arm_1": "never"}'})
    for found in (one, whole):
        assert (found.approval_of("arm_1"), found.approval_of("arm1")) == ("never", None)
    assert config.read(b"", {"PhyAgentOS_approval": "never"}).approval_of("any") == "never"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('{"approval": "always", "approval": "never"}', "approval"),
        ('{"approval": "always", "Approval": "never"}', "approval"),
        ('{"approval": {"arm_1": "always", "arm_1": "never"}}', "arm_1"),
        ('{"embodiments": {"instances": [{"robotId": "a", "enabled": false, "enabled": true}]}}', "enabled"),
        ('{"embodiments": {"instances": [{"robotId": "a", "robot_id": "b"}]}}', "robotid"),
    ],
)
def test_a_key_that_is_written_twice_is_refused_by_its_name(text: str, key: str) -> None:
    with pytest.raises(BadInput, match=f"{key}.* is written twice"):
        config.read(text.encode())


def test_comments_may_be_repeated_and_ids_differ_by_a_letter() -> None:
    said = config.read(b'{"_": 1, "_": 2, "approval": {"arm_1": "always", "arm1": "never"}}')
    assert len(said.approval) == 2
