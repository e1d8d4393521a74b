"""Hosts in network namespaces behind one bridge, whose cables are cut and mended: each way, or one way only."""

from __future__ import annotations

import os
import shutil
import subprocess

WRONG_PLACE = "02:00:00:00:00:01"  # a card that nobody has: what is sent there is lost


def unavailable() -> str:
    """Why there can be no namespaces here; "" where there can."""
    if shutil.which("ip") is None:
        return "no `ip` (iproute2): hosts cannot be cut off from each other"
    name = f"pa{os.getpid()}"
    if _ip("netns", "add", name, check=False):
        return "no right to make network namespaces (root has it): hosts cannot be cut off from each other"
    _ip("netns", "del", name)
    return ""


class FleetNetwork:
    """`server` is the address of the one who has the bridge; `command` starts a program on a host."""

    def __init__(self, hosts: tuple[str, ...]) -> None:
        self._number = os.getpid() % 60_000
        self._bridge, net = f"pb{self._number}", f"10.{200 + self._number % 50}.{self._number // 50 % 250}"
        self.server = f"{net}.1"
        self._address = {host: f"{net}.{10 + index}" for index, host in enumerate(hosts)}
        self._link = {host: f"pv{self._number}x{index}" for index, host in enumerate(hosts)}
        _ip("link", "add", self._bridge, "type", "bridge")
        _ip("addr", "add", f"{self.server}/24", "dev", self._bridge)
        _ip("link", "set", self._bridge, "up")
        for host, link in self._link.items():
            space = self._space(host)
            _ip("netns", "add", space)
            _ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", space)
            _ip("link", "set", link, "master", self._bridge)
            _ip("link", "set", link, "up")
            _ip("-n", space, "addr", "add", f"{self._address[host]}/24", "dev", "eth0")
            _ip("-n", space, "link", "set", "lo", "up")
            _ip("-n", space, "link", "set", "eth0", "up")

    def command(self, host: str) -> list[str]:
        return ["ip", "netns", "exec", self._space(host)]

    def cut(self, host: str) -> None:
        _ip("link", "set", self._link[host], "down")

    def cut_out(self, host: str) -> None:
        """It hears, and is not heard."""
        _ip("-n", self._space(host), "neigh", "replace", self.server, "lladdr", WRONG_PLACE, "dev", "eth0", "nud",
            "permanent")  # fmt: skip

    def cut_in(self, host: str) -> None:
        """It is heard, and does not hear."""
        _ip("neigh", "replace", self._address[host], "lladdr", WRONG_PLACE, "dev", self._bridge, "nud", "permanent")

    def heal(self, host: str) -> None:
        _ip("link", "set", self._link[host], "up")
        _ip("-n", self._space(host), "neigh", "del", self.server, "dev", "eth0", check=False)
        _ip("neigh", "del", self._address[host], "dev", self._bridge, check=False)

    def close(self) -> None:
        for host in self._link:
            _ip("netns", "del", self._space(host), check=False)
        _ip("link", "del", self._bridge, check=False)

    def _space(self, host: str) -> str:
        return f"pn{self._number}{host}"


def _ip(*words: str, check: bool = True) -> int:
    return subprocess.run(["ip", *words], check=check, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
