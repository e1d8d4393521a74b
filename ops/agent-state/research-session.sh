#!/bin/sh
# One research session of an agent on a branch of its own, with every hook of Agent State v1.
#
#   ops/agent-state/research-session.sh AGENT [OPTION …] --with claude-code|codex|gemini [-- WORD …]
#   ops/agent-state/research-session.sh AGENT [OPTION …] -- COMMAND [WORD …]     # the prompt is its standard input
#
#   --repo DIR         the repository that it works in (default: the current directory); its files are left alone
#   --sources DIR      where in the repository it archives sources (default: sources)
#   --timeout SECONDS  (default: 5400)
#   --pr COMMAND       opens the pull request of $BRANCH, and prints its number
#   --domain TEXT, --model NAME, --question TEXT, --belief TEXT, --disconfirm TEXT, --expect N: as of `paos agent run`
#
# pre-session    branch and work tree; `paos agent run` writes session.json, report.json and session_start, and puts
#                memory.md and tasks.json into the prompt
# post-session   the work is committed; sources, branch and pull request are told by `paos agent outcome`; `paos agent
#                run` writes session.json, report.json, metrics.json and session_end, and cleans the inbox
# error, timeout what there is of the work is committed to its branch; `paos agent run` writes the error
#
# Exit: as of `paos agent run`: 0 completed, 1 failed or too long, 2 it could not start.
set -eu
STATE_SH=$(cd "$(dirname "$0")" && pwd)
. "$STATE_SH/state.sh"

fail() {
    echo "research-session.sh: $1" >&2
    exit 2
}

# The hook: $1 is `post` or `error`. It runs in the work tree, while the session still does.
if [ "${1-}" = --hook ]; then
    GIT_AUTHOR_NAME=${GIT_AUTHOR_NAME:-$PAOS_AGENT} GIT_AUTHOR_EMAIL=${GIT_AUTHOR_EMAIL:-$PAOS_AGENT@localhost}
    GIT_COMMITTER_NAME=${GIT_COMMITTER_NAME:-$GIT_AUTHOR_NAME} GIT_COMMITTER_EMAIL=${GIT_COMMITTER_EMAIL:-$GIT_AUTHOR_EMAIL}
    export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
    title="$PAOS_AGENT: research session $PAOS_SESSION"
    if [ "$2" = error ]; then title="$title (unfinished: $PAOS_RESULT)"; fi
    git add -A
    git diff --cached --quiet || git commit -q -m "$title"
    sources=$(git diff --name-only --diff-filter=A "$BASE" HEAD -- "$SOURCES" | wc -l | tr -d ' ')
    set -- "$2" "branch=$BRANCH" "sources_archived=$sources"
    if [ "$1" = post ] && [ -n "$PR" ]; then
        number=$(sh -c "$PR")
        case $number in '' | *[!0-9]*) fail "--pr printed ${number:-nothing}, expected the number of a pull request" ;; esac
        set -- "$@" "pr_number=$number"
    fi
    shift
    state_outcome "$PAOS_AGENT" "$@"
    exit
fi

[ $# -gt 0 ] || fail "which agent? see the head of this script"
agent=$1
shift
repo=. SOURCES=sources PR='' timeout=5400 with='' options=''
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    [ $# -gt 1 ] || fail "$1 needs a value"
    case $1 in
    --repo) repo=$2 ;;
    --sources) SOURCES=$2 ;;
    --pr) PR=$2 ;;
    --timeout) timeout=$2 ;;
    --with) with=$2 ;;
    --domain | --model | --question | --belief | --disconfirm | --expect)
        # kept as quoted shell words: values have spaces
        options="$options $1 '$(printf %s "$2" | sed "s/'/'\\\\''/g")'"
        ;;
    *) fail "unknown option $1" ;;
    esac
    shift 2
done
[ "${1-}" != -- ] || shift
[ -n "$with" ] || [ $# -gt 0 ] || fail "no command: --with TOOL, or -- COMMAND"

repo=$(cd "$repo" && git rev-parse --show-toplevel) || fail "--repo: no git repository"
BASE=$(git -C "$repo" rev-parse HEAD) || fail "$repo has no commit to start from"
id=$(date -u +%Y%m%d-%H%M%S)-$(od -An -N2 -tx1 /dev/urandom | tr -d ' \n')
BRANCH=$agent/research-$id # the session's own: a second run of a day is no danger to the first
work=$(mktemp -d)/$agent
git -C "$repo" worktree add -q -b "$BRANCH" "$work" "$BASE"
trap 'git -C "$repo" worktree remove --force "$work"; rmdir "$(dirname "$work")"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
export BASE BRANCH SOURCES PR

self=$STATE_SH/research-session.sh
hook="sh '$(printf %s "$self" | sed "s/'/'\\\\''/g")' --hook"
eval "set -- $options"' ${with:+--with "$with"} -- "$@"'
cd "$work"
code=0
state_paos agent run "$agent" --type research --id "$id" --branch "$BRANCH" --timeout "$timeout" --prompt stdin \
    --post "$hook post" --error "$hook error" "$@" || code=$?
exit "$code"
