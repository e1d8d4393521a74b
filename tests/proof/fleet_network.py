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
    """`servers`: the machines that serve the hosts, each a host too; none: the machine with the bridge does.

    `addresses` are theirs; `command` starts a program on a host.
    """

    def __init__(self, hosts: tuple[str, ...], servers: tuple[str, ...] = ()) -> None:
        self._number = os.getpid() % 60_000
        self._bridge, net = f"pb{self._number}", f"10.{200 + self._number % 50}.{self._number // 50 % 250}"
        self._servers = servers or ("",)
        named = (*hosts, *servers)
        self._address = {"": f"{net}.1", **{host: f"{net}.{10 + index}" for index, host in enumerate(named)}}
        self._link = {host: f"pv{self._number}x{index}" for index, host in enumerate(named)}
        self.addresses = [self._address[server] for server in self._servers]
        _ip("link", "add", self._bridge, "type", "bridge")
        _ip("addr", "add", f"{self._address['']}/24", "dev", self._bridge)
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
        return ["ip", "netns", "exec", self._space(host)] if host else []

    def cut(self, host: str) -> None:
        _ip("link", "set", self._link[host], "down")

    def cut_out(self, host: str) -> None:
        """It hears, and is not heard."""
        for peer in self._peers(host):
            self._misdirect(host, peer)

    def cut_in(self, host: str) -> None:
        """It is heard, and does not hear."""
        for peer in self._peers(host):
            self._misdirect(peer, host)

    def heal(self, host: str) -> None:
        _ip("link", "set", self._link[host], "up")
        for peer in self._peers(host):
            for one, other in ((host, peer), (peer, host)):
                self._neighbour(one, "del", other, check=False)

    def close(self) -> None:
        for host in self._link:
            _ip("netns", "del", self._space(host), check=False)
        _ip("link", "del", self._bridge, check=False)

    def _peers(self, host: str) -> list[str]:
        """Of a server all others, of a host the servers."""
        return [peer for peer in (self._address if host in self._servers else self._servers) if peer != host]

    def _misdirect(self, host: str, peer: str) -> None:
        """What a host sends to another one is lost."""
        self._neighbour(host, "replace", peer, "lladdr", WRONG_PLACE, "nud", "permanent")

    def _neighbour(self, host: str, do: str, peer: str, *more: str, check: bool = True) -> None:
        inside = ("-n", self._space(host)) if host else ()
        device = "eth0" if host else self._bridge
        _ip(*inside, "neigh", do, self._address[peer], *more, "dev", device, check=check)

    def _space(self, host: str) -> str:
        return f"pn{self._number}{host}"


def _ip(*words: str, check: bool = True) -> int:
    return subprocess.run(["ip", *words], check=check, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
