"""A runner in a process of its own, to be killed: AGENTS ARGV…; it says "go" before it begins."""

from __future__ import annotations

import sys

from worldfs.agents.agent_state import AgentState
from worldfs.supervisor import CommandRequest, run

with AgentState.open("rio", sys.argv[1]) as state:
    print("go", flush=True)
    run(state, CommandRequest(tuple(sys.argv[2:]), timeout_s=60, grace_s=0.2), out=-1, err=-1, alone=True)
