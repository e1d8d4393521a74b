"""The roles: those of the specification's permission matrix, the agent and the operator."""

from __future__ import annotations

OPERATOR = "operator"  # the person whose machine it is: sees everything, writes what is declared theirs
PLANNER = "planner"
CRITIC = "critic"
WATCHDOG = "watchdog"  # the kernel and its drivers, for the documents of robots
ORCHESTRATOR = "orchestrator"
RUNTIME = "runtime_watchdog"  # the kernel, for sessions of skills
AGENT = "agent"  # an agent with a directory of its own (Agent State v1)

# In the order of the specification's matrix, with its column headings (000 "Who Reads, Who Writes").
MATRIX_ROLES = {
    PLANNER: "Planner (Agent)",
    CRITIC: "Critic",
    WATCHDOG: "Watchdog (Track B)",
    ORCHESTRATOR: "Orchestrator",
    RUNTIME: "Runtime Watchdog",
}
ROLES = (*MATRIX_ROLES, AGENT, OPERATOR)

ALL = frozenset(MATRIX_ROLES)
EVERYBODY = ALL | {AGENT}
ASKERS = {PLANNER: "", AGENT: "", OPERATOR: ""}  # writers of a Control of the served tree


def is_role(name: str) -> bool:
    return name in ROLES


def readers(*roles: str) -> frozenset[str]:
    return frozenset(roles)
