"""A shell over one actor's tree: bashkit's interpreter of bash in this process, with the tree as its only files.

There are no host files, programs, environment or network inside: what a script can reach is the view, and /tmp in
memory.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import re
import signal
import threading
from collections.abc import Callable
from concurrent.futures import wait
from contextlib import AbstractAsyncContextManager, suppress
from types import FrameType, TracebackType
from typing import Final, NamedTuple, Self

import bashkit

from worldfs.base.clock import Clock
from worldfs.base.errors import MissingRequirement
from worldfs.base.extras import install_command
from worldfs.base.messages import coded
from worldfs.interfaces.posix.file_tree import FileTree
from worldfs.interfaces.posix.posix_files import PosixFiles

from .bash_filesystem import BashFilesystem
from .shell_files import ShellFiles
from .tail_and_touch import TMP, TailAndTouch

OUTPUT_MOST: Final = 64 << 20  # bytes of one script, both streams together
MEMORY_MOST: Final = 64 << 20  # bytes of /tmp
COMMANDS_MOST: Final = 100_000  # of one shell without a person, and turns of a loop
LOOK_S: Final = 0.2  # a Ctrl-C is seen after so long
WAIT_MOST_S: Final = 7 * 86_400.0  # of one script: it may wait for a job
_UNFINISHED: Final = re.compile(r"unexpected end of file|unexpected EOF|unterminated")  # of bashkit's parser
_GOES_ON: Final = re.compile(r"(\\|&&|\|\|?)\s*\Z")
_SYNTAX: Final = "parse error"
_MISUSE, _INTERRUPTED = 2, 130

Sink = Callable[[bytes], None]


class ShellResult(NamedTuple):
    """`error`: why the script was ended from outside, "" if it ended by itself. A sentence of ours is coded."""

    code: int
    error: str = ""


class _Pressed:
    """Whether Ctrl-C was pressed meanwhile, noted and not raised: an exception in the midst of a wait for another
    thread may leave its lock held for ever."""

    yes = False

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.yes = True


class TreeShell:
    """Entered in one thread, whose Ctrl-C ends a script; variables, functions and the directory last from one script to
    the next."""

    def __init__(
        self,
        tree: Callable[[], AbstractAsyncContextManager[FileTree]],
        clock: Clock,
        *,
        user: str,
        person: bool = False,
    ) -> None:
        """`person`: one at a terminal, who ends what goes on for too long; else the commands and turns are counted."""
        self._tree, self._clock, self._user, self._person = tree, clock, user, person
        self._thread = threading.Thread(target=self._run_loop, name="shell", daemon=True)
        self._ready: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over: asyncio.Event | None = None
        self._bash: bashkit.Bash | None = None
        self._files: ShellFiles | None = None
        self._below: BashFilesystem | None = None

    def __enter__(self) -> Self:
        """Raises what keeps the tree from being opened."""
        self._thread.start()
        try:
            self._ready.result()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._end()

    @property
    def directory(self) -> str:
        """Where the shell is now."""
        assert self._bash is not None
        return self._bash.shell_state().cwd

    def unfinished(self, script: str) -> bool:
        """Whether more lines belong to what was typed so far."""
        assert self._bash is not None
        if _GOES_ON.search(script):
            return True
        try:
            self._bash.analyze(script)
        except Exception as error:  # bashkit's own, which its type stubs do not name here
            return _UNFINISHED.search(str(error)) is not None
        return False

    def leaves(self, script: str) -> bool:
        """Whether it is `exit` or `logout` typed at the prompt."""
        return script.split(maxsplit=1)[:1] in (["exit"], ["logout"])

    def run(self, script: str, out: Sink, err: Sink) -> ShellResult:
        """Carry out a script; what it prints goes to the sinks as it comes, in the loop's thread.

        Raises KeyboardInterrupt after Ctrl-C, when the script has ended, and what a sink raised.
        """
        assert self._loop is not None
        with _Pressed() as pressed:
            future = asyncio.run_coroutine_threadsafe(self._execute(script, out, err), self._loop)
            try:
                while not wait((future,), LOOK_S).done:
                    if pressed.yes:
                        self._interrupt()
                result = future.result()
            finally:
                if self._bash is not None and self._files is not None:
                    self._bash.clear_cancel()
                    self._files.resume()
        if pressed.yes:
            raise KeyboardInterrupt
        return result

    # -- inside -------------------------------------------------------------------------------------------------------

    def _interrupt(self) -> None:
        assert self._bash is not None
        assert self._files is not None
        self._bash.cancel()
        self._files.interrupt()

    async def _execute(self, script: str, out: Sink, err: Sink) -> ShellResult:
        assert self._bash is not None
        streams = _BoundedStreams(self._interrupt)

        async def to_out(data: bytes) -> None:
            streams.write(out, data)

        async def to_err(data: bytes) -> None:
            streams.write(err, data)

        done = await self._bash.execute(script, stdout=to_out, stderr=to_err, capture=0)
        if streams.error is not None:
            raise streams.error
        if streams.stopped:
            return ShellResult(1, coded("shell.too_much", n=OUTPUT_MOST))
        if done.error is None:
            return ShellResult(done.exit_code)
        if self._files is not None and self._files.interrupted:
            return ShellResult(_INTERRUPTED)
        return ShellResult(_MISUSE if done.error.startswith(_SYNTAX) else done.exit_code or 1, done.error)

    def _run_loop(self) -> None:
        try:
            asyncio.run(self._life())
        except BaseException as error:
            if not self._ready.done():
                self._ready.set_exception(error)

    async def _life(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        async with self._tree() as tree:
            files = PosixFiles(tree, self._clock)
            self._files = ShellFiles(files, self._loop)
            self._below = BashFilesystem(self._files)
            try:
                self._bash = await self._loop.run_in_executor(None, self._interpreter, self._below)
                for name, command in TailAndTouch(files).table.items():
                    self._bash.add_command(name, command)
                self._ready.set_result(None)
                await self._over.wait()
            finally:
                await self._loop.run_in_executor(None, self._let_go)
                await files.close()

    def _interpreter(self, below: BashFilesystem) -> bashkit.Bash:
        """In a thread: a mount asks the file system."""
        bash = bashkit.Bash(
            username=self._user,
            hostname="worldfs",
            cwd="/",
            env={"HOME": "/"},
            max_commands=None if self._person else COMMANDS_MOST,
            max_loop_iterations=None if self._person else COMMANDS_MOST,
            profile=bashkit.ExecutionProfile.Interactive if self._person else bashkit.ExecutionProfile.Standard,
            max_memory=MEMORY_MOST,
            timeout_seconds=WAIT_MOST_S,
        )
        try:
            bash.mount("/", bashkit.FileSystem.from_capsule(below.capsule))
        except (AttributeError, ValueError, OSError, RuntimeError) as error:
            raise MissingRequirement(
                coded("shell.other_interface", why=str(error)), op="sh", fix=install_command("shell")
            ) from None
        memory = bashkit.FileSystem()
        for entry in memory.read_dir("/"):
            memory.remove(f"/{entry['name']}", recursive=True)
        bash.mount(TMP, memory)
        return bash

    def _let_go(self) -> None:
        """The interpreter goes before the functions that it calls; nothing else refers to it."""
        if self._bash is not None:
            self._bash.cancel()
            self._bash.unmount("/")
        self._bash = None

    def _end(self) -> None:
        if self._files is not None:
            self._files.interrupt()
        if self._loop is not None and self._over is not None:
            with suppress(RuntimeError):  # it has ended by itself
                self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()


class _BoundedStreams:
    """What a script prints, until it is too much or its reader is gone."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop, self._left = stop, OUTPUT_MOST
        self.stopped = False
        self.error: Exception | None = None

    def write(self, sink: Sink, data: bytes) -> None:
        if self.stopped or self.error is not None:
            return
        self._left -= len(data)
        try:
            sink(data if self._left >= 0 else data[: self._left])
        except Exception as error:  # a closed pipe: the caller's thread raises it
            self.error = error
            self._stop()
        if self._left < 0:
            self.stopped = True
            self._stop()
