"""`paos up --standby`: wait while another process serves, and take over when it has gone."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Final

from worldfs.base.clock import SystemClock
from worldfs.base.errors import Busy, StorageError, WorldError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from worldfs.base.stop_signal import StopSignal

AGAIN_S: Final = 0.1  # between two attempts: the engine may not answer yet, or a robot's own lease not be free


def may_wait(error: WorldError) -> bool:
    """Whether it is the lack of a lease or of an answer of the engine: what time may mend."""
    return isinstance(error, Busy | StorageError) or error.code == "ENGINE_UNREACHABLE"


def wait_for_leases(root: Path, engine: str, names: Sequence[str], stop: StopSignal) -> None:
    """Wait until no process holds any of them, or `stop` is set. Woken by the store's watch, and by `stop`."""
    from worldfs.world.workspace_engine import open_engine

    while not stop.is_set():
        try:
            with closing(open_engine(root, engine)) as store:
                with store.watch(*names) as watch, stop.calling(watch.wake):
                    while not stop.is_set() and any(store.lease(name).holder() is not None for name in names):
                        watch.read(None)
                SystemClock().wait(stop, AGAIN_S)
                return
        except WorldError as error:
            if not may_wait(error):
                raise
        SystemClock().wait(stop, AGAIN_S)
