#!/usr/bin/env bash
# Make the directories of agents and their first files; what is there already is left alone.
#
#   ops/agent-state/bootstrap.sh [--agents DIR] AGENT…
#
# Where: --agents DIR, else $PAOS_AGENTS, else ~/.PhyAgentOS/agents. Needs the command `paos` (make sets up .venv).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=ops/agent-state/state.sh
. "$here/state.sh"

where=()
if [[ ${1-} == --agents ]]; then
    where=(--agents "${2:?"--agents needs a directory"}")
    shift 2
fi
if (($# == 0)); then
    echo "usage: ops/agent-state/bootstrap.sh [--agents DIR] AGENT…" >&2
    exit 2
fi
state_paos ${where[@]+"${where[@]}"} agent init "$@"
