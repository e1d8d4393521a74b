"""config.json as it is on the disk, whether or not the kernel has served its last change yet."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from worldfs.base.clock import Clock
from worldfs.base.errors import UserError
from worldfs.base.messages import coded
from worldfs.base.model import Finding

from .home import Home

if TYPE_CHECKING:
    from worldfs.formats.config import Config

AGAIN_S: Final = 2.0  # between two looks while a robot is disabled or at work


class LiveConfig:
    """Looked at before each order, and now and then while a robot is disabled or at work: one `stat`, and the file is
    read once for each change of it."""

    def __init__(
        self, home: Home, environ: Mapping[str, str], clock: Clock, started: Config, changed: Callable[[], None]
    ) -> None:
        """`started`: what the kernel starts with. `changed`: called where the file is another one than at the look
        before: what holds of an order is judged by it at once, and the whole change is to be served."""
        self._home, self._environ, self._clock, self._changed = home, environ, clock, changed
        self._looked = clock.monotonic()
        self._read: tuple[int, int, int] | None = None
        self._first = True
        self._ids: frozenset[str] = frozenset()
        self.now = started  # the last one that could be read
        self.error: UserError | None = None  # why what is there now cannot be
        self.at_work: Callable[[], bool] = lambda: False  # whether a robot is

    def disabled(self) -> frozenset[str]:
        """The robots that it disables; those of before while the file is absent or cannot be read."""
        self._looked = self._clock.monotonic()
        token = self._token()
        if token is None:
            self._first = False
        elif token != self._read:
            read, failed = self.now, None
            try:
                read = self._home.config(self._environ)
            except UserError as error:
                failed = error
            except OSError:
                return self._ids  # looked at again before the next order
            if self._token() != token:
                return self._ids  # its writer is at work
            as_started = self._first and failed is None and read == self.now
            self.now, self.error, self._first, self._read = read, failed, False, token
            self._ids = frozenset(item.robot_id for item in read.instances if not item.enabled)
            if not as_started:
                self._changed()
        return self._ids

    def _token(self) -> tuple[int, int, int] | None:
        """Of the file as it is; None: it is absent, or empty, as editors leave it while they write."""
        try:
            found = os.stat(self._home.config_path)
        except OSError:
            return None
        return (found.st_mtime_ns, found.st_size, found.st_ino) if found.st_size else None

    def begin(self) -> None:
        """A robot that is enabled again has missions that wait, and one that is disabled at work is to end: no order
        comes before."""
        if self.patience() == 0.0:
            self.disabled()

    def patience(self) -> float | None:
        """Seconds until the next look; None while no robot is disabled or at work."""
        due = self._looked + AGAIN_S - self._clock.monotonic()
        return max(0.0, due) if self._ids or self.at_work() else None


def is_unserved(served: Config, now: Config, robot: str) -> bool:
    """Whether the kernel of a fleet has yet to serve a change of that robot's entry."""
    mine = served.instance(robot)
    if mine is None or served.mode != "fleet" or _workspace(served) != _workspace(now):
        return False
    return now.instance(robot) != mine


def needs_restart(served: Config, now: Config, robot: str) -> Finding | None:
    """What was changed of a robot, or of all, that holds from the next start on; until then the robot is sent no order.
    None: what else is changed holds at the next order."""
    members = []
    if _workspace(served) != _workspace(now):
        members = ["embodiments.mode, embodiments.sharedWorkspace"]
    elif served.mode != "fleet" and (served.instances or now.instances):
        before, after = (config.instance(robot) for config in (served, now))
        if before is None or after is None:
            members = ["embodiments.instances"] if before is not after else []
        else:
            names = {"driver": "driver", "profile": "profileName", "store": "store"}
            members = [name for field, name in names.items() if getattr(before, field) != getattr(after, field)]
    if not members:
        return None
    found = coded("world.target_limits", id=robot, members=members)
    expected = coded("config.as_started")
    return Finding("CONFIG_CHANGED", f"config.json {robot}", expected, found, coded("world.start_again"))


def _workspace(config: Config) -> tuple[str, str]:
    return config.mode, config.shared_workspace if config.mode == "fleet" else ""
