"""What the command prints for people in a Chinese workspace: no English sentence, whatever the command."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from worldfs.base.messages import read_coded, render
from worldfs.interfaces.cli.command_table import COMMANDS
from worldfs.interfaces.cli.help_pages import help_text
from worldfs.interfaces.cli.main import main
from worldfs.testing.null_driver import NullDriver
from worldfs.world.workspace_language import home_language

Paos = Callable[..., str]
# Names stand in every language: of files, ids, operations and their parameters, commands and options, codes.
NAME = re.compile(
    r"`[^`]*`|'[^']*'|\"[^\"]*\"|paos( -?-?[a-z]+( NAME| /[\w./-]+)?)*|/[\w./-]+|\w+(\.\w+)+|\w*_\w+|--\w+( NAME)?"
    r"|\b[A-Z]+[-_A-Z]+\b|\b\d{4}-\d\d-\d\dT\S+"
    r"|\b(id|simulation|operator|json|move|wave|strategy|place|Supported Actions|resume|name|found|params)\b"
    r"|\b(push|nudge|upright|stack|pour|wipe)\b"
    r"|\b(Critic|critic|planner|watchdog|nobody|artifacts|txt)\b"
    r"|Ctrl-C"
)


def english_left(said: str) -> list[str]:
    return re.findall(r"[A-Za-z]{2,}", NAME.sub("", said))


@pytest.fixture
def paos(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Paos:
    def factories(name: str | None, *, seed: int | None, cameras: bool, real_time: float = 0.0) -> Mapping[str, Any]:
        return {"simulation": lambda seat: NullDriver(executed=[])}

    monkeypatch.setenv("PAOS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("worldfs.interfaces.cli.driver_factories.factories", factories)

    def call(*words: str, stdin: bytes = b"") -> str:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        main(words)
        said = capsysbinary.readouterr()
        return said.out.decode() + said.err.decode()

    call("onboard", "--language", "zh")
    return call


ORDER = b'{"queue": [{"action_id": "a_1", "action_type": "wave", "params": {}, "robot_id": "franka_001"}]}'
BROKEN = b'```json\n{"queue": [}\n```\n'
SCREENS: tuple[tuple[str, ...], ...] = (
    ("status",),
    ("check",),
    ("lessons",),
    ("lessons", "苹果"),
    ("stop",),
    ("do", "挥手"),
    ("do", "停下"),
    ("status",),
    ("resume",),
    ("resume",),
    ("resume", "--node", "franka_001", "--all"),
    ("stop", "--node", "nobody"),
    ("do",),
    ("do", "飞"),
    ("do", "拿起苹果"),
    ("write", "ACTION.md"),
    ("status",),
    ("up", "--until-idle"),
    ("status",),
    ("cancel", "a_1"),
    ("cancel", "a_2"),
    ("wait", "ACTION.md", "--timeout", "0"),
    ("wait", "ACTION.md", "--timeout", "0", "--until", "x"),
    ("cat", "ACTON.md"),
    ("cat", "nothing_like_it.md"),
    ("cat", "../x"),
    ("--as", "critic", "write", "ACTION.md"),
    ("rm", "ACTION.md"),
    ("mkdir", "/x"),
    ("token", "revoke", "nobody"),
    ("do", "挥手", "--record", "x.txt"),
    ("reset",),
    ("reset", "--yes"),
    ("reset", "--undo"),
    ("onboard", "--language", "zh"),
)


def test_no_command_prints_an_english_sentence(paos: Paos) -> None:
    left = [(*words, *found) for words in SCREENS if (found := english_left(paos(*words, stdin=ORDER)))]
    assert not left, "\n".join(map(str, left))


def test_a_broken_file_is_explained_in_chinese_and_its_messages_are_data_beside_the_text(
    paos: Paos, tmp_path: Path
) -> None:
    (tmp_path / "home/workspace/ACTION.md").write_bytes(BROKEN)
    assert english_left(paos("check")) == []
    [finding] = json.loads(paos("check", "--json"))["findings"]
    for name, kept in finding["codes"].items():
        assert render(read_coded(finding[name], kept), "zh") == finding[name]
        assert english_left(render(read_coded(finding[name], kept), "en"))


KEYS = {
    "config",
    "single",
    "fleet",
    "robotId",
    "driver",
    "agent",
    "kind",
    "argv",
    "apiKeyEnv",
    "apiKeyFile",
    "true",
    "false",
}


@pytest.mark.parametrize(
    "config",
    [
        {"embodiments": 3},
        {"embodiments": {"mode": "many"}},
        {"embodiments": {"instances": {}}},
        {"embodiments": {"instances": [3]}},
        {"embodiments": {"instances": [{"robotId": "a/b", "driver": "simulation"}]}},
        {"embodiments": {"instances": [{"robotId": "a", "driver": 3}, {"robotId": "a", "enabled": "yes"}]}},
        {"agents": {"brains": [3, {"agent": ""}, {"agent": "rio"}, {"agent": "rio"}, {"agent": "leo", "argv": 3}]}},
        {"webSearch": {"timeoutSeconds": -1}, "simulation": {"realTime": "x"}},
        {"models": [], "webSearch": {"apiKey": "k"}},
        {
            "models": {
                "planner": {"kind": "openai"},
                "critic": {"kind": "openai", "model": "m", "apiKey": "k"},
                "judge": {"kind": "openai", "model": "m", "retries": 99},
            }
        },
    ],
)
def test_what_is_wrong_in_config_json_is_said_in_chinese(paos: Paos, tmp_path: Path, config: dict[str, Any]) -> None:
    (tmp_path / "home/config.json").write_text(json.dumps({"language": "zh", **config}))
    said = paos("check")
    assert "修复" in said
    assert set(english_left(said)) - set(re.findall(r"\w+", json.dumps(config))) - KEYS == set()


def test_what_was_done_to_an_agents_files_is_said_in_chinese_also_when_it_is_read_again(
    paos: Paos, tmp_path: Path
) -> None:
    paos("agent", "init", "rio")
    home = tmp_path / "home/agents/rio"
    paos("agent", "tasks", "rio", "--add", "look")
    (home / "tasks.json").write_bytes(b'{"tasks": [')
    (home / "memory.md").write_bytes(b"\xff")
    (home / "metrics.json").unlink()
    (home / "report.json").unlink()
    (home / "report.json").mkdir()
    told = paos("agents").splitlines()[-1]
    paos("agent", "start", "rio")
    told += "".join(line for line in paos("agent", "show", "rio").splitlines() if " · " in line)
    stored = json.loads((home / ".paos/findings.json").read_bytes())
    assert len(stored) > 2 and all(item["codes"] for item in stored)
    assert english_left(re.sub(r"\S*\.paos/[\w/-]+\.\w+|\w+\.(json|md)#?|\b(rio|JSON|UTF)\b", "", told)) == []


def test_an_english_instruction_in_a_chinese_workspace_is_answered_in_english(paos: Paos) -> None:
    assert not re.search("[\u4e00-\u9fff]", paos("do", "stop") + paos("do", "wave") + paos("do", "grasp the unicorn"))


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (("./nowhere",), "启动：./nowhere：没有该文件"),
        (("sh", "-c", "echo last words; exit 3"), "退出码 3；最后一行：last words"),
        (("sh", "-c", 'echo \'{"cost_usd": -1}\' > "$PAOS_OUTCOME"; exit 3'), "cost_usd：-1；应为 不小于 0 的数"),
    ],
)
def test_why_the_command_of_a_session_failed_is_said_in_chinese(
    paos: Paos, command: tuple[str, ...], why: str, tmp_path: Path
) -> None:
    paos("agent", "init", "rio")
    assert why in paos("agent", "run", "rio", "--", *command)


def test_every_help_page_is_in_the_language_of_the_home(paos: Paos) -> None:
    for command in COMMANDS:
        said = "".join(paos(*command.name.split(), "--help").split())
        texts = (command.help, command.more, *(item.help for item in command.arguments))
        assert said.startswith("用法：paos")
        assert [text for text in texts if "".join(help_text(text, "zh").split()) not in said] == [], command.name


@pytest.mark.parametrize(
    ("config", "environ", "language"),
    [
        (None, {}, "en"),
        ({"mode": "single"}, {}, "en"),
        ({"agents": {"defaults": {"Language": "zh-CN"}}}, {}, "zh"),
        ({"Language": "ZH"}, {}, "zh"),
        ({"language": "zh-TW"}, {}, "zh"),
        ({"language": "", "agents": {"defaults": {"language": "zh"}}}, {}, "zh"),
        ({"agents": {"language": "en", "defaults": {"language": "zh"}}}, {}, "zh"),
        ({"note": {"language": "zh"}}, {}, "en"),
        (None, {"PhyAgentOS_language": "zh"}, "zh"),
        ({"language": "zh"}, {"PHYAGENTOS_LANGUAGE": "en"}, "en"),
    ],
)
def test_a_home_says_its_language_in_its_configuration_or_in_a_variable(
    config: object, environ: dict[str, str], language: str, tmp_path: Path
) -> None:
    if config is not None:
        (tmp_path / "config.json").write_text(json.dumps(config))
    assert home_language(str(tmp_path), environ) == language


@pytest.mark.parametrize(
    "data", [b'{"language": "zh"', b'["language", ' + b"[" * 100_000, b'"language\xff"', b"[3, {}]"]
)
def test_a_home_whose_configuration_is_none_speaks_as_its_documents_do(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "config.json").write_bytes(data)
    (tmp_path / "workspace").mkdir()
    assert home_language(str(tmp_path), {}) == "en"
    (tmp_path / "workspace/TASK.md").write_text("# 收拾桌子\n")
    assert home_language(str(tmp_path), {}) == "zh"
