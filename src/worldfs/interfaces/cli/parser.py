"""The command line's parser, driven by the table of commands.

    paos [OPTION …] COMMAND [OPTION … | WORD …] [-- WORD …]

Written out, because the standard parser takes longer to load and to set up than a reading command takes to answer.
Options stand anywhere and are never abbreviated; `--name=value` is `--name value`. After `--` everything is a
positional word. A command's name may have several words ("agent show"): the longest name that fits is meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

from worldfs import __version__
from worldfs.base.errors import BadInput
from worldfs.base.json_values import as_list
from worldfs.base.messages import coded

from .command_spec import ArgumentSpec, CommandSpec
from .command_table import GLOBAL, ROLES

HELP = ("-h", "--help")
MOST_NAMED = 12  # commands that an error lists


def parse(
    argv: Sequence[str], table: Sequence[CommandSpec], served: str = "", language: Callable[[], str] = lambda: "en"
) -> dict[str, object]:
    """As `_parsed`. What is meant to stop a robot and is not understood says that none was stopped."""
    try:
        return _parsed(argv, table, served, language)
    except BadInput as error:
        from worldfs.base.stop_words import has_stop_word

        if has_stop_word(" ".join(argv[:MOST_NAMED])):
            error.fix = coded("command.nothing_stopped", fix=error.fix)
        raise


def _parsed(
    argv: Sequence[str], table: Sequence[CommandSpec], served: str, language: Callable[[], str]
) -> dict[str, object]:
    """Options by name, with "command" and "target"; `BadInput` (code USAGE) for what is not in the table.

    `served`: the default of --connect for commands that work over it. `language`: of a help page. `SystemExit` where
    the answer is a page: 0 if help or the version was asked for, 2 if there is no command.
    """
    name = ""  # the options parsed so far
    command: CommandSpec | None = None
    known = _options(GLOBAL)
    given: dict[str, object] = {}
    words: list[str] = []
    rest = iter(argv)
    for word in rest:
        if word == "--":
            words += rest
        elif _is_option(word):
            flag, joined, value = word.partition("=") if word.startswith("--") else (word, "", "")
            if flag in HELP:
                _page(name, table, 0, language())
            if flag == "--version" and not name:
                _version()
            option = known.get(flag)
            if option is None:
                raise _wrong(coded("command.unknown_option", flag=flag), name, _likely(flag, known))
            if option.takes == "switch" or (option.many == "?" and not joined):
                if joined:
                    raise _wrong(coded("command.no_value", flag=flag, value=value), name)
                given[_name(option)] = True
            else:
                text = value if joined else next(rest, None)
                if text is None or (not joined and (text == "--" or _is_option(text))):
                    raise _wrong(coded("command.value_missing", flag=flag), name)
                said_value = _value(option, text, name)
                if option.metavar == "ID" and not option.many and given.get(_name(option), said_value) != said_value:
                    raise _wrong(coded("command.given_twice", flag=flag), name)  # which of the two would it be for?
                _keep(given, option, said_value)
        elif not words and (longer := f"{name} {word}".lstrip()) and _begins(longer, table):
            name = longer
            command = next((item for item in table if item.name == name), None)
            known = _options((*command.arguments, *GLOBAL) if command else GLOBAL)
        elif command is None and word == "help" and not name:
            _page(_named(list(rest), table), table, 0, language())
        elif command is None:
            raise _unknown(word, name, table)
        else:
            words.append(word)
    if command is None:
        if words:
            raise _unknown(words[0], name, table)
        _page(name, table, 2, language())
    unsaid = {_name(item): _unsaid(item) for item in command.arguments}
    top = {_name(item): None for item in GLOBAL}
    here = [f"--{word}" for word in ("workspace", "agents") if given.get(word)]  # places on this disk
    said = given.get("connect")
    if served and not here:
        given.setdefault("connect", served)
    if given.get("as") and given["as"] not in ROLES:
        likely = _likely(str(given["as"]), ROLES)
        raise _wrong(coded("command.no_role", role=given["as"], roles=list(ROLES)), name, likely)
    target = command.remote if given.get("connect") else command.target
    if said and here and target:
        raise _wrong(coded("command.two_places", flag=here[0]), name)
    if not target:
        raise _near(command, "--connect" if said else f"$PAOS_CONNECT ({served})")
    if command.reads and given.get("agent") and _names_agent(command):
        words = _with_agent(str(given["agent"]), words, command)
    found = {"command": name, "target": target, "reads": command.reads}
    return found | top | unsaid | given | _deal(words, command)


def _options(arguments: Iterable[ArgumentSpec]) -> dict[str, ArgumentSpec]:
    return {flag: item for item in arguments if not item.positional for flag in item.flags}


def _is_option(word: str) -> bool:
    """`-` is a file and `-1` a number."""
    return len(word) > 1 and word[0] == "-" and not (word[1].isdigit() or word[1] == ".")


def _begins(name: str, table: Sequence[CommandSpec]) -> bool:
    return any(item.name == name or item.name.startswith(name + " ") for item in table)


def _name(argument: ArgumentSpec) -> str:
    return argument.flags[-1].lstrip("-").replace("-", "_")


def _unsaid(argument: ArgumentSpec) -> object:
    if argument.takes == "switch":
        return bool(argument.default)
    return [] if argument.many in ("+", "*") and argument.default is None else argument.default


def _keep(given: dict[str, object], option: ArgumentSpec, value: object) -> None:
    if option.many in ("+", "*"):  # it may be repeated
        given[_name(option)] = [*as_list(given.get(_name(option))), value]
    else:
        given[_name(option)] = value


def _needed(command: CommandSpec) -> int:
    """How many positional words it cannot do without."""
    return sum(1 for item in command.arguments if item.positional and item.many in ("", "+"))


def _names_agent(command: CommandSpec) -> bool:
    """Whether its first word is the agent whose state it shows, which may be named with --agent as well."""
    return any(item.positional and item.completes == "agent" for item in command.arguments[:1])


def _with_agent(agent: str, words: list[str], command: CommandSpec) -> list[str]:
    """The words with the agent that --agent names as the first of them, unless it is there already. Of a command that
    takes any number of words (a search) it is never there: they are all for what follows the name."""
    name, *rest = (item for item in command.arguments if item.positional)
    if len(words) < _needed(command) or any(item.many in ("+", "*") for item in rest):
        return [agent, *words]
    if words[0] != agent:
        raise _wrong(coded("command.two_agents", agent=agent, name=_shown(name), word=words[0]), command.name)
    return words


def _deal(words: Sequence[str], command: CommandSpec) -> dict[str, object]:
    """Assign the words to the positional arguments in order: each takes what it can and leaves enough for the next."""
    wanted = [item for item in command.arguments if item.positional]
    needed = [item for item in wanted if item.many in ("", "+")]
    if len(words) < len(needed):  # the first arguments are assigned
        raise _wrong(coded("command.missing", names=[*map(_shown, needed[len(words) :])]), command.name)
    dealt: dict[str, object] = {}
    at = 0
    for place, item in enumerate(wanted):
        due = sum(1 for later in wanted[place + 1 :] if later.many in ("", "+"))
        free = len(words) - at - due
        most = free if item.many in ("+", "*") else min(free, 1)
        if (
            item.many == "?"
            and item.choices
            and place + 1 < len(wanted)
            and not set(words[at : at + 1]) & {*item.choices}
        ):
            most = 0  # the word is for the next one: `agent end rio cost=3`
        taken = words[at : at + most]
        at += len(taken)
        values = [_value(item, text, command.name) for text in taken]
        if item.many in ("+", "*"):
            dealt[_name(item)] = values or _unsaid(item)
        elif values:
            dealt[_name(item)] = values[0]
    if at < len(words):
        takes = ", ".join(map(_shown, wanted)) or "none"
        surplus = ", ".join(map(repr, words[at:]))
        code = "command.surplus_several" if len(words) - at > 1 else "command.surplus"
        raise _wrong(coded(code, words=surplus, takes=takes), command.name)
    return dealt


def _value(argument: ArgumentSpec, text: str, command: str) -> object:
    if argument.choices and text not in argument.choices:
        choices = list(argument.choices)
        raise _wrong(coded("command.bad_choice", name=_shown(argument), text=text, choices=choices), command)
    if argument.takes == "number":
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value < float("inf"):  # `nan` is not
            raise _wrong(coded("command.not_number", name=_shown(argument), text=text), command)
        return value
    if argument.takes == "count":
        if not text.strip().isdecimal():
            raise _wrong(coded("command.not_whole", name=_shown(argument), text=text), command)
        return int(text)
    return text


def _shown(argument: ArgumentSpec) -> str:
    return (argument.metavar or argument.flags[0]) if argument.positional else "/".join(argument.flags)


def _unknown(word: str, name: str, table: Sequence[CommandSpec]) -> BadInput:
    """An unknown word where a command's name, or its next word, is expected."""
    start = f"{name} " if name else ""
    choices = dict.fromkeys(item.name[len(start) :].split()[0] for item in table if item.name.startswith(start))
    likely = _likely(word, choices)
    if len(choices) > MOST_NAMED:
        return _wrong(coded("command.unknown_command", word=word), name, likely)
    return _wrong(coded("command.no_command", word=word, choices=list(choices)), name, likely)


def _named(words: Sequence[str], table: Sequence[CommandSpec]) -> str:
    """The command, or the beginning of some, that the words after `help` name."""
    name = ""
    for word in words:
        if not _begins(longer := f"{name} {word}".lstrip(), table):
            raise _unknown(word, name, table)
        name = longer
    return name


def _likely(word: str, choices: Iterable[str]) -> str:
    from difflib import get_close_matches

    return "".join(get_close_matches(word, list(choices), 1))


def _wrong(found: str, name: str, likely: str = "") -> BadInput:
    called = f"paos {name}".strip()
    see = coded("command.see", command=called)
    fix = coded("command.did_you_mean_see", likely=likely, see=see) if likely else see
    return BadInput(found, op=called, fix=fix, code="USAGE")


def _near(command: CommandSpec, asked: str) -> BadInput:
    """For a command that does not work over --connect: how to run it locally, and what does the same there."""
    unset = coded("command.unset_connect", command=command.name)
    fix = coded("command.leave_connect") if asked == "--connect" else unset
    fix = coded("command.instead", fix=fix, instead=coded(command.instead)) if command.instead else fix
    return BadInput(
        coded("command.not_connected", command=command.name, asked=asked),
        op=f"paos {command.name}",
        fix=fix,
        code="USAGE",
    )


def _page(name: str, table: Sequence[CommandSpec], code: int, language: str) -> NoReturn:
    from .help_pages import page

    print(page(name, table, language))
    raise SystemExit(code)


def _version() -> NoReturn:
    print(f"paos {__version__}")
    raise SystemExit(0)
