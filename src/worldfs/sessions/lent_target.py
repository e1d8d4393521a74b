"""What a package's skill holds of a target: it moves for one session, and a review only looks at it.

A stop, a limit of time or the session's end are final for it, also in a thread that the skill has left behind: only the
next session's skill is given a target that moves again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from worldfs.base.driver import Run, Simulated
from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.plugin_calls import Heard, checked
from worldfs.robots.targets.target_adapter import SessionAware, TargetAdapter, TargetStopped
from worldfs.skills.builtin_runtime import NativeOperations

READING: Final = frozenset({"sensors", "actions", "observations", "observe", "scene", "judge", "assumed"})
OF_THE_SESSION: Final = frozenset({"open", "close", "set_run"})  # its driver's own calls


Asked = Callable[[Callable[[], object]], object]
"""Makes a call, and gives its answer."""


def at_once(call: Callable[[], object]) -> object:
    return call()


class LentTarget:
    """The target of one session. `target` is what its skill is given; `end` takes it back."""

    def __init__(
        self,
        adapter: TargetAdapter,
        run: Run,
        hear: Heard | None = None,
        ask: Asked = at_once,
        begin: Asked = at_once,
    ) -> None:
        """`ask` makes each call but that of its stop; `begin` makes the call of a reset within that."""
        self._adapter, self._run, self._over, self._ask, self._begin = adapter, run, "", ask, begin
        ports = SessionAware, NativeOperations, Simulated
        self.target = checked(adapter, TargetAdapter, *ports, hear=hear, around=self._around)

    def end(self) -> None:
        self._over = self._over or "over"

    def _why(self) -> str:
        """Why nothing moves any more; "" while it may. A stop that was seen once lasts."""
        self._over = self._over or self._run.stop
        return self._over

    def _around(self, method: str, call: Callable[[], object]) -> object:
        if method == "stop":
            return call()
        if method in READING:
            return self._ask(call)
        path = f"{self._adapter.target.id} {method}"
        if method in OF_THE_SESSION:
            raise BadInput(coded("target.not_of_skill", name=method), path=path, fix=coded("target.leave_to_session"))
        if why := self._why():
            raise TargetStopped(coded("target.taken_back", why=why), path=path, fix=coded("target.next_session"))
        try:
            return self._ask(call if method != "reset" else partial(self._begin, call))
        finally:
            if self._why():  # meanwhile
                self._adapter.stop()


def target_to_read(adapter: TargetAdapter, ask: Asked = at_once) -> TargetAdapter:
    """The target as a review is given it: whatever moves or opens it is refused. `ask` makes each call."""

    def around(method: str, call: Callable[[], object]) -> object:
        if method not in READING:
            path = f"{adapter.target.id} {method}"
            raise BadInput(coded("target.only_read"), path=path, fix=coded("target.move_in_perform"))
        return ask(call)

    return checked(adapter, TargetAdapter, NativeOperations, Simulated, around=around)
