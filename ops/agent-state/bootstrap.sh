#!/bin/sh
# Make the directories of agents and their first files; what is there already is left alone.
#
#   ops/agent-state/bootstrap.sh [--agents DIR] [AGENT…]
#
# Without names: those in agents.conf beside this script, or in the file $PAOS_AGENTS_CONF, and the agents that are there
# already. Where: --agents DIR, else $PAOS_AGENTS, else ~/.PhyAgentOS/agents. Any POSIX shell; needs the command `paos`.
set -eu
STATE_SH=$(cd "$(dirname "$0")" && pwd)
. "$STATE_SH/state.sh"

if [ "${1-}" = --agents ]; then
    PAOS_AGENTS=${2:?"--agents needs a directory"}
    export PAOS_AGENTS
    shift 2
fi
if [ $# -eq 0 ]; then
    conf=${PAOS_AGENTS_CONF:-$STATE_SH/agents.conf}
    while read -r name rest || [ -n "$name" ]; do
        case $name in '' | '#'*) continue ;; esac
        set -- "$@" "$name"
    done <"$conf"
    state_paos agent init "$@" # none configured: those that are there
    if [ $# -eq 0 ]; then exit; fi
    set --
fi
state_paos agent init "$@"
