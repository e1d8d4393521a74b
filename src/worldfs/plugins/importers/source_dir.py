"""Reading a foreign directory: no link is followed, nothing is written, and every size has a limit with words."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, NamedTuple

from worldfs.base.dir_reader import DirReader, path_error
from worldfs.base.errors import BadInput, NotFound, NotPermitted, UserError, WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded
from worldfs.formats import jsontext

from .import_types import SkippedItem
from .value_conversion import format_epoch

LISTED_MAX: Final = 256 << 20  # bytes of a file whose things are all held at once
DOCUMENT_MAX: Final = 16 << 20  # bytes of a file that is read whole
LINE_MAX: Final = 16 << 20  # bytes of a line
SHOWN: Final = 65_536  # bytes of what was not understood that are kept with the record
NAMES_MAX: Final = 200_000  # names of one folder
_CHUNK: Final = 1 << 18


class TextLine(NamedTuple):
    """A line without its end. `whole` False: longer than LINE_MAX, and `data` only its beginning."""

    number: int  # from 1
    offset: int
    data: bytes
    length: int
    whole: bool = True
    ended: bool = True  # False: the file ends here without a line end, so it may still be being written


class SourceDir(DirReader):
    """A directory that is only read; use it in a `with`."""

    def __init__(self, path: Path) -> None:
        try:
            super().__init__(path)
        except WorldError as error:
            raise _sorry(error) from None

    def __enter__(self) -> SourceDir:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def entries(self, folder: str) -> list[tuple[str, str]]:
        """(name, kind) of what is directly in a folder, sorted; kind: file, folder, link, odd. Missing: empty."""
        found: list[tuple[str, str]] = []
        try:
            with self.folder(folder).scan() as names:
                for entry in names:
                    if len(found) >= NAMES_MAX:
                        raise BadInput(
                            coded("plugin.many_files"),
                            path=folder,
                            op="import",
                            expected=coded("file.at_most", n=NAMES_MAX),
                        )
                    found.append((entry.name, _kind(entry)))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise _sorry(path_error(error, folder or str(self.path), "list")) from error
        return sorted(found)

    def find(self, pattern: Sequence[str]) -> list[str]:
        """Files that fit a pattern of names, each with `*` and `?`; only folders on the way are listed.

        A place that is itself the end of a pattern's beginning counts as that: in `ops`, `sessions/*.json` is found by
        `ops/sessions/*.json`. A link or an odd file that fits is found too: reading it says what it is.
        """
        inside = Path(os.path.realpath(self.path)).parts
        found: dict[str, None] = {}
        for skip in range(len(pattern)):
            if skip == 0 or all(map(fnmatchcase, inside[-skip:], pattern[:skip])):
                found.update(dict.fromkeys(self._below("", pattern[skip:])))
        return list(found)

    def _below(self, folder: str, pattern: Sequence[str]) -> Iterator[str]:
        head, rest = pattern[0], pattern[1:]
        if "*" in head or "?" in head:
            names = [(name, kind) for name, kind in self._seen(folder) if fnmatchcase(name, head)]
        else:
            kind = self._probe(_join(folder, head))
            names = [] if kind is None else [(head, kind)]
        for name, kind in names:
            path = _join(folder, name)
            if kind in ("link", "odd") or (kind == "file" and not rest):
                yield path
            elif kind == "folder" and rest:
                yield from self._below(path, rest)

    def _seen(self, folder: str) -> list[tuple[str, str]]:
        try:
            return self.entries(folder)
        except UserError:  # not ours to list: a search by name still works
            return []

    def _probe(self, path: str) -> str | None:
        """file, folder, link, odd, or None."""
        with suppress(OSError, WorldError):
            above, _, name = path.rpartition("/")
            info = os.stat(name, dir_fd=self.folder(above).fd, follow_symlinks=False)
            mode = stat.S_IFMT(info.st_mode)
            return {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}.get(mode, "odd")
        return None

    def size(self, path: str) -> int:
        """Bytes of a file; 0 where there is none."""
        with suppress(OSError, WorldError):
            above, _, name = path.rpartition("/")
            return os.stat(name, dir_fd=self.folder(above).fd, follow_symlinks=False).st_size
        return 0

    def changed_at(self, path: str) -> str:
        """When the file was last written, `YYYY-MM-DDTHH:MM:SSZ`; "" where that is not known."""

        with suppress(OSError, WorldError):
            above, _, name = path.rpartition("/")
            return format_epoch(os.stat(name, dir_fd=self.folder(above).fd, follow_symlinks=False).st_mtime)
        return ""

    def open_file(self, path: str) -> int:
        """A descriptor for reading; the caller closes it. `WorldError`."""
        try:
            place = self.locate(path)
            fd = None if place is None else self.open(place)
        except OSError as error:
            raise _sorry(path_error(error, path, "read")) from error
        except WorldError as error:
            error.path = error.path or path
            raise _sorry(error) from None
        if fd is None:
            raise NotFound(coded("tree.no_file"), path=path, op="import")
        return fd

    def document(self, path: str, limit: int = DOCUMENT_MAX) -> bytes:
        """A whole file. `BadInput` when it is larger than `limit`."""
        fd = self.open_file(path)
        try:
            size = os.fstat(fd).st_size
            if size > limit:
                raise too_large(path, size, limit)
            return _all(fd, limit)
        except OSError as error:
            raise _sorry(path_error(error, path, "read")) from error
        finally:
            os.close(fd)

    def head(self, path: str, size: int = 4096) -> bytes:
        """The first bytes of a file; nothing if it cannot be read."""
        with suppress(OSError, WorldError):
            fd = self.open_file(path)
            try:
                return os.read(fd, size)
            finally:
                os.close(fd)
        return b""

    def text(self, path: str, limit: int = DOCUMENT_MAX) -> str:
        """A whole UTF-8 text. `BadInput` with the line and byte where it is none."""
        return decode_text(self.document(path, limit), path)

    def lines(self, path: str) -> Iterator[TextLine]:
        """Every line of a file of any size, in constant memory; what is written to it meanwhile is not read."""
        fd = self.open_file(path)
        try:
            yield from _lines(fd, os.fstat(fd).st_size)
        except OSError as error:
            raise _sorry(path_error(error, path, "read")) from error
        finally:
            os.close(fd)


def decode_text(data: bytes, path: str) -> str:
    """UTF-8 text, without a byte order mark. `BadInput` names the line and the byte."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise BadInput("UTF-16 text", path=path, op="import", expected="UTF-8", fix=coded("file.save_utf8"))
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise BadInput(
            coded("plugin.zero_bytes", n=data.count(0), line=line), path=path, op="import",
            expected=coded("file.utf8_text"), fix=coded("plugin.from_backup"),
        )  # fmt: skip
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput(
            coded("plugin.bad_byte", byte=data[error.start], line=line), path=path, op="import",
            expected=coded("file.utf8_text"), fix=coded("file.save_utf8"),
        ) from None  # fmt: skip


def parse_document(data: bytes, path: str) -> object:
    """The value of a JSON text. `BadInput` says where it breaks and what was expected there."""

    try:
        return jsontext.parse(decode_text(data, path))
    except BadInput as error:
        error.path = error.path or path
        if error.fix == coded("file.finish_block"):
            error.fix = coded("file.finish_left")
        raise


def unreadable_item(error: WorldError, path: str, data: bytes = b"", where: str = "") -> SkippedItem:
    """The word for something that could not be read."""
    place = where or error.path or path
    return SkippedItem(place, error.found, error.expected, error.fix, data[:SHOWN], len(data) <= SHOWN)


def json_objects(
    place: SourceDir, path: str, left: list[SkippedItem], limit: int = LISTED_MAX
) -> Iterator[tuple[TextLine, dict[str, object]]]:
    """The JSON objects of a file of lines, one a line; what is none is named in `left`, and the rest goes on.

    An unended last line that is whole JSON counts; one that breaks off is named as unfinished. `BadInput` when the file
    is larger than `limit` bytes (0: any size is read).
    """
    if limit and place.size(path) > limit:
        raise too_large(path, place.size(path), limit)
    for line in place.lines(path):
        if not line.data.strip():
            continue
        where = f"{path}:{line.number}"
        if not line.whole:
            left.append(too_long(line, where))
            continue
        try:
            value = _fast(line.data) or parse_document(line.data, where)
        except BadInput as error:
            if line.ended:
                left.append(unreadable_item(error, path, line.data, where))
            else:
                left.append(unfinished(line, where))
            continue
        if isinstance(value, dict):
            yield line, value
        else:
            left.append(
                SkippedItem(
                    where,
                    coded("plugin.json_kind", kind=type(value).__name__),
                    coded("file.object"),
                    "",
                    line.data[:SHOWN],
                )
            )


def _fast(data: bytes) -> dict[str, object] | None:
    """The object of an ordinary line; None for any other."""
    try:
        value = parse_json(data.decode())
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def too_large(path: str, size: int, limit: int) -> BadInput:
    return BadInput(
        coded("plugin.file_size", size=format_bytes(size)),
        path=path,
        op="import",
        expected=coded("common.at_most", n=format_bytes(limit)),
        fix=coded("plugin.split"),
    )


def too_long(line: TextLine, where: str) -> SkippedItem:
    return SkippedItem(
        where,
        coded("plugin.line_size", size=format_bytes(line.length)),
        coded("common.at_most", n=format_bytes(LINE_MAX)),
        coded("plugin.stays"),
        line.data[:SHOWN],
        False,
    )


def unfinished(line: TextLine, where: str) -> SkippedItem:
    return SkippedItem(
        where,
        coded("plugin.torn_line", size=format_bytes(line.length)),
        coded("plugin.whole_line"),
        coded("plugin.import_again"),
        line.data[:SHOWN],
        len(line.data) <= SHOWN,
    )


def format_bytes(size: int) -> str:
    """A size as people say it."""
    if size < 10_000:
        return coded("file.n_bytes", n=size)
    for unit in ("KiB", "MiB", "GiB"):
        size_ = size / (1 << {"KiB": 10, "MiB": 20, "GiB": 30}[unit])
        if size_ < 1000 or unit == "GiB":
            return f"{size_:.1f} {unit}" if size_ % 1 else f"{size_:.0f} {unit}"
    raise AssertionError


def _lines(fd: int, size: int) -> Iterator[TextLine]:
    number, offset, at = 1, 0, 0
    parts: list[bytes] = []
    held = 0  # bytes of the line so far, kept or not
    while at < size:
        chunk = os.pread(fd, min(_CHUNK, size - at), at)
        if not chunk:
            break  # cut short meanwhile
        at += len(chunk)
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            if held <= LINE_MAX:
                parts.append(chunk[start:end])
            held += end - start
            yield _line(number, offset, parts, held, True)
            number, offset, parts, held = number + 1, offset + held + 1, [], 0
            start = end + 1
        if start < len(chunk):
            if held <= LINE_MAX:
                parts.append(chunk[start:])
            held += len(chunk) - start
    if held:
        yield _line(number, offset, parts, held, False)


def _line(number: int, offset: int, parts: list[bytes], length: int, ended: bool) -> TextLine:
    data = parts[0] if len(parts) == 1 else b"".join(parts)
    if length > LINE_MAX:
        return TextLine(number, offset, data[:SHOWN], length, False, ended)
    return TextLine(number, offset, data.removesuffix(b"\r"), length, True, ended)


def _all(fd: int, limit: int) -> bytes:
    parts, size = [], 0
    while size <= limit and (part := os.read(fd, _CHUNK)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)[: limit + 1]


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "odd"


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _sorry(error: WorldError) -> WorldError:
    """Errors of reading: what may be read, not what may be written."""
    error.op = "import"
    cause = error.__cause__
    if isinstance(error, NotPermitted) or (isinstance(cause, OSError) and cause.errno in (errno.EACCES, errno.EPERM)):
        error.fix = coded("plugin.make_readable")
    return error
