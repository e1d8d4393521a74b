"""The index: words of many passages in one SQLite FTS5 image, kept beside the Markdown, never instead of it.

The file is a SQLite database with a seal at its end (version and checksum of every byte before it). It is read whole
into memory and replaced whole: a reader waits for no writer, locks nothing, and either sees all of a good index or
makes its own. Damaged, foreign, outdated, half-written, unreadable and missing are one case: it is made again, in
memory at least. So nothing here has to survive a power cut, and nothing is synced.
"""

from __future__ import annotations

import os
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from zlib import crc32

from worldfs.base.errors import MissingRequirement
from worldfs.base.messages import coded

from . import tokenizer
from .passage import Passage, SearchHit

VERSION: Final = 1
TITLE_WEIGHT: Final = 2.0  # a word of the title says twice as much as one of the text
_SEAL: Final = 32  # bytes: "paos-notes", version, checksum, padded with line ends
_TABLES: Final = """
    CREATE TABLE sources (source TEXT PRIMARY KEY, revision TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE passages (n INTEGER PRIMARY KEY, source TEXT NOT NULL, id TEXT NOT NULL, title TEXT NOT NULL,
        text TEXT NOT NULL, at TEXT NOT NULL);
    CREATE INDEX by_source ON passages (source);
    CREATE TABLE vectors (n INTEGER PRIMARY KEY, model TEXT NOT NULL, vector BLOB NOT NULL);
    CREATE VIRTUAL TABLE words USING fts5 (title, text, tokenize = "porter unicode61 remove_diacritics 2");
"""
Row = tuple[int, str]


class PassageIndex:
    """`path`: a file in a machine-kept directory, made when there is something to keep; None: in memory only.

    It answers for the sources that were given to `keep`, and for no others. Not shared between threads.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = None if path is None else Path(path)
        self._db: sqlite3.Connection | None = None
        self._changed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Write what changed, let go."""
        if self._db is not None:
            self.save()
            self._db.close()
            self._db = None

    # -- keeping ----------------------------------------------------------------------------------------------------

    def keep(self, source: str, revision: str, passages: Callable[[], Iterable[Passage]]) -> bool:
        """Let the index say of `source` what its content of this `revision` says; True if it had to be read for that.

        `passages` is asked only if the index knows another revision; "" is never known. Only what differs is indexed.
        """
        db = self._open()
        db.execute("INSERT OR IGNORE INTO asked VALUES (?)", (source,))
        known = db.execute("SELECT revision FROM sources WHERE source = ?", (source,)).fetchone()
        if known is not None and revision and known[0] == revision:
            return False
        with db:
            self._replace(db, source, passages())
            db.execute("INSERT OR REPLACE INTO sources VALUES (?, ?)", (source, revision))
        self._changed = True
        return True

    def _replace(self, db: sqlite3.Connection, source: str, passages: Iterable[Passage]) -> None:
        """Rows of passages that are still there stay, with their vectors; most edits touch one of thousands."""
        there: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
        for n, id, *rest in db.execute("SELECT n, id, title, text, at FROM passages WHERE source = ?", (source,)):
            there[rest[0], rest[1], rest[2]].append((n, id))
        renamed: list[tuple[str, int]] = []
        new: list[tuple[str, str, str, str]] = []
        for passage in passages:
            id, title, text, at = (_unicode(part) for part in (passage.id, passage.title, passage.text, passage.at))
            if rows := there.get((title, text, at)):
                n, before = rows.pop()
                if before != id:
                    renamed.append((id, n))
            else:
                new.append((id, title, text, at))
        gone = [(n,) for rows in there.values() for n, _ in rows]
        db.executemany("DELETE FROM words WHERE rowid = ?", gone)
        db.executemany("DELETE FROM passages WHERE n = ?", gone)
        db.executemany("DELETE FROM vectors WHERE n = ?", gone)
        db.executemany("UPDATE passages SET id = ? WHERE n = ?", renamed)
        first = db.execute("SELECT coalesce(max(n), 0) + 1 FROM passages").fetchone()[0]
        db.executemany(
            "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?)",
            ((first + i, source, *row) for i, row in enumerate(new)),
        )
        db.executemany(
            "INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)",
            ((first + i, tokenizer.index_text(row[1]), tokenizer.index_text(row[2])) for i, row in enumerate(new)),
        )

    # -- asking -----------------------------------------------------------------------------------------------------

    def find(self, query: str, limit: int) -> list[tuple[int, float]]:
        """(row, bm25 with the title's weight, > 0) of what shares words with the query; equal ones: the newer first."""
        expression = tokenizer.match_expression(query)
        if not expression or limit < 1:
            return []
        rows = self._open().execute(
            "SELECT n, -bm25(words, ?, 1.0) AS score FROM words JOIN passages ON n = words.rowid"
            " WHERE words MATCH ? AND source IN (SELECT source FROM asked) ORDER BY score DESC, at DESC, n LIMIT ?",
            (TITLE_WEIGHT, expression, limit),
        )
        return [(n, score) for n, score in rows]

    def hits(self, found: Sequence[tuple[int, float]]) -> list[SearchHit]:
        """The passages of these rows, in this order."""
        db = self._open()
        hits = []
        for n, score in found:
            row = db.execute("SELECT id, title, text, source, at FROM passages WHERE n = ?", (n,)).fetchone()
            hits.append(SearchHit(Passage(*row), score))
        return hits

    def without_vector(self, model: str, limit: int) -> list[tuple[int, str]]:
        """(row, title and text) of passages that this model has not seen, the newest first."""
        rows = self._open().execute(
            "SELECT n, title, text FROM passages WHERE n NOT IN (SELECT n FROM vectors WHERE model = ?)"
            " AND source IN (SELECT source FROM asked) ORDER BY at DESC, n DESC LIMIT ?",
            (model, limit),
        )
        return [(n, f"{title}\n{text}".strip()) for n, title, text in rows]

    def keep_vectors(self, model: str, vectors: Iterable[tuple[int, bytes]]) -> None:
        with (db := self._open()):
            db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", ((n, model, v) for n, v in vectors))
        self._changed = True

    def vectors(self, model: str) -> list[tuple[int, str, bytes]]:
        """(row, its time, its vector) of the passages of the sources that are kept."""
        rows = self._open().execute(
            "SELECT v.n, at, vector FROM vectors v JOIN passages p ON p.n = v.n"
            " WHERE model = ? AND source IN (SELECT source FROM asked)",
            (model,),
        )
        return rows.fetchall()

    # -- the file ---------------------------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        if self._db is None:
            self._db = _load(self.path) or _new()
            self._db.execute("CREATE TEMP TABLE asked (source TEXT PRIMARY KEY) WITHOUT ROWID")  # stays out of the file
        return self._db

    def save(self) -> None:
        """Replace the file by what is in memory now. Where that cannot be, nothing happens: it can be made again."""
        db = self._db
        if self.path is None or db is None or not self._changed or not hasattr(db, "serialize"):
            return
        self._changed = False
        temporary = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        with suppress(OSError):
            if not _straight(self.path, make=True):
                return
            data = db.serialize()
            with suppress(FileNotFoundError):
                os.unlink(temporary)  # of a process with our number that died here
            fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                with os.fdopen(fd, "wb") as file:
                    file.write(data)
                    file.write(_seal(data))
                os.replace(temporary, self.path)
            except OSError:
                os.unlink(temporary)
                raise


def _load(path: Path | None) -> sqlite3.Connection | None:
    """A database in memory with what the file says, or None if it does not hold up or cannot be had."""
    if path is None:
        return None
    try:
        if not _straight(path):
            return None
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(fd, "rb") as file:
            content = file.read()
    except OSError:
        return None
    data, seal = content[:-_SEAL], content[-_SEAL:]
    if not data or seal != _seal(data):
        return None

    db = sqlite3.connect(":memory:")
    try:
        db.deserialize(data)
        if db.execute("PRAGMA user_version").fetchone()[0] == VERSION:
            return db
    except (sqlite3.Error, AttributeError):  # a SQLite that was built without it
        pass
    db.close()
    return None


def _new() -> sqlite3.Connection:
    try:
        import sqlite3
    except ImportError as error:
        fix = "install a Python with SQLite (libsqlite3)"
        raise MissingRequirement(coded("file.no_sqlite"), op="search", fix=fix) from error
    db = sqlite3.connect(":memory:")
    try:
        db.executescript(f"{_TABLES}; PRAGMA user_version = {VERSION}")
    except sqlite3.OperationalError as error:
        db.close()
        fix = coded("file.install_sqlite")
        raise MissingRequirement(coded("file.no_fts5", version=sqlite3.sqlite_version), op="search", fix=fix) from error
    return db


def _seal(data: bytes) -> bytes:
    return f"\npaos-notes {VERSION} {crc32(data):08x}".encode().ljust(_SEAL, b"\n")


def _straight(path: Path, *, make: bool = False) -> bool:
    """No link leads to the place of the index: its folder and the machine-kept one above it are folders."""
    if make:
        path.parent.mkdir(exist_ok=True)
    return not (path.parent.is_symlink() or path.parent.parent.is_symlink())


def _unicode(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
