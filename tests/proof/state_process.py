"""A process that changes an agent's state and says what was acknowledged: `state_process.py ROOT WHO KIND COUNT LOG`.

KIND "tasks": adds tasks; "events": counts sources and claims. One line a change, written after the call returned.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

from worldfs import AgentState


def main(root: str, who: str, kind: str, count: int, log: str) -> int:
    said = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    chance = random.Random(f"{who}{os.getpid()}")
    with AgentState.open("rio", Path(root)) as state:
        print("ready", flush=True)
        for turn in range(count):
            if kind == "tasks":
                state.add_task(f"task {turn} of {who}", id=f"t-{who}-{turn}")
                os.write(said, f"task t-{who}-{turn}\n".encode())
            else:
                name = chance.choice(["sources_archived", "claim_proposed", "disconfirmation_attempt"])
                number = chance.randrange(1, 5)
                seq = state.append({"event": name, "count": number})
                os.write(said, f"event {seq} {name} {number}\n".encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5]))
