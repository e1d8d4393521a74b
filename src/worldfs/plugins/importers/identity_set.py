"""A set of identities that may grow past memory: small ones live in it, large ones in a temporary file of SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

SMALL: Final = 200_000  # identities held in memory, about 20 MB


class IdentitySet:
    """Identities are 16 hex digits. `close` when done, or use it in a `with`."""

    def __init__(self, known: Iterable[str] = (), *, small: int = SMALL) -> None:
        self._few: set[int] = set()
        self._many: sqlite3.Connection | None = None
        self._small = small
        for identity in known:
            self.add(identity)

    def add(self, identity: str) -> bool:
        """True if it is new."""
        number = int(identity, 16) - (1 << 63)  # SQLite's integers have a sign
        if self._many is not None:
            return self._many.execute("INSERT OR IGNORE INTO seen VALUES (?)", (number,)).rowcount == 1
        if number in self._few:
            return False
        self._few.add(number)
        if len(self._few) > self._small:
            self._spill()
        return True

    def __contains__(self, identity: str) -> bool:
        number = int(identity, 16) - (1 << 63)
        if self._many is not None:
            return self._many.execute("SELECT 1 FROM seen WHERE id = ?", (number,)).fetchone() is not None
        return number in self._few

    def _spill(self) -> None:
        self._many = sqlite3.connect("", isolation_level=None)  # "": a temporary file that is gone with us
        self._many.execute("PRAGMA journal_mode = OFF")
        self._many.execute("PRAGMA synchronous = OFF")
        self._many.execute("CREATE TABLE seen (id INTEGER PRIMARY KEY)")
        self._many.execute("BEGIN")
        self._many.executemany("INSERT INTO seen VALUES (?)", ((number,) for number in self._few))
        self._few.clear()

    def close(self) -> None:
        if self._many is not None:
            self._many.close()
            self._many = None

    def __enter__(self) -> IdentitySet:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
