"""Commands to a node's driver that are no jobs (film, stop filming): files that its lane executes and removes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial

from worldfs.base.errors import UserError, WorldError
from worldfs.base.messages import coded
from worldfs.base.model import Finding
from worldfs.storage.store_interface import Store

from .alerts import Alerts
from .body_worker import JobHooks
from .job_store import CONTROL
from .worker_threads import WorkerThreads


class NodeControls:
    def __init__(self, store: Store, hooks: JobHooks, lanes: Mapping[str, WorkerThreads], alert: Alerts) -> None:
        self._store, self._hooks, self._lanes, self._alert = store, hooks, lanes, alert

    def submit(self, node: str) -> None:
        """Queue the command on the node's lane, before any later work."""
        if node in self._lanes:
            self._lanes[node].submit(partial(self._execute, node))

    def submit_all(self) -> None:
        for node in self._store.list(CONTROL):
            self.submit(node)

    def _execute(self, node: str) -> None:
        key = f"{CONTROL}/{node}"
        try:
            stored = self._store.get(key)
            if stored is None:
                return
            self._hooks.control(node, stored.data.decode("utf-8", "replace"))
            self._alert(key, None)
        except Exception as error:
            code, found, fix = (
                (error.code, error.found, error.fix)
                if isinstance(error, UserError)
                else ("CONTROL_FAILED", str(error) or repr(error), "")
            )
            self._alert(key, Finding(code, key, coded("runtime.supported_command"), found, fix))
        with suppress(WorldError):  # the lane survives a broken disk; the kernel fails at its own next write
            self._alert.publish()
            self._store.delete(key, durable=False)  # the caller waits for the file to go, then checks for an alert
