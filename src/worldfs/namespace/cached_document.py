"""Parsed documents of the tree, parsed again only when the store has another revision."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from worldfs.base.document_size import refuse_large
from worldfs.base.errors import BadInput, Conflict, Exists, NotFound
from worldfs.storage.store_interface import ABSENT
from worldfs.tree.verb_values import Content

from .path_verbs import PathVerbs

if TYPE_CHECKING:
    from .node import Node

Parsed = TypeVar("Parsed")


class CachedDocument(Generic[Parsed]):
    """One stored file of a namespace: `get` parses it, `change` rewrites it under compare-and-swap."""

    def __init__(self, namespace: PathVerbs, path: str, parse: Callable[[bytes], Parsed]) -> None:
        self._namespace = namespace
        self.path = path
        self._parse = parse
        self._node: Node | None = None  # of the path, as long as there is a file
        self._revision = ""
        self._noun: Parsed | None = None
        self._lock = threading.Lock()

    def get(self) -> Parsed:
        """Raises what the parser raises; a missing file is read as empty bytes (workspace D36)."""
        with self._lock:
            data, revision = self.fetch()
            if self._noun is None or revision != self._revision:
                try:
                    self._noun = self._parse(data)
                except BadInput as error:
                    error.path = error.path or self.path
                    raise
                self._revision = revision
            return self._noun

    def fetch(self) -> Content:
        """A missing file is empty bytes of no revision."""
        try:
            node = self._node = self._node or self._namespace.walk(self.path)
            return node.read()
        except NotFound:
            self._node = None
            return Content(b"")

    def change(self, edit: Callable[[bytes], bytes]) -> bool:
        """Apply `edit` to the present content, again after each conflict; False when it changed nothing."""
        while True:
            data, revision = self.fetch()
            new = edit(data)
            if new == data:
                return False
            refuse_large(new, self.path, "file.shorten")
            try:
                self._namespace.write(self.path, new, expect=revision or ABSENT)
            except (Conflict, Exists):
                continue
            return True
