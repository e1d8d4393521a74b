"""Robots that are heard of, in a process of their own: `python -m bench._beater PLACE ROBOTS SECONDS TTL_S`.

Takes the lease of each robot in the bucket of the server at PLACE, which the product then renews by itself. Says
"ready", lets them live for SECONDS after a line of input, then prints JSON: [robot, monotonic clock before it was sent]
of each renewal.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

AT_ONCE = 16


def main(place: str, robots: int, seconds: float, ttl_s: float) -> None:
    from worldfs.plugins.nats_store.nats_lease import NatsLease
    from worldfs.plugins.nats_store.nats_store import NatsStore
    from worldfs.plugins.nats_store.own_server import OwnServer
    from worldfs.plugins.nats_store.store_address import StoreAddress
    from worldfs.storage.lease import node_lease

    store = NatsStore(StoreAddress(ttl_s=ttl_s), server=OwnServer(place, {}))
    number = {node_lease(f"r{robot:04d}"): robot for robot in range(robots)}
    sent: list[tuple[int, float]] = []
    renew = NatsLease._renew

    async def noted(lease: Any) -> None:
        sent.append((number[lease.name], time.monotonic()))
        await renew(lease)

    NatsLease._renew = noted  # type: ignore[method-assign,assignment]  # the moment at which a renewal is sent
    with ThreadPoolExecutor(AT_ONCE) as pool:
        leases = list(pool.map(lambda name: store.lease(name, "kernel").acquire(), number))
    print("ready", flush=True)
    sys.stdin.readline()
    began = time.monotonic()
    threading.Event().wait(seconds)
    lost = sum(lease.lost is not None for lease in leases)
    print(json.dumps({"lost": lost, "sent": [one for one in sent if one[1] >= began]}), flush=True)
    store.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]))
