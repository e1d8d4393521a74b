"""What runs in a new process until it becomes a program: a Python that was executed, not forked.

Between fork and exec a process has the locks and the half-made objects of its parent's threads, and none of the
threads: nothing of Python may run there. `python -I -S` takes 12 ms.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NoReturn

import worldfs

from . import prctl

FAILED: Final = 127  # the exit code of a launcher that found no program, as a shell's
START_S: Final = 30.0  # for a process of our own to say that it has started, on a machine that is much too busy


def python_command(module: str, function: str, *words: str) -> list[str]:
    """A command line that calls a function of one of our modules, without site packages and the user's settings."""
    code = f"import sys; sys.path.append(sys.argv[1]); from {module} import {function}; {function}()"
    packages = os.path.dirname(os.path.dirname(os.path.abspath(worldfs.__file__)))
    return [sys.executable, "-I", "-S", "-c", code, packages, *words]


def bound_command(number: int, argv: Sequence[str]) -> list[str]:
    """A command line that becomes `argv`, and gets the signal `number` when the thread that starts it ends."""
    return python_command(__name__, "become", str(os.getpid()), str(int(number)), *argv)


def become() -> NoReturn:
    """`sys.argv`: our packages, the parent, the signal, the command."""
    _, _, parent, number, *argv = sys.argv
    _bind(int(parent), int(number))
    with suppress(OSError):
        os.execvp(argv[0], argv)  # noqa: S606  # no shell: that is the point
    os._exit(FAILED)


def become_later() -> NoReturn:
    """`sys.argv`: our packages, the parent, two descriptors.

    The command comes through the first one, as JSON {argv, env, cwd}; without one, this process ends. The second one
    tells why the command could not be executed, and closes when it is.
    """
    _, _, parent, gate, tell = sys.argv
    orders, answer, stage = int(gate), int(tell), "start"
    try:
        for fd in (orders, answer):
            os.set_inheritable(fd, False)
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            with suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        _bind(int(parent), signal.SIGKILL)
        with open(orders, "rb") as source:
            data = source.read()
        if not data:
            os._exit(0)
        order = json.loads(data)
        stage = "cwd"
        os.chdir(order["cwd"])
        stage = "exec"
        os.execvpe(order["argv"][0], order["argv"], order["env"])  # noqa: S606  # same
    except OSError as error:
        os.write(answer, json.dumps({"stage": stage, "errno": error.errno or 0}).encode())
    except BaseException as error:
        os.write(answer, json.dumps({"stage": stage, "errno": errno.EINVAL, "text": str(error)}).encode())
    os._exit(FAILED)


def _bind(parent: int, number: int) -> None:
    """Ends with the parent's thread; at once, if the parent has ended already."""
    prctl.die_with_parent(number)
    if os.getppid() != parent:
        os._exit(0)
