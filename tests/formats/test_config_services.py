"""agents.brains and webSearch of config.json: read in both spellings, refused by key, never with a secret."""

import json
import re

import pytest

from worldfs.formats import config
from worldfs.formats.config_services import ResponderConfig, WebSearch


def read(document: object, environ: dict[str, str] | None = None) -> config.Config:
    return config.read(json.dumps(document).encode(), environ)


def test_an_agent_has_its_own_brain_else_the_one_for_all() -> None:
    found = read(
        {
            "agents": {
                "brains": [
                    {"agent": "*", "robot": "franka_001"},
                    {
                        "agent": "rio",
                        "kind": "command",
                        "argv": ["claude", "-p"],
                        "timeout_seconds": 240,
                        "prompt": "arg",
                    },
                    {"agent": "quiet", "kind": "none"},
                ]
            }
        }
    )
    assert found.brain("rio") == ResponderConfig("rio", "command", "", ("claude", "-p"), "arg", "", 240.0, None)
    assert found.brain("anybody") == ResponderConfig("*", "planner", "franka_001")
    assert found.brain("quiet") == ResponderConfig("quiet", "none")
    assert config.Config().brain("rio") is None


def test_the_environment_may_set_them() -> None:
    environ = {
        "PhyAgentOS_agents__brains": '[{"agent": "*", "kind": "command", "argv": ["cat"]}]',
        "PhyAgentOS_webSearch__backend": "searxng",
        "PhyAgentOS_webSearch__url": "http://127.0.0.1:8888",
    }
    found = read({}, environ)
    assert found.brain("x") == ResponderConfig("*", "command", "", ("cat",))
    assert found.web_search == WebSearch("searxng", "http://127.0.0.1:8888", more={})


@pytest.mark.parametrize(
    ("brains", "key"),
    [
        ({}, r"agents\.brains: an object"),
        (["rio"], r"agents\.brains\[0\]: text"),
        ([None], r"agents\.brains\[0\]: nothing"),
        ([7], r"agents\.brains\[0\]: a number"),
        ([{"kind": "planner"}], r"brains\[0\]\.agent"),
        ([{"agent": "a", "kind": "oracle"}], r"brains\[0\]\.kind: 'oracle'; expected planner \| command \| none"),
        ([{"agent": "a", "kind": "command"}], r"brains\[0\]\.argv: no command"),
        ([{"agent": "a", "kind": "command", "argv": "claude -p"}], r"brains\[0\]\.argv"),
        ([{"agent": "a", "kind": "command", "argv": ["x\0y"]}], r"brains\[0\]\.argv"),
        ([{"agent": "a", "prompt": "telepathy"}], r"brains\[0\]\.prompt"),
        ([{"agent": "a", "timeoutSeconds": 0}], r"brains\[0\]\.timeoutSeconds"),
        ([{"agent": "a", "silenceSeconds": True}], r"brains\[0\]\.silenceSeconds"),
        ([{"agent": "a"}, {"agent": "a"}], r"brains\[1\]\.agent: 'a' a second time"),
    ],
)
def test_a_brain_that_cannot_be_used_is_refused_by_key_and_the_rest_goes_on(brains: object, key: str) -> None:
    found = read({"agents": {"brains": brains}, "language": "zh"})
    (finding,) = found.findings
    assert re.search(key, f"{finding.field}: {finding.found}; expected {finding.expected}"), finding
    assert found.language == "zh" and found.brain("b") is None


def test_an_agent_whose_brain_is_refused_is_not_answered_by_the_brain_for_all_others() -> None:
    found = read({"agents": {"brains": [{"agent": "*"}, {"agent": "rio", "kind": "oracle"}]}})
    assert found.brain("rio") == ResponderConfig("rio", "none") and found.brain("mother") == ResponderConfig(
        "*", "planner"
    )


def test_web_search_is_read_and_what_only_a_backend_knows_is_kept() -> None:
    asked = {"backend": "Brave", "api_key_file": "secrets/brave", "timeoutSeconds": 2.5, "country": "de"}
    found = read({"webSearch": asked}).web_search
    assert found == WebSearch("brave", "", "", "secrets/brave", 2.5, {"country": "de"})
    assert read({}).web_search.backend == ""


@pytest.mark.parametrize(
    ("search", "key"),
    [
        ([], "webSearch: a list"),
        ({"backend": 7}, r"webSearch\.backend"),
        ({"timeoutSeconds": -1}, r"webSearch\.timeoutSeconds"),
        ({"timeoutSeconds": float("inf")}, r"webSearch\.timeoutSeconds"),
    ],
)
def test_a_web_search_that_cannot_be_used_is_refused_by_key_and_is_not_there(search: object, key: str) -> None:
    found = read({"webSearch": search})
    (finding,) = found.findings
    assert re.search(key, f"{finding.field}: {finding.found}"), finding
    assert found.web_search == WebSearch()


def test_a_key_in_the_file_is_refused_and_not_repeated() -> None:
    found = read({"webSearch": {"backend": "brave", "apiKey": "BSA-very-secret"}})
    (finding,) = found.findings
    assert finding.field == "config.json webSearch.apiKey" and "very-secret" not in str(finding)
    assert "apiKeyFile" in finding.expected and found.web_search == WebSearch()
