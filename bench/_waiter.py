"""Who waits for letters, in a process of its own: `python -m bench._waiter AGENTS NAME`.

For each line of input: waits for a letter, says the monotonic clock when it was woken and when the letter was claimed,
durably, and acknowledges it.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path


def main(agents: Path, name: str) -> None:
    from worldfs.agents.agent_directory import AgentDirectory
    from worldfs.agents.inbox import Inbox

    inbox = Inbox(AgentDirectory(agents, name))
    inbox.wait(0)
    for _ in sys.stdin:
        print("ready", flush=True)
        if not inbox.wait(60):
            raise SystemExit("no letter came in a minute")
        woken = time.monotonic()
        claim = inbox.claim("waiter")
        claimed = time.monotonic()
        assert claim is not None
        inbox.ack(claim.token)
        print(woken, claimed, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
