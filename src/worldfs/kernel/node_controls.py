"""Words for a node's body that are no jobs (film, stop filming): files that its lane reads, obeys and removes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial

from worldfs.ground.errors import UserError, WorldError
from worldfs.ground.model import Finding
from worldfs.tree.stores.store_interface import Store

from .alerts import Alerts
from .dispatch import JobHooks, Lane
from .job_store import CONTROL


class NodeControls:
    def __init__(self, store: Store, house: JobHooks, lanes: Mapping[str, Lane], alert: Alerts) -> None:
        self._store, self._house, self._lanes, self._alert = store, house, lanes, alert

    def take(self, node: str) -> None:
        """Handed to the lane, so that it comes before what is submitted after it."""
        if node in self._lanes:
            self._lanes[node].submit(partial(self._obey, node))

    def take_all(self) -> None:
        for node in self._store.list(CONTROL):
            self.take(node)

    def _obey(self, node: str) -> None:
        key = f"{CONTROL}/{node}"
        try:
            stored = self._store.get(key)
            if stored is None:
                return
            self._house.control(node, stored.data.decode("utf-8", "replace"))
            self._alert(key, None)
        except Exception as error:
            code, found, fix = (
                (error.code, error.found, error.fix)
                if isinstance(error, UserError)
                else ("CONTROL_FAILED", str(error) or repr(error), "")
            )
            self._alert(key, Finding(code, key, "something that this body can do", found, fix))
        with suppress(WorldError):  # a lane outlives a broken disk; the kernel meets it at its own next write
            self._alert.tell()
            self._store.delete(key, durable=False)  # who asked waits for it to go, then looks for an alert
