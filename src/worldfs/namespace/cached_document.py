"""Parsed documents of the tree, parsed again only when their bytes may have changed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from worldfs.base.errors import Conflict, NotFound
from worldfs.storage.store_interface import ABSENT

from .tree import Tree

Parsed = TypeVar("Parsed")


class CachedDocument(Generic[Parsed]):
    """One stored file for one actor: `get` reads it, `change` rewrites it under compare-and-swap."""

    def __init__(self, tree: Tree, path: str, actor: str, parse: Callable[[bytes], Parsed]) -> None:
        self.tree = tree
        self.path = path
        self.actor = actor
        self._parse = parse
        self._token: str | None = None
        self._noun: Parsed | None = None
        self._lock = threading.Lock()

    def get(self) -> Parsed:
        """Raises what the parser raises; a missing file is read as empty bytes (workspace D36)."""
        with self._lock:
            token = self.tree.probe(self.path, self.actor)
            if self._noun is None or token != self._token:
                self._noun = self._parse(self.fetch()[0])
                self._token = token
            return self._noun

    def fetch(self) -> tuple[bytes, str | None]:
        """Content and revision; a missing file is empty bytes."""
        try:
            content = self.tree.fetch(self.path, self.actor)
        except NotFound:
            return b"", None
        return content.data, content.revision

    def change(self, edit: Callable[[bytes], bytes]) -> bool:
        """Apply `edit` to the present content, again after each conflict; False when it changed nothing."""
        while True:
            data, revision = self.fetch()
            new = edit(data)
            if new == data:
                return False
            try:
                self.tree.write(self.path, new, self.actor, ABSENT if revision is None else revision)
            except Conflict:
                continue
            return True
