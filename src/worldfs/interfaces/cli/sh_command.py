"""`paos sh`: a shell whose files are the tree, in this process and without a mount."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

from worldfs.base.clock import SystemClock
from worldfs.base.errors import BadInput
from worldfs.base.extras import require
from worldfs.base.messages import coded

from .command_context import CommandContext
from .command_output import visible
from .exits import DONE
from .posix_tree import posix_tree, require_home

if TYPE_CHECKING:
    from worldfs.interfaces.shell.tree_shell import ShellResult, TreeShell


def run(context: CommandContext) -> int:
    """The exit code of the script; at a prompt, of the last one."""
    require("shell", op="sh")
    from worldfs.interfaces.shell.tree_shell import TreeShell

    script = _script(context)
    if not context["connect"]:
        require_home(context)
    shell = TreeShell(lambda: posix_tree(context), SystemClock(), user=context.actor, person=script is None)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # at a prompt Ctrl-C is no end of the command
    try:
        with shell:
            return _prompt(context, shell) if script is None else _carry_out(context, shell, script)
    finally:
        signal.signal(signal.SIGINT, before)


def _script(context: CommandContext) -> str | None:
    """The script of -c, else standard input; None at a terminal."""
    if context["script"] is not None:
        return str(context["script"])
    if sys.stdin.isatty():
        return None
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput(coded("shell.no_script"), op="sh") from None


def _carry_out(context: CommandContext, shell: TreeShell, script: str) -> int:
    def to_errors(data: bytes) -> None:
        print(visible(data.decode("utf-8", "replace")), end="", file=context.output.err, flush=True)

    done: ShellResult = shell.run(script, context.output.write_raw, to_errors)
    if done.error:
        context.output.notice(coded("command.paos", said=done.error))
    return done.code


def _prompt(context: CommandContext, shell: TreeShell) -> int:
    """Lines from a terminal until `exit` or Ctrl-D; Ctrl-C drops the line, or ends what it began."""
    import readline  # noqa: F401  # the line can be edited

    code, script = DONE, ""
    while True:
        try:
            script += input("> " if script else f"{context.actor}:{shell.directory}$ ") + "\n"
            if shell.unfinished(script):
                continue
            typed, script = script, ""
            code = _carry_out(context, shell, typed)
            if shell.leaves(typed):
                return code
        except KeyboardInterrupt:
            script = ""
            context.output.line()
        except EOFError:
            context.output.line()
            return code
