"""Shell completion, generated from the table of commands."""

from __future__ import annotations

from collections.abc import Iterator

from .call import Call
from .command import Argument, Command
from .table import COMMANDS, GLOBAL, ROLES


def run(call: Call) -> int:
    text = script(call["shell"])
    call.voice.line(text)
    call.voice.value({"shell": call["shell"], "script": text})
    return 0


def script(shell: str) -> str:
    """The completion script for bash, zsh or fish."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]()


_LIST = "paos ls 2>/dev/null"  # what a tree path may be; silent where there is no workspace


def _flags(command: Command) -> Iterator[str]:
    for argument in (*command.arguments, *GLOBAL):
        if not argument.positional:
            yield from argument.flags


def _words(argument: Argument) -> tuple[str, ...]:
    return ROLES if argument.completes == "role" else argument.choices


def _positional(command: Command) -> Argument | None:
    return next((argument for argument in command.arguments if argument.positional), None)


def _bash() -> str:
    lines = [
        '# paos completion for bash: eval "$(paos completion bash)"',
        "_paos() {",
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= i",
        "    for ((i = 1; i < COMP_CWORD; i++)); do",
        "        case ${COMP_WORDS[i]} in",
        "            " + "|".join(c.name for c in COMMANDS) + ") command=${COMP_WORDS[i]}; break;;",
        "        esac",
        "    done",
        "    COMPREPLY=()",
        "    case $before in",
    ]
    valued = {
        a.flags[-1]: a for c in COMMANDS for a in (*GLOBAL, *c.arguments) if not a.positional and a.takes != "switch"
    }
    for flag, argument in sorted(valued.items()):
        lines.append(f"        {flag}) {_bash_values(argument)}; return;;")
    lines += ["    esac", "    if [[ $word == -* ]]; then", "        case $command in"]
    for command in COMMANDS:
        flags = " ".join(_flags(command))
        lines.append(f'            {command.name}) COMPREPLY=($(compgen -W "{flags}" -- "$word"));;')
    everywhere = " ".join(flag for argument in GLOBAL for flag in argument.flags)
    lines += [
        f'            *) COMPREPLY=($(compgen -W "{everywhere}" -- "$word"));;',
        "        esac",
        "        return",
        "    fi",
        "    case $command in",
    ]
    for command in COMMANDS:
        first = _positional(command)
        if first is not None and (first.completes or first.choices):
            lines.append(f"        {command.name}) {_bash_values(first)};;")
    names = " ".join(c.name for c in COMMANDS)
    lines += [
        f'        "") COMPREPLY=($(compgen -W "{names}" -- "$word"));;',
        "    esac",
        "}",
        "complete -F _paos paos",
    ]
    return "\n".join(lines)


def _bash_values(argument: Argument) -> str:
    words = _words(argument)
    if words:
        return f'COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$word"))'
    if argument.completes == "file":
        return 'COMPREPLY=($(compgen -f -- "$word"))'
    if argument.completes == "tree":
        return f'COMPREPLY=($(compgen -W "$({_LIST})" -- "$word"))'
    return ":"


def _zsh() -> str:
    lines = [
        "#compdef paos",
        "# paos completion for zsh: paos completion zsh > some directory of $fpath/_paos",
        "_paos() {",
    ]
    lines += ["    local -a commands", "    commands=("]
    lines += [f"        {_single(f'{c.name}:{c.help}')}" for c in COMMANDS]
    lines += ["    )", "    _arguments -C \\"]
    lines += [f"        {_zsh_option(a)} \\" for a in GLOBAL]
    lines += [
        "        '1:command:->command' '*::argument:->argument'",
        "    case $state in",
        "        command) _describe command commands;;",
        "        argument) case $words[1] in",
    ]
    for command in COMMANDS:
        specs = [_zsh_option(a) for a in (*command.arguments, *GLOBAL) if not a.positional]
        specs += [
            f"'{'*' if a.many in ('+', '*') else ''}:{a.flags[0]}:{_zsh_values(a)}'"
            for a in command.arguments
            if a.positional
        ]
        lines.append(f"            {command.name}) _arguments {' '.join(specs)};;")
    lines += [
        "        esac;;",
        "    esac",
        "}",
        'if [ "$funcstack[1]" = _paos ]; then _paos "$@"; else compdef _paos paos; fi',
    ]
    return "\n".join(lines)


def _zsh_option(argument: Argument) -> str:
    text = argument.help.replace("[", "(").replace("]", ")").replace(":", " ")
    value = "" if argument.takes == "switch" else f":{argument.metavar or 'value'}:{_zsh_values(argument)}"
    return " ".join(_single(f"{flag}[{text}]{value}") for flag in argument.flags)


def _zsh_values(argument: Argument) -> str:
    words = _words(argument)
    if words:
        return f"({' '.join(words)})"
    return {"file": "_files", "tree": '{compadd -- ${(f)"$(' + _LIST + ')"}}'}.get(argument.completes, " ")


def _fish() -> str:
    lines = ["# paos completion for fish: paos completion fish | source", "complete -c paos -f"]
    lines += [_fish_option(argument, "") for argument in GLOBAL]
    for command in COMMANDS:
        lines.append(f"complete -c paos -n __fish_use_subcommand -a {command.name} -d {_single(command.help)}")
        when = f" -n {_single(f'__fish_seen_subcommand_from {command.name}')}"
        for argument in command.arguments:
            if not argument.positional:
                lines.append(_fish_option(argument, when))
            elif values := _fish_values(argument):
                lines.append(f"complete -c paos{when}{values}")
    return "\n".join(lines)


def _fish_option(argument: Argument, when: str) -> str:
    names = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in argument.flags)
    # -x: a value and no file names beside it.
    values = _fish_values(argument)
    needs = "" if argument.takes == "switch" else f" -r{values}" if argument.completes == "file" else f" -x{values}"
    return f"complete -c paos{when} {names}{needs} -d {_single(argument.help)}"


def _fish_values(argument: Argument) -> str:
    words = _words(argument)
    if words:
        return f" -a {_single(' '.join(words))}"
    return {"file": " -F", "tree": f" -a {_single(f'({_LIST})')}"}.get(argument.completes, "")


def _single(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
