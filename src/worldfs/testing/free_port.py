"""Ports for servers of tests that cannot pick one themselves, or that come back on the same one.

A port that the system gave for 0 and got back may go to any other process before the server has it. These lie outside
the range from which the system gives ports and takes those of outgoing connections, and each is claimed by a UDP socket
of the same number, which the system closes when the process ends.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence
from pathlib import Path
from random import SystemRandom
from typing import Final

LOOPBACK: Final = "127.0.0.1"
PORTS: Final = range(20_000, 28_000)  # none of our defaults is among them
GIVEN_BY_SYSTEM: Final = range(32_768, 65_536)  # where the system does not say


def free_port(ports: Sequence[int] = PORTS) -> int:
    """A TCP port of 127.0.0.1 without a server; no other call on this machine gives it while this process lives.

    `ports`: those to choose from. Raises `OSError` (EADDRINUSE) if none of them is free.
    """
    system = _given_by_system()
    outside = [port for port in ports if port not in system] or ports
    for port in SystemRandom().sample(outside, len(outside)):
        if _claim(port):
            return port
    raise OSError(errno.EADDRINUSE, f"none of {len(outside)} ports is free")


def _claim(port: int) -> bool:
    claim = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        claim.bind((LOOPBACK, port))
        with socket.socket() as probe:
            probe.bind((LOOPBACK, port))
    except OSError:
        claim.close()
        return False
    claim.detach()  # open until the process ends
    return True


def _given_by_system() -> range:
    try:
        first, last = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text("ascii").split()
    except OSError:
        return GIVEN_BY_SYSTEM
    return range(int(first), int(last) + 1)
