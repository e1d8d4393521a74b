"""A child that a plug-in forks from this process keeps none of our locks, sockets, pipes and signal handlers.

A file lock lasts as long as any copy of its descriptor, and a peer reads no end of a connection before the last copy is
closed. A child has copies of all that were open, and outlives its parent if the parent is killed. With our handlers of
signals it would not end when it is asked to. A child that a library forks in C, past Python, keeps all of that.

A child runs none of our code: it ends where it leaves the plug-in's own (`end_forked`).
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from functools import lru_cache
from typing import Final

_OURS: Final = dict[int, tuple[int, int]]()  # descriptor → device and inode: by now it may be one of another file
_MODULES: Final = ("worldfs", "asyncio")  # asyncio's own handlers do nothing but wake a loop that no child has


def keep_from_children(fd: int) -> int:
    """The descriptor; in a child that is forked later, the same number is one of the null device."""
    _register()
    found = os.fstat(fd)
    _OURS[fd] = found.st_dev, found.st_ino
    return fd


def end_forked(parent: int) -> None:
    """In a child that `parent` has forked in the call that just ended: it ends at once, silently, whatever it raised.
    Its exit code is that of its `SystemExit`, 1 for any other exception, 0 where the call returned."""
    if os.getpid() == parent:
        return
    error, code = sys.exc_info()[1], 1
    try:
        said = error.code if isinstance(error, SystemExit) else None if error is None else 1
        code = 0 if said is None else said & 0xFF if isinstance(said, int) else 1
    finally:  # also where asking the error raises another
        os._exit(code)


@lru_cache(maxsize=1)
def _register() -> None:
    os.register_at_fork(after_in_child=_let_go)


def _let_go() -> None:
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for fd, identity in _OURS.items():
        with suppress(OSError):  # it was closed meanwhile
            found = os.fstat(fd)
            if (found.st_dev, found.st_ino) == identity:
                os.dup2(null, fd, inheritable=False)  # no other file gets a number that an object of ours may close
    _OURS.clear()
    os.close(null)
    with suppress(ValueError):  # not the first interpreter of the process
        _restore_signals()


def _restore_signals() -> None:
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        made = getattr(handler, "__func__", handler)
        if callable(made) and str(getattr(made, "__module__", "")).partition(".")[0] in _MODULES:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
