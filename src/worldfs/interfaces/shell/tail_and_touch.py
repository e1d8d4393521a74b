"""`touch` and `tail` of the shell: bashkit's own know no times of a foreign file system, and do not follow a file.

Both work on the view; below /tmp they ask bashkit's memory, where nothing is waited for.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from posixpath import join, normpath
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.base.errors import NotFound, WorldError
from worldfs.base.messages import coded
from worldfs.base.messages.message_rendering import error_message
from worldfs.interfaces.posix.whole_file import read_whole

if TYPE_CHECKING:
    import bashkit

    from worldfs.interfaces.posix.posix_files import PosixFiles

Command = Callable[["bashkit.CommandContext"], Awaitable[int]]
TMP: Final = "/tmp"  # noqa: S108  # in memory, of one shell alone
LINES: Final = 10
READ_MOST: Final = 64 << 20  # bytes of one file
TAIL_USAGE: Final = "tail [-f] [-q] [-n [+]LINES | -c [+]BYTES] [FILE...]"
TOUCH_USAGE: Final = "touch [-acm] [-d TIME | -r FILE] FILE..."


class UsageError(Exception):
    """The arguments of a command are not its own."""


class TailOptions(NamedTuple):
    last: int = LINES
    by_lines: bool = True
    from_start: bool = False
    follow: bool = False
    quiet: bool = False
    files: tuple[str, ...] = ()


class TailAndTouch:
    """The commands of one shell, by name in `table`."""

    def __init__(self, files: PosixFiles) -> None:
        self._files = files
        self.table: dict[str, Command] = {
            "tail": _guarded(self._tail, TAIL_USAGE),
            "touch": _guarded(self._touch, TOUCH_USAGE),
        }

    # -- tail ---------------------------------------------------------------------------------------------------------

    async def _tail(self, context: bashkit.CommandContext) -> int:
        options = tail_options(context.argv)
        if not options.files:
            await context.stdout.write(tail_of(b"".join([part async for part in context.stdin]), options))
            return 0
        read: list[tuple[str, bytes]] = []
        for name in options.files:
            path = _absolute(context, name)
            try:
                data = await self._read(context, path)
            except WorldError as error:
                await _say(context, f"tail: {name}", error)
                continue
            if len(options.files) > 1 and not options.quiet:
                await context.stdout.write(f"{chr(10) if read else ''}==> {name} <==\n".encode())
            await context.stdout.write(tail_of(data, options))
            read.append((path, data))
        if options.follow:
            await asyncio.gather(*(self._follow(context, path, data) for path, data in read))
        return int(len(read) < len(options.files))

    async def _follow(self, context: bashkit.CommandContext, path: str, known: bytes) -> None:
        """Print what is added to a file, until it is gone or the script is ended. A file that was replaced is printed
        from its start."""
        if _in_memory(path):
            return
        try:
            async with self._files.tree.changes(path) as until_next:
                while True:
                    data = await self._read(context, path)
                    await context.stdout.write(data[len(known) :] if data.startswith(known) else data)
                    known = data
                    await until_next()
        except WorldError as error:
            await _say(context, f"tail: {path}", error)

    async def _read(self, context: bashkit.CommandContext, path: str) -> bytes:
        """The present bytes: `tail` waits for changes, and not in a read."""
        if _in_memory(path):
            return _from_memory(context, path)
        return await read_whole(self._files, path, READ_MOST, wait=False)

    # -- touch --------------------------------------------------------------------------------------------------------

    async def _touch(self, context: bashkit.CommandContext) -> int:
        create, moment, reference, names = touch_options(context.argv)
        failed = 0
        if reference:
            moment = (await self._files.look(_absolute(context, reference))).mtime_ns
        for name in names:
            try:
                await self._touch_one(context, _absolute(context, name), moment, create)
            except WorldError as error:
                await _say(context, f"touch: {name}", error)
                failed = 1
        return failed

    async def _touch_one(self, context: bashkit.CommandContext, path: str, moment: int | None, create: bool) -> None:
        if _in_memory(path):
            if create or context.fs.exists(path):
                context.fs.append_file(path, b"")
            return
        try:
            await self._files.look(path)
        except NotFound:
            if not create:
                return
            _, file = await self._files.create(path, os.O_WRONLY | os.O_CREAT)
            await file.flush()
            await self._files.close_file(path, file)
            if moment is None:
                return
        await self._files.touch(path, self._files.scratch.now_ns() if moment is None else moment)


def tail_options(argv: Sequence[str]) -> TailOptions:
    """Raises `UsageError`."""
    found, files, words = TailOptions(), list[str](), list(argv)
    while words:
        word = words.pop(0)
        if word == "--":
            files += words
            break
        if word in ("-f", "-F", "--follow"):
            found = found._replace(follow=True)
        elif word in ("-q", "--quiet", "--silent"):
            found = found._replace(quiet=True)
        elif word[:2] in ("-n", "-c"):
            value = word[2:] or (words.pop(0) if words else "")
            found = found._replace(by_lines=word[1] == "n", from_start=value[:1] == "+", last=_count(value))
        elif word[:1] == "-" and word[1:].isdecimal():
            found = found._replace(last=int(word[1:]))
        elif word[:1] == "-" and word != "-":
            raise UsageError(word)
        else:
            files.append(word)
    return found._replace(files=tuple(files))


def _count(text: str) -> int:
    if not text.lstrip("+-").isdecimal():
        raise UsageError(text)
    return int(text.lstrip("+-"))


def tail_of(data: bytes, options: TailOptions) -> bytes:
    """The end of the bytes that the options ask for."""
    from_start, count = options.from_start, options.last
    if not options.by_lines:
        return data[max(0, count - 1) :] if from_start else data[max(0, len(data) - count) :]
    *whole, last = data.split(b"\n")
    lines = [line + b"\n" for line in whole] + ([last] if last else [])
    return b"".join(lines[max(0, count - 1) :] if from_start else lines[max(0, len(lines) - count) :])


def touch_options(argv: Sequence[str]) -> tuple[bool, int | None, str, list[str]]:
    """Whether to create, the time in ns (None: now), the file whose time it shall be, and the files. Raises
    `UsageError`."""
    create, moment, reference, names, words = True, None, "", list[str](), list(argv)
    while words:
        word = words.pop(0)
        if word == "--":
            names += words
            break
        if word in ("-d", "-r", "--date", "--reference"):
            if not words:
                raise UsageError(word)
            value = words.pop(0)
            moment, reference = (_moment(value), "") if "d" in word[:3] else (None, value)
        elif word == "--no-create" or (word[:1] == "-" and word[1:] and set(word[1:]) <= set("acmf")):
            create = create and "c" not in word
        elif word[:1] == "-" and word != "-":
            raise UsageError(word)
        else:
            names.append(word)
    if not names:
        raise UsageError("FILE")
    return create, moment, reference, names


def _moment(text: str) -> int:
    """Nanoseconds of a time as ISO 8601 writes it (UTC where no zone is given), or of seconds after an "@"."""
    try:
        if text[:1] == "@":
            return int(float(text[1:]) * 1_000) * 1_000_000
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(text) from None
    aware = found if found.tzinfo else found.replace(tzinfo=UTC)
    return int(aware.timestamp() * 1_000) * 1_000_000


def _guarded(work: Command, usage: str) -> Command:
    """A command of which what it refuses is said, and is its exit status."""

    async def command(context: bashkit.CommandContext) -> int:
        try:
            return await work(context)
        except UsageError as error:
            await context.stderr.write(f"{context.name}: {error}\nusage: {usage}\n".encode())
        except WorldError as error:
            await _say(context, context.name, error)
        return 1

    return command


async def _say(context: bashkit.CommandContext, what: str, error: WorldError) -> None:
    error.path = ""
    await context.stderr.write(f"{what}: {error_message(error)}\n".encode())


def _absolute(context: bashkit.CommandContext, name: str) -> str:
    path = normpath(join(context.cwd, name))
    return f"/{path.lstrip('/')}"


def _in_memory(path: str) -> bool:
    return path == TMP or path.startswith(f"{TMP}/")


def _from_memory(context: bashkit.CommandContext, path: str) -> bytes:
    try:
        return bytes(context.fs.read_file(path))
    except Exception:  # bashkit's own, which its type stubs do not name here
        raise NotFound(coded("tree.no_file_or_directory"), path=path, op="read") from None
