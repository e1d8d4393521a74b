"""The declaration of a command line: a command and its arguments."""

# The annotations are evaluated: typing.NamedTuple compiles each that is text, which takes longer.

from typing import NamedTuple


class ArgumentSpec(NamedTuple):
    """One argument: flags ("--seed") or a bare name ("path"), and what argparse and the completion need to know."""

    flags: tuple[str, ...]
    help: str  # a code of help_messages.py
    metavar: str = ""
    takes: str = "text"  # text | number | count | switch: what its value is
    completes: str = ""  # file | tree | job | role: what a shell may offer for its value
    choices: tuple[str, ...] = ()
    default: object = None
    many: str = ""  # "" exactly one, "?" may be left out, "+" one or more, "*" any number; an option's is --flag=VALUE

    @property
    def positional(self) -> bool:
        return not self.flags[0].startswith("-")


class CommandSpec(NamedTuple):
    name: str
    help: str  # a code of help_messages.py
    target: str  # "module:function" below this package
    arguments: tuple[ArgumentSpec, ...] = ()
    more: str = ""  # a second paragraph of help, as a code
    remote: str = ""  # "module:function" under --connect; none: does not work over --connect
    instead: str = ""  # then: the code of what does the same over --connect
    reads: bool = False  # it needs an agent that exists: an --agent that is not there is refused
