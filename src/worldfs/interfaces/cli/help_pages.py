"""The help pages, generated from the table of commands."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from .command_spec import ArgumentSpec, CommandSpec
from .command_table import GLOBAL

_ABOUT = "An operating system for agents whose whole interface is files."
_COLUMN = 26  # column of the descriptions
_NARROW = 70  # a terminal below this has it on a line of its own
_EVERYWHERE = (("-h, --help", "print this page"), ("--version", "print the version"))


def page(name: str, table: Sequence[CommandSpec]) -> str:
    """Help for the command of that name, for the commands whose names begin so, or, for "", for all."""
    for command in table:
        if command.name == name:
            return "\n".join(_one(command, table))
    return "\n".join(_many(name, table))


def _one(command: CommandSpec, table: Sequence[CommandSpec]) -> Iterator[str]:
    words = [item for item in command.arguments if item.positional]
    options = [item for item in command.arguments if not item.positional]
    usage = " ".join([command.name, *(["[OPTIONS]"] if options else []), *map(_place, words)])
    yield from wrap(f"usage: paos {usage}", _width(), subsequent_indent="    ", break_on_hyphens=False)
    yield ""
    yield from wrap(f"{command.help}.", _width())
    if command.more:
        yield from wrap(command.more, _width())
    yield from _list("arguments", ((_metavar(item), item.help) for item in words))
    yield from _list("options", map(_option, options))
    yield from _list("options of every command", [*map(_option, GLOBAL), _EVERYWHERE[0]])
    below = [item for item in table if item.name.startswith(f"{command.name} ")]
    yield from _list("commands", ((item.name, item.help) for item in below))


def _many(name: str, table: Sequence[CommandSpec]) -> Iterator[str]:
    yield f"usage: paos [OPTIONS] {name} COMMAND …".replace("  ", " ")
    if not name:
        yield from ("", *wrap(_ABOUT, _width()))
    listed = [item for item in table if item.name.startswith(f"{name} ")] if name else table
    yield from _list("commands", ((item.name, item.help) for item in listed))
    yield from _list("options", [*map(_option, GLOBAL), *(_EVERYWHERE if not name else _EVERYWHERE[:1])])


def _place(argument: ArgumentSpec) -> str:
    """As the usage line shows it."""
    form = {"": "{}", "?": "[{}]", "+": "{} …", "*": "[{} …]"}[argument.many]
    return form.format(_metavar(argument))


def _metavar(argument: ArgumentSpec) -> str:
    return argument.metavar or "|".join(argument.choices) or argument.flags[0].lstrip("-").upper()


def _option(argument: ArgumentSpec) -> tuple[str, str]:
    value = "" if argument.takes == "switch" else f" {_metavar(argument)}"
    return ", ".join(argument.flags) + value, argument.help


def _list(title: str, rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    rows = list(rows)
    if rows:
        yield ""
        yield f"{title}:"
    column = _COLUMN if _width() >= _NARROW else 6
    for what, about in rows:
        head = f"  {what}"
        if len(head) > column - 2:
            yield from wrap(head, _width(), subsequent_indent="    ", break_on_hyphens=False)
            head = ""
        lines = wrap(about, max(_width() - column, 20))
        yield head.ljust(column) + (lines[0] if lines else "")
        yield from (" " * column + line for line in lines[1:])


def _width() -> int:
    try:
        return os.get_terminal_size().columns - 2
    except OSError:
        return 118
