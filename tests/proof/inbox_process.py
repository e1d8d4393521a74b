"""A claimer of letters in a process of its own, to be killed: ROOT LOG LEASE_S [IDLE_S].

Begins with a line or the end of stdin. Each delivery and each acknowledgement is a line in LOG, written in one step.
Ends when nothing came for IDLE_S.
"""

from __future__ import annotations

import os
import random
import sys
import time
from pathlib import Path

from worldfs.agents.agent_directory import AgentDirectory
from worldfs.agents.inbox import Inbox
from worldfs.base.errors import NotFound


def main(root: str, log: str, lease_s: float, idle_s: float) -> int:
    said = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    inbox = Inbox(AgentDirectory(Path(root), "rio"), attempts=1_000_000)
    me = str(os.getpid())
    slow = random.Random(os.getpid())
    print("ready", flush=True)
    sys.stdin.readline()  # until all of them are ready
    while (claim := inbox.claim(me, lease_s=lease_s, wait=idle_s)) is not None:
        os.write(said, f"got {claim.message.subject} {me} {time.monotonic()}\n".encode())
        if slow.random() < 0.01:
            time.sleep(slow.uniform(0, 0.02))  # now and then a letter is work
        try:
            inbox.ack(claim.token)
        except NotFound:
            os.write(said, f"late {claim.message.subject} {me} {time.monotonic()}\n".encode())
        else:
            os.write(said, f"ack {claim.message.subject} {me} {time.monotonic()}\n".encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])))
