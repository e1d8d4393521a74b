"""Shell completion, generated from the table of commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .command_context import CommandContext
from .command_spec import ArgumentSpec, CommandSpec
from .command_table import COMMANDS, GLOBAL, ROLES
from .help_pages import help_text


def run(context: CommandContext) -> int:
    text = script(context["shell"])
    context.output.lines(text)
    context.output.value({"shell": context["shell"], "script": text})
    return 0


def script(shell: str) -> str:
    """The completion script for bash, zsh or fish."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]()


_LIST = "paos ls 2>/dev/null"  # the paths of the tree; no output without a workspace
# The agents: a listing of their directory, which is quick. `sh`, because fish has no `:-`.
_AGENTS = """sh -c 'ls "${PAOS_AGENTS:-${PAOS_HOME:-$HOME/.PhyAgentOS}/agents}" 2>/dev/null'"""
_LISTS = {"tree": _LIST, "agent": _AGENTS}


def _flags(command: CommandSpec) -> Iterator[str]:
    for argument in (*command.arguments, *GLOBAL):
        if not argument.positional:
            yield from argument.flags


def _words(argument: ArgumentSpec) -> tuple[str, ...]:
    return ROLES if argument.completes == "role" else argument.choices


def _firsts() -> dict[str, str]:
    """First words of commands, with a word of help: a command's own, or what may follow."""
    found: dict[str, str] = {}
    for command in COMMANDS:
        first, _, rest = command.name.partition(" ")
        found.setdefault(first, help_text(command.help) if not rest else f"{first} {', '.join(_seconds(first))}")
    return found


def _seconds(first: str) -> dict[str, str]:
    """Second words after this one, with their help."""
    return {c.name.partition(" ")[2]: help_text(c.help) for c in COMMANDS if c.name.startswith(f"{first} ")}


def _groups() -> list[str]:
    return [first for first in _firsts() if _seconds(first)]


def _bash() -> str:
    valued: dict[str, dict[str, str]] = {}  # flag → command → what may follow it
    for command in COMMANDS:
        for a in (*GLOBAL, *command.arguments):
            if not a.positional and a.takes != "switch":
                for flag in a.flags:
                    valued.setdefault(flag, {})[command.name] = _bash_values(a)
    lines = [
        '# paos completion for bash: eval "$(paos completion bash)"',
        "_paos() {",
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= at=0 i",
        f'    local valued=" {" ".join(sorted(valued))} "',
        "    for ((i = 1; i < COMP_CWORD; i++)); do",
        '        [[ ${COMP_WORDS[i]} == -* || $valued == *" ${COMP_WORDS[i-1]} "* ]] && continue',
        '        case "${command:+$command }${COMP_WORDS[i]}" in',
        "            " + "|".join(f'"{name}"' for name in (*_groups(), *(c.name for c in COMMANDS))) + ")",
        '                command="${command:+$command }${COMP_WORDS[i]}";;',
        "            *) at=$((at + 1));;",
        "        esac",
        "    done",
        "    COMPREPLY=()",
        '    case "$command $before" in',
    ]
    for flag, by_command in sorted(valued.items()):
        if len(set(by_command.values())) == 1:
            lines.append(f'        *" {flag}") {next(iter(by_command.values()))}; return;;')
        else:
            lines += [f'        "{name} {flag}") {values}; return;;' for name, values in by_command.items()]
    lines += ["    esac", "    if [[ $word == -* ]]; then", "        case $command in"]
    for command in COMMANDS:
        flags = " ".join(_flags(command))
        lines.append(f'            "{command.name}") COMPREPLY=($(compgen -W "{flags}" -- "$word"));;')
    everywhere = " ".join(flag for argument in GLOBAL for flag in argument.flags)
    lines += [
        f'            *) COMPREPLY=($(compgen -W "{everywhere}" -- "$word"));;',
        "        esac",
        "        return",
        "    fi",
        '    case "$command $at" in',
    ]
    for command in COMMANDS:
        for place, argument in enumerate(a for a in command.arguments if a.positional):
            which = "*" if argument.many in ("+", "*") else str(place)
            if argument.completes or argument.choices:
                lines.append(f'        "{command.name} "{which}) {_bash_values(argument)};;')
    lines += [f'        "{first} 0") {_bash_words(_seconds(first))};;' for first in _groups()]
    lines += [
        f'        " 0") {_bash_words(_firsts())};;',
        "    esac",
        "}",
        "complete -F _paos paos",
    ]
    return "\n".join(lines)


def _bash_words(words: Iterable[str]) -> str:
    return f'COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$word"))'


def _bash_values(argument: ArgumentSpec) -> str:
    words = _words(argument)
    if words:
        return _bash_words(words)
    if argument.completes == "file":
        return 'COMPREPLY=($(compgen -f -- "$word"))'
    if argument.completes in _LISTS:
        return f'COMPREPLY=($(compgen -W "$({_LISTS[argument.completes]})" -- "$word"))'
    return ":"


def _zsh() -> str:
    lines = [
        "#compdef paos",
        "# paos completion for zsh: paos completion zsh > some directory of $fpath/_paos",
        "_paos() {",
    ]
    lines += ["    local -a commands", "    commands=("]
    lines += [f"        {_zsh_described(first, about)}" for first, about in _firsts().items()]
    lines += ["    )", "    _arguments -C \\"]
    lines += [f"        {_zsh_option(a)} \\" for a in GLOBAL]
    lines += [
        "        '1:command:->command' '*::argument:->argument'",
        "    case $state in",
        "        command) _describe command commands;;",
        "        argument) case $words[1] in",
    ]
    lines += [f"            {_zsh_case(c)}" for c in COMMANDS if " " not in c.name]
    for first in _groups():
        lines += [
            f"            {first})",
            "                if (( CURRENT == 2 )); then",
            "                    commands=(",
        ]
        lines += [f"                        {_zsh_described(word, about)}" for word, about in _seconds(first).items()]
        lines += [
            "                    )",
            "                    _describe command commands",
            "                else",
            "                    shift words; (( CURRENT-- ))",
            f'                    case "{first} $words[1]" in',
        ]
        lines += [f"                        {_zsh_case(c)}" for c in COMMANDS if c.name.startswith(f"{first} ")]
        lines += ["                    esac", "                fi;;"]
    lines += [
        "        esac;;",
        "    esac",
        "}",
        'if [ "$funcstack[1]" = _paos ]; then _paos "$@"; else compdef _paos paos; fi',
    ]
    return "\n".join(lines)


def _zsh_described(word: str, about: str) -> str:
    return _single(f"{word}:{about}")


def _zsh_case(command: CommandSpec) -> str:
    specs = [_zsh_option(a) for a in (*command.arguments, *GLOBAL) if not a.positional]
    specs += [
        _single(f"{'*' if a.many in ('+', '*') else ''}:{a.flags[0]}:{_zsh_values(a)}")
        for a in command.arguments
        if a.positional
    ]
    return f'"{command.name}") _arguments {" ".join(specs)};;'


def _zsh_option(argument: ArgumentSpec) -> str:
    text = help_text(argument.help).replace("[", "(").replace("]", ")").replace(":", " ")
    value = "" if argument.takes == "switch" else f":{argument.metavar or 'value'}:{_zsh_values(argument)}"
    return " ".join(_single(f"{flag}[{text}]{value}") for flag in argument.flags)


def _zsh_values(argument: ArgumentSpec) -> str:
    words = _words(argument)
    if words:
        return f"({' '.join(words)})"
    if argument.completes in _LISTS:
        return '{compadd -- ${(f)"$(' + _LISTS[argument.completes] + ')"}}'
    return "_files" if argument.completes == "file" else " "


def _fish() -> str:
    lines = ["# paos completion for fish: paos completion fish | source", "complete -c paos -f"]
    lines += [_fish_option(argument, "") for argument in GLOBAL]
    for first, about in _firsts().items():
        lines.append(f"complete -c paos -n __fish_use_subcommand -a {first} -d {_single(about)}")
    for first in _groups():
        seen = f"__fish_seen_subcommand_from {first}"
        when = _single(f"{seen}; and not __fish_seen_subcommand_from {' '.join(_seconds(first))}")
        for word, about in _seconds(first).items():
            lines.append(f"complete -c paos -n {when} -a {word} -d {_single(about)}")
    for command in COMMANDS:
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in command.name.split())
        lines.append(f"# {command.name}")
        when = f" -n {_single(seen)}"
        for argument in command.arguments:
            if not argument.positional:
                lines.append(_fish_option(argument, when))
            elif values := _fish_values(argument):
                lines.append(f"complete -c paos{when}{values}")
    return "\n".join(lines)


def _fish_option(argument: ArgumentSpec, when: str) -> str:
    names = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in argument.flags)
    # -x: a value and no file names beside it.
    values = _fish_values(argument)
    needs = "" if argument.takes == "switch" else f" -r{values}" if argument.completes == "file" else f" -x{values}"
    return f"complete -c paos{when} {names}{needs} -d {_single(help_text(argument.help))}"


def _fish_values(argument: ArgumentSpec) -> str:
    words = _words(argument)
    if words:
        return f" -a {_single(' '.join(words))}"
    if argument.completes in _LISTS:
        return f" -a {_single(f'({_LISTS[argument.completes]})')}"
    return " -F" if argument.completes == "file" else ""


def _single(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
