"""The command line's grammar, read off the table."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any, NoReturn

from worldfs import __version__
from worldfs.ground.errors import BadInput

from .table import GLOBAL, Argument, Command


class _Help(argparse.RawDescriptionHelpFormatter):
    """argparse makes one for each argument; told its width it loads nothing to find it out."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_width())


def _width() -> int:
    try:
        return os.get_terminal_size().columns - 2
    except OSError:
        return 118


class _Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Help, **options)

    def error(self, message: str) -> NoReturn:
        raise BadInput(message, op=self.prog, fix=f"see: {self.prog} --help", code="USAGE")


def parse(argv: Sequence[str], table: Sequence[Command]) -> dict[str, Any]:
    """Options by name, with "command" and "target"; `BadInput` (code USAGE) for what the table does not know."""
    common = _Parser(add_help=False)
    for argument in GLOBAL:
        _add(common, argument, default=argparse.SUPPRESS)  # so that either side of the command's name may set it
    top = _Parser(
        prog="paos",
        description="An operating system for agents whose whole interface is files.",
        parents=[common],
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"paos {__version__}", help="print the version")
    # `prog` is given, or argparse would load a formatter to find it out. Commands whose names do not stand in the call
    # cannot be meant: their parsers are made only when none does, for the help and the error to name them all.
    commands = top.add_subparsers(metavar="COMMAND", parser_class=_Parser, prog="paos")
    for command in [item for item in table if item.name in argv] or table:
        sub = commands.add_parser(
            command.name,
            help=command.help,
            description=f"{command.help}. {command.more}".strip(),
            parents=[common],
            allow_abbrev=False,
        )
        for argument in command.arguments:
            _add(sub, argument, default=argument.default)
        sub.set_defaults(command=command.name, target=command.target)
    options = {"command": "", "target": ""} | {_name(a): None for a in GLOBAL} | vars(top.parse_args(argv))
    if not options["command"]:
        top.print_help()
        raise SystemExit(2)
    return options


def _name(argument: Argument) -> str:
    return argument.flags[-1].lstrip("-").replace("-", "_")


def _add(parser: argparse.ArgumentParser, argument: Argument, default: object) -> None:
    if argument.takes == "switch":
        parser.add_argument(
            *argument.flags,
            dest=_name(argument),
            help=argument.help,
            action="store_true",
            default=False if default is None else default,
        )
        return
    more: dict[str, Any] = {"help": argument.help, "default": default}
    if argument.choices:
        more["choices"] = argument.choices
    if argument.metavar:
        more["metavar"] = argument.metavar
    if argument.takes != "text":
        more["type"] = {"number": _seconds, "count": _count}[argument.takes]
    if argument.many:
        more["nargs"] = argument.many
    if not argument.positional:
        more["dest"] = _name(argument)
    parser.add_argument(*argument.flags, **more)


def _seconds(text: str) -> float:
    value = float(text) if text.strip().lower() not in ("nan", "-nan") else -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a number of seconds, 0 or more")
    return value


def _count(text: str) -> int:
    if not text.strip().isdecimal():
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a whole number, 0 or more")
    return int(text)
