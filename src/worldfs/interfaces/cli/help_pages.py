"""The help pages, generated from the table of commands."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from .command_output import wrapped
from .command_spec import ArgumentSpec, CommandSpec
from .command_table import GLOBAL
from .help_messages import ROWS

_COLUMN = 26  # column of the descriptions
_NARROW = 70  # a terminal below this has it on a line of its own
_EVERYWHERE = (("-h, --help", "help.print_help"), ("--version", "help.print_version"))


def help_text(code: str, language: str = "en") -> str:
    """A text of the table in that language; one without a row, as other tables have, stays as it is."""
    return ROWS.get(code, (code, code))[language.startswith("zh")]


def page(name: str, table: Sequence[CommandSpec], language: str = "en") -> str:
    """Help for the command of that name, for the commands whose names begin so, or, for "", for all."""
    for command in table:
        if command.name == name:
            return "\n".join(_one(command, table, language))
    return "\n".join(_many(name, table, language))


def _one(command: CommandSpec, table: Sequence[CommandSpec], language: str) -> Iterator[str]:
    words = [item for item in command.arguments if item.positional]
    options = [item for item in command.arguments if not item.positional]
    usage = " ".join([command.name, *(["[OPTIONS]"] if options else []), *map(_place, words)])
    yield from _lines(f"{help_text('help.usage', language)}paos {usage}", _width())
    yield ""
    yield from _lines(help_text(command.help, language) + help_text("help.end", language), _width(), 0)
    if command.more:
        yield from _lines(help_text(command.more, language), _width(), 0)
    yield from _list("help.arguments", ((_metavar(item), item.help) for item in words), language)
    yield from _list("help.options", map(_option, options), language)
    yield from _list("help.everywhere", [*map(_option, GLOBAL), _EVERYWHERE[0]], language)
    below = [item for item in table if item.name.startswith(f"{command.name} ")]
    yield from _list("help.commands", ((item.name, item.help) for item in below), language)


def _many(name: str, table: Sequence[CommandSpec], language: str) -> Iterator[str]:
    yield f"{help_text('help.usage', language)}paos [OPTIONS] {name} COMMAND …".replace("  ", " ")
    if not name:
        yield from ("", *_lines(help_text("help.about", language), _width(), 0))
    listed = [item for item in table if item.name.startswith(f"{name} ")] if name else table
    yield from _list("help.commands", ((item.name, item.help) for item in listed), language)
    yield from _list("help.options", [*map(_option, GLOBAL), *(_EVERYWHERE if not name else _EVERYWHERE[:1])], language)


def _place(argument: ArgumentSpec) -> str:
    """As the usage line shows it."""
    form = {"": "{}", "?": "[{}]", "+": "{} …", "*": "[{} …]"}[argument.many]
    return form.format(_metavar(argument))


def _metavar(argument: ArgumentSpec) -> str:
    return argument.metavar or "|".join(argument.choices) or argument.flags[0].lstrip("-").upper()


def _option(argument: ArgumentSpec) -> tuple[str, str]:
    value = "" if argument.takes == "switch" else f" {_metavar(argument)}"
    return ", ".join(argument.flags) + value, argument.help


def _list(title: str, rows: Iterable[tuple[str, str]], language: str) -> Iterator[str]:
    rows = list(rows)
    if rows:
        yield ""
        yield help_text(title, language)
    column = _COLUMN if _width() >= _NARROW else 6
    for what, about in rows:
        head = f"  {what}"
        if len(head) > column - 2:
            yield from _lines(head, _width(), 2)
            head = ""
        first, *more = _lines(help_text(about, language), max(_width() - column, 20), 0)
        yield (head.ljust(column) + first).rstrip()
        yield from (" " * column + line for line in more)


def _lines(text: str, width: int, hang: int = 4) -> Iterator[str]:
    """As `wrapped`, and no line is wider, whatever its words."""
    for line in wrapped(text, width, hang):
        yield line[:width]
        yield from (" " * hang + line[at : at + width - hang] for at in range(width, len(line), width - hang))


def _width() -> int:
    try:
        return os.get_terminal_size().columns - 2
    except OSError:
        return 118
