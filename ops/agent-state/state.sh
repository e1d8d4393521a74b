# A shell library over `paos agent` for any POSIX shell: source it. One function a step; each returns paos' exit code.
#
#   . ops/agent-state/state.sh
#   state_start rio --type research --timeout 5400     # PAOS_SESSION is set; the session is the script's
#   state_prompt rio                                   # what to put before the model
#   state_event rio sources_archived count=5
#   state_outcome rio sources_archived=8 pr_number=247
#   state_end rio completed --summary "8 sources"      # or: state_end rio timeout --why "…"
#
# A script that dies without state_end is noticed at once: its session ends as an error (lost), its letters wait again.

state_paos() { # the command, wherever it is installed
    if command -v paos >/dev/null 2>&1; then
        paos "$@"
    elif [ -x "${STATE_SH:-$(dirname "${BASH_SOURCE:-$0}")}/../../.venv/bin/paos" ]; then # STATE_SH: where this file is
        "${STATE_SH:-$(dirname "${BASH_SOURCE:-$0}")}/../../.venv/bin/paos" "$@"
    else
        echo "state.sh: no command paos; install worldfs or put its .venv/bin on PATH" >&2
        return 127
    fi
}

state_start() { # AGENT [--type …]: begins a session that lives as long as this shell
    PAOS_SESSION=$(state_paos agent start "$@" --for "$$") || return
    PAOS_AGENT=$1
    export PAOS_SESSION PAOS_AGENT
}

state_event() { state_paos agent event "$@" >/dev/null; }     # AGENT EVENT [key=value …]
state_outcome() { state_paos agent outcome "$@" >/dev/null; } # AGENT key=value …
state_prompt() { state_paos agent context "$@" --prompt; }    # AGENT [--budget N]

state_end() { # AGENT [completed|timeout|error] [--summary …] [key=value …]
    state_paos agent end "$@" >/dev/null || return
    unset PAOS_SESSION PAOS_AGENT
}

state_outcome_of() { # EXIT-CODE: the word for state_end; 124 is what timeout(1) says
    case $1 in
    0) echo completed ;;
    124) echo timeout ;;
    *) echo error ;;
    esac
}
