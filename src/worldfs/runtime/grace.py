"""How long what must stop may take before its job ends without it: one rule, and every length of it, in seconds."""

from __future__ import annotations

from typing import Final, NamedTuple


class Grace(NamedTuple):
    """Of a runtime's workers. `cancel_s` None: a cancelled worker may take until its deadline, since it stops where
    that is safe."""

    stop_s: float  # after its deadline, and after a stop of its node
    cancel_s: float | None


BODY: Final = Grace(2.0, None)  # a node's driver
AGENT: Final = Grace(10.0, 10.0)  # a chat backend or a tool
EARLY_END_S: Final = 2.0  # for a driver to return from an order that is to end early, before its stop is called
SILENT_S: Final = 30.0  # for a worker to return after its order has ended without it: then nothing waits for that
SILENT: Final = "DRIVER_SILENT"  # of the alert that says so
LEAVE_S: Final = 2.0  # for all drivers to be told to stop, before a process ends at once
# Each waits for the end of a body's job, and must not give up before that job ends without its driver.
CONFIRM_S: Final = 3.0  # `paos stop`
LOOK_S: Final = 0.1  # between two looks at what a server knows of a robot that was stopped
TOLD_S: Final = 0.3  # for a kernel of this machine to tell its drivers; then the sender writes the log itself
SAFE_STOP_S: Final = 8.0  # an agent's order to a robot, which itself ends within AGENT
