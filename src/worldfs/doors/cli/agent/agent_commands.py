"""The table of the agents' commands."""

from __future__ import annotations

from worldfs.doors.cli.command_spec import ArgumentSpec, CommandSpec

_NAME = ArgumentSpec(("name",), "the agent", "NAME", completes="agent")
_TYPES = ("research", "extract", "evaluate", "ad-hoc")
_FACTS = ArgumentSpec(("facts",), "key=value; a value that is JSON is taken as such", "KEY=VALUE", many="*")
_SESSION = (
    ArgumentSpec(("--type",), "kind of session", choices=_TYPES, default="ad-hoc"),
    ArgumentSpec(("--timeout",), "end it after so many seconds", "SECONDS", takes="number"),
    ArgumentSpec(("--domain",), "field of work", "TEXT"),
    ArgumentSpec(("--branch",), "branch that it works on", "TEXT"),
    ArgumentSpec(("--model",), "model that it uses", "TEXT"),
    ArgumentSpec(("--question",), "what it is to find out", "TEXT"),
    ArgumentSpec(("--belief",), "belief that it tests", "TEXT"),
    ArgumentSpec(("--disconfirm",), "what would speak against that belief", "TEXT"),
    ArgumentSpec(("--expect",), "sources that it should archive", "N", takes="count"),
    ArgumentSpec(("--id",), "id of the session (default: made from the time)", "ID", default=""),
)
_LANGUAGE = ArgumentSpec(("--language",), "language of headings and of the prompt", choices=("en", "zh"), default="en")

AGENTS: tuple[CommandSpec, ...] = (
    CommandSpec(
        "agents",
        "every agent: what it is at, how it went, what waits for it",
        "agent.agents_command:run",
        (
            ArgumentSpec(("--watch",), "go on, and print again when something changes", takes="switch"),
            ArgumentSpec(("--plan",), "in the order in which they should run next, with reasons", takes="switch"),
        ),
    ),
    CommandSpec(
        "agent init",
        "make an agent, or those of its files that are missing",
        "agent.state_commands:init",
        (_NAME._replace(many="*"), _LANGUAGE),
        "Without a name: the missing files of every agent that is there.",
    ),
    CommandSpec(
        "agent rm",
        "remove an agent: its directory is moved aside, whole, and can come back",
        "agent.removal_commands:remove",
        (_NAME._replace(many="+"),),
        "It prints where the directory is now. An agent that runs a session is not removed.",
    ),
    CommandSpec(
        "agent restore",
        "bring back the agent of this name that was removed last; without a name, list what was removed",
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
            ArgumentSpec(("--silence",), "end it when it says nothing for so many seconds", "SECONDS", takes="number"),
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
            ArgumentSpec(("--template",), "a file with a state prompt of your own", "FILE", completes="file"),
            ArgumentSpec(
                ("--budget",), "tokens that the state may take in the prompt", "N", takes="count", default=4000
            ),
            ArgumentSpec(("--pre",), "shell command before it starts", "COMMAND", default=""),
            ArgumentSpec(("--post",), "shell command after it ended well", "COMMAND", default=""),
            ArgumentSpec(("--error",), "shell command after it failed", "COMMAND", default=""),
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
        "begin a session without running anything: for shell scripts; prints its id",
        "agent.session_commands:start",
        (
            _NAME,
            *_SESSION,
            ArgumentSpec(
                ("--for",), "process whose end is the session's end (default: the caller)", "PID", takes="count"
            ),
        ),
    ),
    CommandSpec(
        "agent event",
        "one entry in the journal",
        "agent.session_commands:event",
        (_NAME, ArgumentSpec(("event",), "what happened", "EVENT"), _FACTS),
    ),
    CommandSpec(
        "agent outcome", "facts for the end of the running session", "agent.session_commands:outcome", (_NAME, _FACTS)
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
            ArgumentSpec(("--handoff",), "what the next session should know", "TEXT", default=""),
            ArgumentSpec(("--next",), "what comes first next time", "TEXT"),
            ArgumentSpec(("--why",), "what went wrong", "TEXT", default=""),
            _FACTS,
        ),
    ),
    CommandSpec(
        "agent tasks",
        "the tasks of an agent; or add one, or close one",
        "agent.state_commands:tasks",
        (
            _NAME,
            ArgumentSpec(("--all",), "list completed and dropped ones too", takes="switch"),
            ArgumentSpec(("--add",), "add a task with this description", "TEXT"),
            ArgumentSpec(("--type",), "its type", "WORD", default="follow-up"),
            ArgumentSpec(("--priority",), "its priority", choices=("high", "medium", "low"), default="medium"),
            ArgumentSpec(("--close",), "complete the task of this id", "ID"),
            ArgumentSpec(("--drop",), "drop the task of this id", "ID"),
            ArgumentSpec(("--outcome",), "what came of it", "TEXT", default=""),
        ),
    ),
    CommandSpec(
        "agent memory",
        "what an agent remembers; or add to it, or go back",
        "agent.state_commands:memory",
        (
            _NAME,
            ArgumentSpec(("--add",), "remember this", "TEXT"),
            ArgumentSpec(("--section",), "patterns, dead_ends, questions, corrections, flags, or a heading", "TEXT"),
            ArgumentSpec(("--pin",), "never leave it out of a context", takes="switch"),
            ArgumentSpec(("--undo",), "go back so many versions", "N", takes="count"),
            ArgumentSpec(("--versions",), "list the versions that are kept", takes="switch"),
        ),
    ),
    CommandSpec(
        "agent search",
        "search what an agent remembers",
        "agent.state_commands:search",
        (
            _NAME,
            ArgumentSpec(("query",), "words", "TEXT", many="+"),
            ArgumentSpec(("--limit",), "at most so many", "N", takes="count", default=10),
        ),
    ),
    CommandSpec(
        "agent context",
        "what a mind should have before it, within a budget",
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
            ArgumentSpec(("--claim",), "take the next one for so many seconds", "SECONDS", takes="number"),
            ArgumentSpec(("--wait",), "wait for one, at most so many seconds, and take it", "SECONDS", takes="number"),
            ArgumentSpec(("--ack",), "this claim is done with", "TOKEN"),
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
            ArgumentSpec(("to",), "the agent that shall have it", "TO", completes="agent"),
            ArgumentSpec(("subject",), "what it is about", "SUBJECT"),
            ArgumentSpec(("body",), "its text; - for standard input", "BODY", many="?", default=""),
            ArgumentSpec(("--from",), "who sends it (default: operator)", "NAME", default="operator"),
            ArgumentSpec(
                ("--type",), "kind of message", choices=("flag", "task", "question", "cascade"), default="flag"
            ),
            ArgumentSpec(("--priority",), "its priority", choices=("high", "normal", "low"), default="normal"),
            ArgumentSpec(("--ref",), "what it refers to", "TEXT"),
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
        "bring over what other tools kept: ops/sessions, queue.md, flags, Claude Code, Codex, MCP memory, Beads",
        "agent.import_commands:import_agent",
        (
            _NAME,
            ArgumentSpec(("place",), "a file or directory of theirs; it is only read", "PLACE", completes="file"),
            ArgumentSpec(("--dry-run",), "say what would come", takes="switch"),
            ArgumentSpec(("--research-journal",), "the sessions of research-journal.md as notes too", takes="switch"),
            ArgumentSpec(
                ("--instructions",), "the rules of CLAUDE.md, AGENTS.md, GEMINI.md as notes too", takes="switch"
            ),
        ),
        "An agent that is not there yet is made where PLACE has it whole (an agent-state root of version 1). Exit 1: "
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
