"""The command `paos`: finds the function, and turns every error into a message and an exit code (`exits`)."""

from __future__ import annotations

import errno
import gc
import io
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import cast

from worldfs.base.errors import StorageError, WorldError, from_os

from .command_context import CommandContext
from .command_output import LATE, CommandOutput, LentStream, VisibleStream
from .command_spec import CommandSpec
from .command_table import COMMANDS
from .exits import BUG, CLOSED, INTERRUPTED, MACHINE, MISUSE
from .lazy_module import load_when_used
from .parser import parse
from .signals import Interrupts
from .start import SELDOM

Function = Callable[[CommandContext], int]

LATER = ("copy", "inspect", "ipaddress", "shlex")  # imported by many at their start, and used by few commands
EXIT_S = 5.0  # for the threads, processes and exit functions of plug-ins to end, once the command has
TURN_S = 0.0005  # for which a thread that computes keeps the others waiting, one of which may hear a stop


def main(argv: Sequence[str] | None = None, table: Sequence[CommandSpec] = COMMANDS) -> int:
    """Carry out one command line and return its exit code. Without `argv` the process ends with the command."""
    if argv is not None:
        return _answer(argv, table)
    tune_process()
    open_closed_streams()
    if type(sys.stderr) is io.TextIOWrapper:  # not what a test puts there
        sys.stderr = VisibleStream(sys.stderr.buffer, sys.stderr.encoding, line_buffering=True)
    if type(sys.stdout) is io.TextIOWrapper:
        sys.stdout = LentStream(sys.stdout.buffer, sys.stdout.encoding, line_buffering=sys.stdout.line_buffering)
    try:
        code = _answer(sys.argv[1:], table)
    finally:
        gc.freeze()  # else the interpreter collects garbage at exit for nothing
    threading.Thread(target=_end_in_time, args=(code,), name="exit", daemon=True).start()
    return code


def _end_in_time(code: int) -> None:
    """The interpreter waits at its exit for threads and processes that a plug-in has left: for so long, and no longer.

    All that is ours is closed by then, and what was printed is flushed. A caller that goes on after the command is left
    alone until it ends."""
    threading.main_thread().join()
    threading.Event().wait(EXIT_S)
    os._exit(code)


def end_interrupted(code: int) -> None:
    """End the process here: what a Ctrl-C broke off may be the loading of a native library, in which the interpreter's
    own end crashes. What is printed is waited for as at any end."""
    for thread in threading.enumerate():
        if thread.name == LATE:
            thread.join(EXIT_S)
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # its reader has gone
            stream.flush()
    os._exit(code)


def open_closed_streams() -> None:
    """A caller may close them (`>&-`): no file that is opened later may take their numbers."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            taken = os.open(os.devnull, os.O_RDWR)
            if taken != number:
                os.dup2(taken, number)
                os.close(taken)
            stream = open(number, "w" if number else "r", encoding="utf-8", closefd=False)  # noqa: SIM115  # for good
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)


def tune_process() -> None:
    """How the interpreter of a process collects garbage, lets its threads take turns and loads, from now on."""
    for name in LATER:
        load_when_used(name)
    gc.set_threshold(SELDOM)
    sys.setswitchinterval(TURN_S)


def _answer(words: Sequence[str], table: Sequence[CommandSpec]) -> int:
    streams = sys.stdout, sys.stderr
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal without Chinese must not end a command
    output = CommandOutput(json="--json" in (words[: words.index("--")] if "--" in words else words))
    output.language = _default_language
    try:
        with Interrupts() as interrupts:
            code = _execute(words, table, output, interrupts)
        if not getattr(output.out, "closed", False):  # by a plug-in; a stand-in of a library may not say so
            output.out.flush()  # here, where a closed pipe can still be handled
        return code
    except OSError as error:
        # A pipe without a reader, a terminal that is closed, a stream that a plug-in has closed.
        if error.errno not in (errno.EPIPE, errno.EIO, errno.EBADF):
            raise
        # Python flushes again at exit: give it somewhere to flush to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), output.out.fileno())
        return CLOSED
    except KeyboardInterrupt:
        output.error("interrupted", {"code": "INTERRUPTED", "found": "interrupted"})
        return INTERRUPTED
    finally:
        sys.stdout, sys.stderr = streams  # Python flushes them at exit: not what a plug-in has put there


def _execute(words: Sequence[str], table: Sequence[CommandSpec], output: CommandOutput, interrupts: Interrupts) -> int:
    command = ""
    try:
        options = parse(words, table, os.environ.get("PAOS_CONNECT", ""), _default_language)
        command = str(options["command"])
        output.json = bool(options["json"])
        context = CommandContext(options, output)
        context.check_agent()
        code = _function(str(options["target"]))(context)
        interrupts.check()
        if output.lost is not None:
            raise output.lost
        return code
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except WorldError as error:
        interrupts.check()
        return _refuse(error, output)
    except OSError as error:
        interrupts.check()
        return _refuse(from_os(error, path=str(error.filename or ""), op=command), output)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except ImportError as error:
        interrupts.check()
        from worldfs.base.extras import missing_module

        missing = missing_module(error, op=command)
        return _refuse(missing, output) if missing is not None else _our_bug(error, output)
    except Exception as error:
        interrupts.check()
        return _our_bug(error, output)


def _default_language() -> str:
    """The language of the default home: of what is said before a command line is understood."""
    from worldfs.world.home import home_path
    from worldfs.world.workspace_language import home_language

    return home_language(home_path(None, os.environ), os.environ)


def _function(target: str) -> Function:
    from importlib import import_module

    module, _, name = target.partition(":")
    try:
        found = import_module(f".{module}", __package__)
    except ModuleNotFoundError as error:
        if not f"{__package__}.{module}".startswith(str(error.name)):
            raise  # a requirement of the command is missing
        found = import_module(module)  # a table without our modules
    return cast(Function, getattr(found, name))


def _refuse(error: WorldError, output: CommandOutput) -> int:
    from worldfs.base.messages.message_rendering import error_message

    notes = getattr(error, "__notes__", ())
    output.error(error_message(error), {**error.as_dict(), **({"notes": [*notes]} if notes else {})})
    for note in notes if not output.json else ():
        output.notice(note)
    return MACHINE if isinstance(error, StorageError) else MISUSE


def _our_bug(error: Exception, output: CommandOutput) -> int:
    import traceback

    text = f"{type(error).__name__}: {error}"
    for note in getattr(error, "__notes__", ()):  # what is urgent, first
        output.notice(note)
    more: Mapping[str, object] = {"code": "BUG", "found": text, "fix": "please report it, with the traceback"}
    if os.environ.get("PAOS_DEBUG", "") not in ("", "0"):
        traceback.print_exc()
        output.error(f"this is our bug, not yours: {text}", more)
        return BUG
    place = _keep(traceback.format_exc())
    output.error(
        f"this is our bug, not yours: {text}; "
        f"the traceback is in {place}; please report it (PAOS_DEBUG=1 prints it here)",
        {**more, "traceback": place},
    )
    return BUG


def _keep(text: str) -> str:
    import tempfile

    try:
        handle, place = tempfile.mkstemp(prefix="paos-bug-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        return "no file (none could be written)"
    return place


if __name__ == "__main__":
    sys.exit(main())
