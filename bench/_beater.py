"""Robots that are heard of, in a process of their own: `python -m bench._beater KIND PLACE ROBOTS SECONDS EVERY_S`.

Writes a heartbeat for each robot every EVERY_S seconds into the store KIND at PLACE. Says "ready", begins after a line
of input, then prints JSON: [robot, monotonic clock before its write] for each write.
"""

from __future__ import annotations

import json
import sys
import threading
import time

WRITERS = 16  # a robot does not wait for the others' writes


def main(kind: str, place: str, robots: int, seconds: float, every_s: float) -> None:
    from worldfs.storage.open_store import open_store

    store = open_store(kind, kind, place) if kind == "nats" else open_store(kind, place)
    sent: list[tuple[int, float]] = []
    print("ready", flush=True)
    sys.stdin.readline()
    began = time.monotonic()

    def beat(some: range) -> None:
        """Each robot at its own moment of the period, if the store keeps up."""
        for turn in range(int(seconds / every_s)):
            for robot in some:
                time.sleep(max(0.0, began + (turn + robot / robots) * every_s - time.monotonic()))
                sent.append((robot, time.monotonic()))
                store.put(f".paos/heartbeats/r{robot:04d}", str(turn).encode(), durable=False)

    writers = [
        threading.Thread(target=beat, args=(range(first, robots, WRITERS),)) for first in range(min(WRITERS, robots))
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    store.close()
    print(json.dumps(sent))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5]))
