"""The table of the agents' commands."""

from __future__ import annotations

from worldfs.interfaces.cli.command_spec import ArgumentSpec, CommandSpec

_NAME = ArgumentSpec(("name",), "the agent", "NAME", completes="agent")
_TYPES = ("research", "extract", "evaluate", "ad-hoc")
_FACTS = ArgumentSpec(("facts",), "key=value; a value that is JSON is parsed as JSON", "KEY=VALUE", many="*")
_SESSION = (
    ArgumentSpec(("--type",), "kind of session", choices=_TYPES, default="ad-hoc"),
    ArgumentSpec(("--timeout",), "time limit in seconds", "SECONDS", takes="number"),
    ArgumentSpec(("--domain",), "field of work", "TEXT"),
    ArgumentSpec(("--branch",), "branch of the session", "TEXT"),
    ArgumentSpec(("--model",), "model of the session", "TEXT"),
    ArgumentSpec(("--question",), "question to answer", "TEXT"),
    ArgumentSpec(("--belief",), "hypothesis to test", "TEXT"),
    ArgumentSpec(("--disconfirm",), "what would refute the hypothesis", "TEXT"),
    ArgumentSpec(("--expect",), "sources to archive", "N", takes="count"),
    ArgumentSpec(("--id",), "id of the session (default: made from the time)", "ID", default=""),
)
_LANGUAGE = ArgumentSpec(("--language",), "language of headings and of the prompt", choices=("en", "zh"), default="en")

AGENTS: tuple[CommandSpec, ...] = (
    CommandSpec(
        "agents",
        "list every agent with its session, results and waiting messages",
        "agent.agents_command:run",
        (
            ArgumentSpec(("--watch",), "keep running, and print again on every change", takes="switch"),
            ArgumentSpec(("--plan",), "in the order in which they should run next, with reasons", takes="switch"),
        ),
    ),
    CommandSpec(
        "agent init",
        "create an agent, or its missing files",
        "agent.state_commands:init",
        (_NAME._replace(many="*"), _LANGUAGE),
        "Without a name: the missing files of every agent.",
    ),
    CommandSpec(
        "agent rm",
        "remove an agent: its directory is moved to a backup and can be restored",
        "agent.removal_commands:remove",
        (_NAME._replace(many="+"),),
        "It prints where the directory is now. An agent that runs a session is not removed.",
    ),
    CommandSpec(
        "agent restore",
        "restore the last removed agent of this name; without a name, list the removed agents",
        "agent.removal_commands:restore",
        (_NAME._replace(many="?", completes=""),),
    ),
    CommandSpec("agent show", "one agent: report, session, metrics, findings", "agent.state_commands:show", (_NAME,)),
    CommandSpec(
        "agent run",
        "run a command as a session of an agent: paos agent run rio --type research --with claude-code",
        "agent.run_command:run",
        (
            _NAME,
            *_SESSION,
            ArgumentSpec(("--silence",), "time limit in seconds without output", "SECONDS", takes="number"),
            ArgumentSpec(
                ("--prompt",),
                "how the command gets the state prompt: as its standard input (default of --with), as its last "
                "argument, or not",
                choices=("stdin", "arg", "none"),
            ),
            ArgumentSpec(
                ("--with",),
                "run this command-line agent, and let it read and write this agent's directory; words after -- are its",
                choices=("claude-code", "codex", "gemini"),
            ),
            ArgumentSpec(("--template",), "a file with a custom state prompt", "FILE", completes="file"),
            ArgumentSpec(("--budget",), "token budget of the state in the prompt", "N", takes="count", default=4000),
            ArgumentSpec(("--pre",), "shell command before the start", "COMMAND", default=""),
            ArgumentSpec(("--post",), "shell command after success", "COMMAND", default=""),
            ArgumentSpec(("--error",), "shell command after failure", "COMMAND", default=""),
            _LANGUAGE,
            ArgumentSpec(
                ("argv",), "the command and its arguments, after --", "-- COMMAND", many="*", completes="file"
            ),
        ),
        "Exit 0: it completed; 1: it failed or took too long; 2: it could not start. The session's end, all its "
        "descendants' end and what became of its messages are durable when this returns.",
    ),
    CommandSpec(
        "agent start",
        "start a session without a command, for shell scripts; prints its id",
        "agent.session_commands:start",
        (
            _NAME,
            *_SESSION,
            ArgumentSpec(("--for",), "process whose end ends the session (default: the caller)", "PID", takes="count"),
        ),
    ),
    CommandSpec(
        "agent event",
        "append an entry to the journal",
        "agent.session_commands:event",
        (_NAME, ArgumentSpec(("event",), "what happened", "EVENT"), _FACTS),
    ),
    CommandSpec(
        "agent outcome",
        "record record facts for the end of the running session",
        "agent.session_commands:outcome",
        (_NAME, _FACTS),
    ),
    CommandSpec(
        "agent end",
        "end the session that `agent start` began",
        "agent.session_commands:end",
        (
            _NAME,
            ArgumentSpec(
                ("outcome",), "how it ended", choices=("completed", "timeout", "error"), many="?", default="completed"
            ),
            ArgumentSpec(("--summary",), "what was done", "TEXT", default=""),
            ArgumentSpec(("--handoff",), "a note for the next session", "TEXT", default=""),
            ArgumentSpec(("--next",), "the first step of the next session", "TEXT"),
            ArgumentSpec(("--why",), "what went wrong", "TEXT", default=""),
            _FACTS,
        ),
    ),
    CommandSpec(
        "agent hook",
        "what the session hooks of a command-line agent call (`paos setup` writes them); the event is read from stdin",
        "agent.hook_command:run",
        (
            _NAME,
            ArgumentSpec(("--for",), "process whose end ends the session (default: the caller)", "PID", takes="count"),
        ),
        "SessionStart begins a session and prints the state prompt, after a compaction the prompt alone; a turn or a "
        "tool call prints the messages that have arrived; SessionEnd ends the session.",
    ),
    CommandSpec(
        "agent tasks",
        "the tasks of an agent; or add one, or close one",
        "agent.state_commands:tasks",
        (
            _NAME,
            ArgumentSpec(("--all",), "also list completed and dropped tasks", takes="switch"),
            ArgumentSpec(("--add",), "add a task with this description", "TEXT"),
            ArgumentSpec(("--type",), "its type", "WORD", default="follow-up"),
            ArgumentSpec(("--priority",), "its priority", choices=("high", "medium", "low"), default="medium"),
            ArgumentSpec(("--close",), "complete the task of this id", "ID"),
            ArgumentSpec(("--drop",), "drop the task of this id", "ID"),
            ArgumentSpec(("--outcome",), "the result", "TEXT", default=""),
        ),
    ),
    CommandSpec(
        "agent memory",
        "show an agent's memory, add to it, or restore a version",
        "agent.state_commands:memory",
        (
            _NAME,
            ArgumentSpec(("--add",), "remember this", "TEXT"),
            ArgumentSpec(("--section",), "patterns, dead_ends, questions, corrections, flags, or a heading", "TEXT"),
            ArgumentSpec(("--pin",), "always include it in a context", takes="switch"),
            ArgumentSpec(("--undo",), "restore the version so many back", "N", takes="count"),
            ArgumentSpec(("--versions",), "list the stored versions", takes="switch"),
        ),
    ),
    CommandSpec(
        "agent search",
        "search an agent's memory",
        "agent.state_commands:search",
        (
            _NAME,
            ArgumentSpec(("query",), "words", "TEXT", many="+"),
            ArgumentSpec(("--limit",), "at most so many", "N", takes="count", default=10),
        ),
    ),
    CommandSpec(
        "agent context",
        "build the context of an agent's session, within a token budget",
        "agent.state_commands:context",
        (
            _NAME,
            ArgumentSpec(("--budget",), "at most so many", "N", takes="count", default=4000),
            ArgumentSpec(("--unit",), "of what", choices=("tokens", "bytes"), default="tokens"),
            ArgumentSpec(("--prompt",), "as the whole state prompt", takes="switch"),
            _LANGUAGE,
        ),
    ),
    CommandSpec(
        "agent inbox",
        "the messages that wait; or claim, acknowledge, return one",
        "agent.message_commands:inbox",
        (
            _NAME,
            ArgumentSpec(("--claim",), "claim the next message for so many seconds", "SECONDS", takes="number"),
            ArgumentSpec(
                ("--wait",), "wait at most so many seconds for a message, and claim it", "SECONDS", takes="number"
            ),
            ArgumentSpec(("--ack",), "acknowledge this claim", "TOKEN"),
            ArgumentSpec(("--return",), "this claim is not done: let others have the message", "TOKEN"),
            ArgumentSpec(("--dead",), "the messages that could not be delivered", takes="switch"),
            ArgumentSpec(("--receipt",), "what became of a message, and when", "ID"),
        ),
    ),
    CommandSpec(
        "agent send",
        "a message to an agent",
        "agent.message_commands:send",
        (
            ArgumentSpec(("to",), "the recipient", "TO", completes="agent"),
            ArgumentSpec(("subject",), "subject", "SUBJECT"),
            ArgumentSpec(("body",), "text of the message; - for standard input", "BODY", many="?", default=""),
            ArgumentSpec(("--from",), "sender (default: operator)", "NAME", default="operator"),
            ArgumentSpec(
                ("--type",), "kind of message", choices=("flag", "task", "question", "cascade"), default="flag"
            ),
            ArgumentSpec(("--priority",), "its priority", choices=("high", "normal", "low"), default="normal"),
            ArgumentSpec(("--ref",), "reference", "TEXT"),
            ArgumentSpec(("--expires",), "not to be delivered after this time (ISO 8601)", "TIME"),
            ArgumentSpec(("--id",), "its id: the same message sent twice arrives once", "ID", default=""),
        ),
        "TO may be `all`: a cascade to every agent.",
    ),
    CommandSpec(
        "agent journal",
        "what happened",
        "agent.state_commands:journal",
        (
            _NAME,
            ArgumentSpec(("-n", "--last"), "the last so many entries", "N", takes="count", default=20),
            ArgumentSpec(("--after",), "all entries after this number", "SEQ", takes="count"),
        ),
    ),
    CommandSpec(
        "agent import",
        "import the state of other tools: ops/sessions, queue.md, flags, Claude Code, Codex, MCP memory, Beads",
        "agent.import_commands:import_agent",
        (
            _NAME,
            ArgumentSpec(
                ("place",), "a file or directory of the other tool; it is only read", "PLACE", completes="file"
            ),
            ArgumentSpec(("--dry-run",), "only list what would be imported", takes="switch"),
            ArgumentSpec(("--research-journal",), "the sessions of research-journal.md as notes too", takes="switch"),
            ArgumentSpec(
                ("--instructions",), "the rules of CLAUDE.md, AGENTS.md, GEMINI.md as notes too", takes="switch"
            ),
        ),
        "A missing agent is created if PLACE contains it completely (an agent-state root of version 1). Exit 1: "
        "something was not understood, or nothing was found.",
    ),
    CommandSpec(
        "agent export",
        "the seven files of an agent, as they are, into a directory",
        "agent.import_commands:export",
        (_NAME, ArgumentSpec(("place",), "a new directory", "DIR", completes="file")),
    ),
    CommandSpec(
        "agent schema",
        "the JSON Schema (2020-12) of a document",
        "agent.state_commands:schema",
        (
            ArgumentSpec(
                ("document",), "which", choices=("report", "tasks", "session", "message", "metrics", "journal")
            ),
        ),
    ),
)
