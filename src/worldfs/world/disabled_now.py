"""The robots that config.json disables as it is on the disk, whether or not the kernel has served that change yet."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from worldfs.base.errors import UserError

from .home import Home


class DisabledNow:
    """Looked at before each order: one `stat`, and the file is read once for each change of it."""

    def __init__(self, home: Home, environ: Mapping[str, str], changed: Callable[[], None]) -> None:
        """`changed`: called where the file is another one than at the look before: the whole change is to be served."""
        self._home, self._environ, self._changed = home, environ, changed
        self._read: tuple[int, int, int] | None = None
        self._ids: frozenset[str] = frozenset()

    def __call__(self) -> frozenset[str]:
        """Their ids; those of before while the file cannot be read."""
        try:
            found = os.stat(self._home.config_path)
            token = (found.st_mtime_ns, found.st_size, found.st_ino)
            if token != self._read:
                config = self._home.config(self._environ)
                self._ids = frozenset(item.robot_id for item in config.instances if not item.enabled)
                before, self._read = self._read, token
                if before is not None:
                    self._changed()
        except (OSError, UserError):
            pass
        return self._ids
