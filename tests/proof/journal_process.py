"""One thing done with a long journal, by a process of its own: ROOT WHAT. Prints what came of it, and what it took."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from worldfs.agents.agent_state import AgentState
from worldfs.agents.doctor import check
from worldfs.agents.journal_numbers import sequence_numbers


def _last(state: AgentState) -> Any:
    return next((entry["seq"] for entry in state.journal.tail(1, numbered=True)), 0)


def begin(state: AgentState) -> Any:
    return _last(state)


def tail(state: AgentState) -> Any:
    return [entry.get("seq") for entry in state.journal.tail(20)]


def append(state: AgentState) -> Any:
    return state.journal.append("note", {"text": "one more"})


def walk(state: AgentState) -> Any:
    """(entries, the first number, the last), in order and without a gap."""
    count = first = last = 0
    for seq in sequence_numbers(state.journal):
        assert not last or seq == last + 1, f"{last}, then {seq}"
        first = first or seq
        count, last = count + 1, seq
    return count, first, last


def end(state: AgentState) -> Any:
    """(entries, the first number, the last) of the last 100,000, read whole."""
    after = _last(state) - 100_000
    found = [seq for seq, _ in state.journal.lines(after)]
    return len(found), found[0], found[-1]


def main(root: str, what: str) -> None:
    since = time.perf_counter()
    if what in ("check", "fix"):
        said: Any = [(item.code, item.field, item.found) for item in check(Path(root), fix=what == "fix")]
    else:
        with AgentState.open("rio", root) as state:
            said = {"begin": begin, "tail": tail, "append": append, "walk": walk, "end": end}[what](state)
    print(json.dumps({"said": said, "seconds": time.perf_counter() - since, "mib": peak_kib() / 1024}))


def peak_kib() -> int:
    """The most memory that was resident; `getrusage` counts who started us as well."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
