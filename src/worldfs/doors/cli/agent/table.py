"""The table of the agents' commands."""

from __future__ import annotations

from ..command import Argument, Command

_NAME = Argument(("name",), "the agent", "NAME", completes="agent")
_TYPES = ("research", "extract", "evaluate", "ad-hoc")
_FACTS = Argument(("facts",), "key=value; a value that is JSON is taken as such", "KEY=VALUE", many="*")
_SESSION = (
    Argument(("--type",), "kind of session", choices=_TYPES, default="ad-hoc"),
    Argument(("--timeout",), "end it after so many seconds", "SECONDS", takes="number"),
    Argument(("--domain",), "field of work", "TEXT"),
    Argument(("--branch",), "branch that it works on", "TEXT"),
    Argument(("--model",), "model that it uses", "TEXT"),
    Argument(("--question",), "what it is to find out", "TEXT"),
    Argument(("--belief",), "belief that it tests", "TEXT"),
    Argument(("--disconfirm",), "what would speak against that belief", "TEXT"),
    Argument(("--expect",), "sources that it should archive", "N", takes="count"),
    Argument(("--id",), "id of the session (default: made from the time)", "ID", default=""),
)
_LANGUAGE = Argument(("--language",), "language of headings and of the prompt", choices=("en", "zh"), default="en")

AGENTS: tuple[Command, ...] = (
    Command(
        "agents",
        "every agent: what it is at, how it went, what waits for it",
        "agent.pipeline:run",
        (
            Argument(("--watch",), "go on, and print again when something changes", takes="switch"),
            Argument(("--plan",), "in the order in which they should run next, with reasons", takes="switch"),
        ),
    ),
    Command(
        "agent init",
        "make an agent, or those of its files that are missing",
        "agent.keep:init",
        (_NAME._replace(many="*"), _LANGUAGE),
        "Without a name: the missing files of every agent that is there.",
    ),
    Command(
        "agent rm",
        "remove an agent: its directory is moved aside, whole, and can come back",
        "agent.removal:remove",
        (_NAME._replace(many="+"),),
        "It prints where the directory is now. An agent that runs a session is not removed.",
    ),
    Command(
        "agent restore",
        "bring back the agent of this name that was removed last; without a name, list what was removed",
        "agent.removal:restore",
        (_NAME._replace(many="?", completes=""),),
    ),
    Command("agent show", "one agent: report, session, metrics, findings", "agent.keep:show", (_NAME,)),
    Command(
        "agent run",
        "run a command as a session of an agent: paos agent run rio --type research --with claude-code",
        "agent.run:run",
        (
            _NAME,
            *_SESSION,
            Argument(("--silence",), "end it when it says nothing for so many seconds", "SECONDS", takes="number"),
            Argument(
                ("--prompt",),
                "how the command gets the state prompt: as its standard input (default of --with), as its last "
                "argument, or not",
                choices=("stdin", "arg", "none"),
            ),
            Argument(
                ("--with",),
                "run this command-line agent, and let it read and write this agent's directory; words after -- are its",
                choices=("claude-code", "codex", "gemini"),
            ),
            Argument(("--template",), "a file with a state prompt of your own", "FILE", completes="file"),
            Argument(("--budget",), "tokens that the state may take in the prompt", "N", takes="count", default=4000),
            Argument(("--pre",), "shell command before it starts", "COMMAND", default=""),
            Argument(("--post",), "shell command after it ended well", "COMMAND", default=""),
            Argument(("--error",), "shell command after it failed", "COMMAND", default=""),
            _LANGUAGE,
            Argument(("argv",), "the command and its arguments, after --", "-- COMMAND", many="*", completes="file"),
        ),
        "Exit 0: it completed; 1: it failed or took too long; 2: it could not start. The session's end, all its "
        "descendants' end and what became of its messages are durable when this returns.",
    ),
    Command(
        "agent start",
        "begin a session without running anything: for shell scripts; prints its id",
        "agent.step:start",
        (
            _NAME,
            *_SESSION,
            Argument(("--for",), "process whose end is the session's end (default: the caller)", "PID", takes="count"),
        ),
    ),
    Command(
        "agent event",
        "one entry in the journal",
        "agent.step:event",
        (_NAME, Argument(("event",), "what happened", "EVENT"), _FACTS),
    ),
    Command("agent outcome", "facts for the end of the running session", "agent.step:outcome", (_NAME, _FACTS)),
    Command(
        "agent end",
        "end the session that `agent start` began",
        "agent.step:end",
        (
            _NAME,
            Argument(
                ("outcome",), "how it ended", choices=("completed", "timeout", "error"), many="?", default="completed"
            ),
            Argument(("--summary",), "what was done", "TEXT", default=""),
            Argument(("--handoff",), "what the next session should know", "TEXT", default=""),
            Argument(("--next",), "what comes first next time", "TEXT"),
            Argument(("--why",), "what went wrong", "TEXT", default=""),
            _FACTS,
        ),
    ),
    Command(
        "agent tasks",
        "the tasks of an agent; or add one, or close one",
        "agent.keep:tasks",
        (
            _NAME,
            Argument(("--all",), "list completed and dropped ones too", takes="switch"),
            Argument(("--add",), "add a task with this description", "TEXT"),
            Argument(("--type",), "its type", "WORD", default="follow-up"),
            Argument(("--priority",), "its priority", choices=("high", "medium", "low"), default="medium"),
            Argument(("--close",), "complete the task of this id", "ID"),
            Argument(("--drop",), "drop the task of this id", "ID"),
            Argument(("--outcome",), "what came of it", "TEXT", default=""),
        ),
    ),
    Command(
        "agent memory",
        "what an agent remembers; or add to it, or go back",
        "agent.keep:memory",
        (
            _NAME,
            Argument(("--add",), "remember this", "TEXT"),
            Argument(("--section",), "patterns, dead_ends, questions, corrections, flags, or a heading", "TEXT"),
            Argument(("--pin",), "never leave it out of a context", takes="switch"),
            Argument(("--undo",), "go back so many versions", "N", takes="count"),
            Argument(("--versions",), "list the versions that are kept", takes="switch"),
        ),
    ),
    Command(
        "agent search",
        "search what an agent remembers",
        "agent.keep:search",
        (
            _NAME,
            Argument(("query",), "words", "TEXT", many="+"),
            Argument(("--limit",), "at most so many", "N", takes="count", default=10),
        ),
    ),
    Command(
        "agent context",
        "what a mind should have before it, within a budget",
        "agent.keep:context",
        (
            _NAME,
            Argument(("--budget",), "at most so many", "N", takes="count", default=4000),
            Argument(("--unit",), "of what", choices=("tokens", "bytes"), default="tokens"),
            Argument(("--prompt",), "as the whole state prompt", takes="switch"),
            _LANGUAGE,
        ),
    ),
    Command(
        "agent inbox",
        "the messages that wait; or claim, acknowledge, return one",
        "agent.post:inbox",
        (
            _NAME,
            Argument(("--claim",), "take the next one for so many seconds", "SECONDS", takes="number"),
            Argument(("--wait",), "wait for one, at most so many seconds, and take it", "SECONDS", takes="number"),
            Argument(("--ack",), "this claim is done with", "TOKEN"),
            Argument(("--return",), "this claim is not done: let others have the message", "TOKEN"),
            Argument(("--dead",), "the messages that could not be delivered", takes="switch"),
            Argument(("--receipt",), "what became of a message, and when", "ID"),
        ),
    ),
    Command(
        "agent send",
        "a message to an agent",
        "agent.post:send",
        (
            Argument(("to",), "the agent that shall have it", "TO", completes="agent"),
            Argument(("subject",), "what it is about", "SUBJECT"),
            Argument(("body",), "its text; - for standard input", "BODY", many="?", default=""),
            Argument(("--from",), "who sends it (default: operator)", "NAME", default="operator"),
            Argument(("--type",), "kind of message", choices=("flag", "task", "question", "cascade"), default="flag"),
            Argument(("--priority",), "its priority", choices=("high", "normal", "low"), default="normal"),
            Argument(("--ref",), "what it refers to", "TEXT"),
            Argument(("--expires",), "not to be delivered after this time (ISO 8601)", "TIME"),
            Argument(("--id",), "its id: the same message sent twice arrives once", "ID", default=""),
        ),
        "TO may be `all`: a cascade to every agent.",
    ),
    Command(
        "agent journal",
        "what happened",
        "agent.keep:journal",
        (
            _NAME,
            Argument(("-n", "--last"), "the last so many entries", "N", takes="count", default=20),
            Argument(("--after",), "all entries after this number", "SEQ", takes="count"),
        ),
    ),
    Command(
        "agent import",
        "bring over what other tools kept: ops/sessions, queue.md, flags, Claude Code, Codex, MCP memory, Beads",
        "agent.bring:bring",
        (
            _NAME,
            Argument(("place",), "a file or directory of theirs; it is only read", "PLACE", completes="file"),
            Argument(("--dry-run",), "say what would come", takes="switch"),
            Argument(("--research-journal",), "the sessions of research-journal.md as notes too", takes="switch"),
            Argument(("--instructions",), "the rules of CLAUDE.md, AGENTS.md, GEMINI.md as notes too", takes="switch"),
        ),
        "An agent that is not there yet is made where PLACE has it whole (an agent-state root of version 1). Exit 1: "
        "something was not understood, or nothing was found.",
    ),
    Command(
        "agent export",
        "the seven files of an agent, as they are, into a directory",
        "agent.bring:export",
        (_NAME, Argument(("place",), "a new directory", "DIR", completes="file")),
    ),
    Command(
        "agent schema",
        "the JSON Schema (2020-12) of a document",
        "agent.keep:schema",
        (Argument(("document",), "which", choices=("report", "tasks", "session", "message", "metrics", "journal")),),
    ),
)
