"""The log of a workload's physical effects: one durable line each, because no crash undoes a motion."""

from __future__ import annotations

from pathlib import Path

from worldfs.base.disk import Disk
from worldfs.base.durable import Root
from worldfs.base.logfile import LogFile

NAME = "deeds"


class EffectLog:
    """Opened after a crash, it ends a torn line: an effect of which nothing is known."""

    def __init__(self, path: Path, disk: Disk) -> None:
        self._log = LogFile(Root(path, disk), NAME)
        self._log.refresh()
        if self._log.inode:
            self._log.cut(sum(len(deed) + 1 for deed in read_effects(path)))

    def record(self, deed: str) -> None:
        self._log.append(f"{deed}\n".encode())

    def close(self) -> None:
        self._log.close()
        self._log.root.close()


def read_effects(path: Path) -> list[str]:
    """The effects up to the first torn line."""
    try:
        data = (path / NAME).read_bytes()
    except FileNotFoundError:
        return []
    return data[: data.rfind(b"\n") + 1].partition(b"\0")[0].decode().splitlines()
