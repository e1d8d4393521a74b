"""A port for a server is given once on a machine, and never one that the system may give meanwhile."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from worldfs.testing import free_port as free_port_module
from worldfs.testing.free_port import GIVEN_BY_SYSTEM, LOOPBACK, free_port

OTHER = "import sys; from worldfs.testing.free_port import free_port; free_port([int(sys.argv[1])])"


def test_a_server_can_listen_on_it_again_and_again() -> None:
    port = free_port()
    for _ in range(2):
        with socket.create_server((LOOPBACK, port)), socket.create_connection((LOOPBACK, port)):
            pass


def test_it_is_given_once_in_this_process_and_in_others() -> None:
    port = free_port()
    with pytest.raises(OSError, match="none of 1 ports is free"):
        free_port([port])
    other = subprocess.run([sys.executable, "-c", OTHER, str(port)], capture_output=True, text=True, check=False)
    assert other.returncode == 1 and "none of 1 ports is free" in other.stderr


def test_a_port_on_which_a_server_listens_is_passed_over() -> None:
    with socket.create_server((LOOPBACK, 0)) as server, pytest.raises(OSError, match="none of 1 ports is free"):
        free_port([server.getsockname()[1]])


def test_it_lies_outside_the_range_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = free_port()
    wanted = free_port()
    monkeypatch.setattr(free_port_module, "_claim", lambda port: True)  # both are ours already
    monkeypatch.setattr(free_port_module, "_given_by_system", lambda: range(kept, kept + 1))
    assert {free_port([kept, wanted]) for _ in range(20)} == {wanted}
    assert free_port([kept]) == kept  # where the system's range has them all, a claimed one is better than none


def test_the_range_of_the_system_is_read() -> None:
    said = Path("/proc/sys/net/ipv4/ip_local_port_range")
    found = free_port_module._given_by_system()
    if said.exists():
        assert [found[0], found[-1]] == [int(word) for word in said.read_text().split()]
    else:
        assert found == GIVEN_BY_SYSTEM
