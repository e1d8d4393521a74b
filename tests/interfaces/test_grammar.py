"""The command line's grammar, on a table made to be awkward."""

from __future__ import annotations

from typing import Any

import pytest

from worldfs.base.errors import BadInput
from worldfs.base.messages import render
from worldfs.interfaces.cli.command_table import COMMANDS, ArgumentSpec, CommandSpec
from worldfs.interfaces.cli.help_pages import page
from worldfs.interfaces.cli.parser import parse

NAME = ArgumentSpec(("name",), "the agent", "NAME")
TABLE = (
    CommandSpec("agents", "all of them", "x:all"),
    CommandSpec("agent", "one of them", "x:one", (ArgumentSpec(("name",), "the agent", "NAME", many="?", default=""),)),
    CommandSpec("agent show", "what it says", "x:show", (NAME,)),
    CommandSpec(
        "agent run",
        "run a command as a session of an agent",
        "x:run",
        (
            NAME,
            ArgumentSpec(("argv",), "the command", "CMD", many="*"),
            ArgumentSpec(("--type",), "the kind", choices=("research", "ad-hoc"), default="ad-hoc"),
            ArgumentSpec(("--timeout",), "seconds", "SECONDS", takes="number"),
            ArgumentSpec(("--error",), "what went wrong", "TEXT", many="*"),
            ArgumentSpec(("-q", "--quiet"), "say nothing", takes="switch"),
        ),
    ),
    CommandSpec(
        "move", "many, then one", "x:move", (ArgumentSpec(("from",), "", many="+"), ArgumentSpec(("to",), "", "TO"))
    ),
    CommandSpec(
        "end",
        "perhaps a word of some, then any",
        "x:end",
        (
            ArgumentSpec(("outcome",), "", choices=("completed", "error"), many="?", default="completed"),
            ArgumentSpec(("facts",), "", many="*"),
        ),
    ),
    CommandSpec("queue add", "a name that is no command before its last word", "x:add", (NAME,)),
)


def said(line: str) -> dict[str, Any]:
    return parse(line.split(), TABLE)


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("agents", "agents"),
        ("agent", "agent"),
        ("agent rio", "agent"),
        ("agent show rio", "agent show"),
        ("agent --json show rio", "agent show"),
        ("agent rio show", ""),
        ("agent -- show", "agent"),
    ],
)
def test_the_longest_name_that_fits_is_meant(line: str, command: str) -> None:
    if command:
        assert said(line)["command"] == command
    else:
        with pytest.raises(BadInput, match="unexpected argument: 'show'"):
            said(line)


def test_after_two_dashes_everything_is_a_word() -> None:
    options = said("agent run rio --type research -- claude -p --json --type x -- y")
    assert (options["name"], options["type"], options["json"]) == ("rio", "research", None)
    assert options["argv"] == ["claude", "-p", "--json", "--type", "x", "--", "y"]


def test_a_dash_is_a_word_and_so_is_a_negative_number() -> None:
    assert said("agent run rio - -1 -.5")["argv"] == ["-", "-1", "-.5"]


def test_options_stand_anywhere() -> None:
    one = said("--json agent run --quiet rio --timeout 5 date")
    other = said("agent run rio date -q --timeout=5 --json")
    assert one == other
    assert (one["quiet"], one["timeout"], one["argv"]) == (True, 5.0, ["date"])


def test_an_option_that_may_be_said_again_is_a_list() -> None:
    assert said("agent run rio --error a --error=b")["error"] == ["a", "b"]
    assert said("agent run rio")["error"] == []


def test_a_value_may_be_empty_or_begin_with_a_dash_if_it_is_joined() -> None:
    assert said("agent run rio --error= --error=--x")["error"] == ["", "--x"]


@pytest.mark.parametrize("line", ["agent search --agent rio {}", "--agent rio agent search {}", "agent search rio {}"])
@pytest.mark.parametrize("query", ["red", "red cube", "in red cube"])
def test_the_agent_of_a_search_is_named_by_the_option_however_many_words_follow(line: str, query: str) -> None:
    options = parse(line.format(query).split(), COMMANDS)
    assert (options["name"], options["query"]) == ("rio", query.split())


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("agent tasks --agent rio", "rio"),
        ("agent tasks rio --agent rio", "rio"),
        ("agent export --agent rio copy", "rio"),
        ("agent export --agent rio rio copy", "rio"),
        ("agent tasks bob --agent rio", ""),
        ("agent export --agent rio bob copy", ""),
    ],
)
def test_an_agent_that_is_named_twice_is_one_agent(line: str, name: str) -> None:
    if name:
        assert parse(line.split(), COMMANDS)["name"] == name
    else:
        with pytest.raises(BadInput, match="--agent names 'rio', NAME is 'bob': give one of them") as caught:
            parse(line.split(), COMMANDS)
        assert caught.value.code == "USAGE"


def test_many_words_leave_the_last_one_to_who_needs_it() -> None:
    options = said("move a b c")
    assert (options["from"], options["to"]) == (["a", "b"], "c")


@pytest.mark.parametrize(
    ("line", "outcome", "facts"),
    [("end", "completed", []), ("end error a=1", "error", ["a=1"]), ("end a=1 b=2", "completed", ["a=1", "b=2"])],
)
def test_a_word_that_is_no_choice_is_left_to_the_next(line: str, outcome: str, facts: list[str]) -> None:
    options = said(line)
    assert (options["outcome"], options["facts"]) == (outcome, facts)


@pytest.mark.parametrize(
    ("line", "why", "mend"),
    [
        ("move a", "missing: TO —", "paos move --help"),
        ("move", "missing: from, TO —", "paos move --help"),
        ("agent show", "missing: NAME", "paos agent show --help"),
        ("agent show a b", r"unexpected argument: 'b' \(expected: NAME\)", ""),
        ("agent show a b c", r"unexpected arguments: 'b', 'c' \(expected: NAME\)", ""),
        ("agents a", r"unexpected argument: 'a' \(expected: none\)", ""),
        ("agent run a --timeout", "--timeout: its value is missing", ""),
        ("agent run a --timeout --json", "--timeout: its value is missing", ""),
        ("agent run a --quiet=yes", "--quiet: takes no value", ""),
        ("agent run a --tiemout 5", "unknown option --tiemout", "did you mean --timeout?"),
        ("agent run a --type x", r"--type: invalid choice: 'x' \(choose from research, ad-hoc\)", ""),
        ("--quiet agents", "unknown option --quiet", "paos --help"),
        ("agnets", "unknown command 'agnets'", "did you mean agents?"),
        ("queue ad", r"unknown command 'ad' \(choose from add\)", "did you mean add?"),
        ("-- agents", "unknown command 'agents'", ""),
    ],
)
def test_what_is_wrong_is_named_with_what_would_be_right(line: str, why: str, mend: str) -> None:
    with pytest.raises(BadInput, match=why) as caught:
        said(line)
    assert mend in caught.value.fix
    assert caught.value.code == "USAGE"


@pytest.mark.parametrize(
    ("line", "same"), [("help", "-h"), ("help queue", "queue -h"), ("help agent run", "agent run -h")]
)
def test_help_is_a_word_too(line: str, same: str, capsys: pytest.CaptureFixture[str]) -> None:
    pages = []
    for words in (line, same):
        with pytest.raises(SystemExit) as ended:
            said(words)
        pages.append((ended.value.code, capsys.readouterr().out))
    assert pages[0] == pages[1] and pages[0][0] == 0
    with pytest.raises(BadInput, match="unknown command 'rnu'"):
        said("help agent rnu")


def test_many_commands_are_not_listed_where_one_is_meant() -> None:
    for word in ("statsu", "xyzzy"):
        with pytest.raises(BadInput) as caught:
            parse([word], COMMANDS)
        assert len(caught.value.found) < 40, caught.value.found


@pytest.mark.parametrize(("line", "code"), [("", 2), ("queue", 2), ("--help", 0), ("queue -h", 0), ("agent run -h", 0)])
def test_help_that_was_asked_for_is_no_error(line: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        said(line)
    assert ended.value.code == code
    assert capsys.readouterr().out.startswith("usage: paos ")


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        said("--json --version")
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("paos ")


def test_a_page_shows_what_stands_below_a_name() -> None:
    assert [line.split()[:2] for line in page("queue", TABLE).splitlines() if line.startswith("  queue")] == [
        ["queue", "add"]
    ]
    assert "agent run" in page("agent", TABLE)
    assert "all of them" not in page("agent", TABLE)


def test_a_page_shows_every_argument_as_it_is_typed() -> None:
    text = page("agent run", TABLE)
    assert text.splitlines()[0] == "usage: paos agent run [OPTIONS] NAME [CMD …]"
    assert [word for word in ("-q, --quiet", "--type research|ad-hoc", "--timeout SECONDS") if word not in text] == []


def test_an_option_that_names_one_thing_names_no_second_one():
    with pytest.raises(BadInput, match=r"--node.*more than once"):
        parse(["do", "--node", "a", "--node", "b", "go", "home"], COMMANDS)
    assert parse(["do", "--node", "a", "--node=a", "go", "home"], COMMANDS)["node"] == "a"
    assert said("agent run rio --timeout 3 --timeout 4")["timeout"] == 4.0, "an alias is overridden"
    assert said("agent run rio --error a --error b")["error"] == ["a", "b"]


@pytest.mark.parametrize(
    "line",
    [
        "stop --nodes a", "stop -a", "--node a stop", "halt", "STOP now", "stop --node", "stop --everything", "estop",
        "stop --json --frob", "停",
    ],
)  # fmt: skip
def test_what_was_to_stop_a_robot_and_is_not_understood_says_that_none_was_stopped(line):
    with pytest.raises(BadInput) as refused:
        parse(line.split(), COMMANDS)
    assert "no robot was stopped" in str(render(refused.value.fix, "en")), line


def test_several_robots_are_named_with_and_without_the_option():
    for line in ("stop a b", "stop --node a --node b", "stop a --node b", "resume a b"):
        given = parse(line.split(), COMMANDS)
        assert sorted([*given["node"], *given["robot"]]) == ["a", "b"], line
