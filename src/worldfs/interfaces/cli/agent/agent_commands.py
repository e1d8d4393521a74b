"""The table of the agents' commands."""

from __future__ import annotations

from worldfs.interfaces.cli.command_spec import ArgumentSpec, CommandSpec

_NAME = ArgumentSpec(("name",), "help.agent_name", "NAME", completes="agent")
_TYPES = ("research", "extract", "evaluate", "ad-hoc")
_FACTS = ArgumentSpec(("facts",), "help.agent_facts", "KEY=VALUE", many="*")
_SESSION = (
    ArgumentSpec(("--type",), "help.session_type", choices=_TYPES, default="ad-hoc"),
    ArgumentSpec(("--timeout",), "help.time_limit", "SECONDS", takes="number"),
    ArgumentSpec(("--domain",), "help.domain", "TEXT"),
    ArgumentSpec(("--branch",), "help.branch", "TEXT"),
    ArgumentSpec(("--model",), "help.model", "TEXT"),
    ArgumentSpec(("--question",), "help.question", "TEXT"),
    ArgumentSpec(("--belief",), "help.belief", "TEXT"),
    ArgumentSpec(("--disconfirm",), "help.disconfirm", "TEXT"),
    ArgumentSpec(("--expect",), "help.expect", "N", takes="count"),
    ArgumentSpec(("--id",), "help.session_id", "ID", default=""),
)
_LANGUAGE = ArgumentSpec(("--language",), "help.language", choices=("en", "zh"), default="en")

AGENTS: tuple[CommandSpec, ...] = (
    CommandSpec(
        "agents",
        "help.agents",
        "agent.agents_command:run",
        (
            ArgumentSpec(("--watch",), "help.agents_watch", takes="switch"),
            ArgumentSpec(("--plan",), "help.agents_plan", takes="switch"),
        ),
        reads=True,
    ),
    CommandSpec(
        "agent init",
        "help.agent_init",
        "agent.state_commands:init",
        (_NAME._replace(many="*"), _LANGUAGE),
        "help.agent_init_more",
    ),
    CommandSpec(
        "agent rm", "help.agent_rm", "agent.removal_commands:remove", (_NAME._replace(many="+"),), "help.agent_rm_more"
    ),
    CommandSpec(
        "agent restore",
        "help.agent_restore",
        "agent.removal_commands:restore",
        (_NAME._replace(many="?", completes=""),),
    ),
    CommandSpec("agent show", "help.agent_show", "agent.state_commands:show", (_NAME,), reads=True),
    CommandSpec(
        "agent run",
        "help.agent_run",
        "agent.run_command:run",
        (
            _NAME,
            *_SESSION,
            ArgumentSpec(("--take",), "help.agent_run_take", takes="switch"),
            ArgumentSpec(("--silence",), "help.agent_run_silence", "SECONDS", takes="number"),
            ArgumentSpec(("--prompt",), "help.agent_run_prompt", choices=("stdin", "arg", "none")),
            ArgumentSpec(("--with",), "help.agent_run_with", choices=("claude-code", "codex", "gemini")),
            ArgumentSpec(("--template",), "help.agent_run_template", "FILE", completes="file"),
            ArgumentSpec(("--budget",), "help.agent_run_budget", "N", takes="count", default=4000),
            ArgumentSpec(("--pre",), "help.agent_run_pre", "COMMAND", default=""),
            ArgumentSpec(("--post",), "help.agent_run_post", "COMMAND", default=""),
            ArgumentSpec(("--error",), "help.agent_run_error", "COMMAND", default=""),
            _LANGUAGE,
            ArgumentSpec(("argv",), "help.agent_run_argv", "-- COMMAND", many="*", completes="file"),
        ),
        "help.agent_run_more",
    ),
    CommandSpec(
        "agent start",
        "help.agent_start",
        "agent.session_commands:start",
        (_NAME, *_SESSION, ArgumentSpec(("--for",), "help.lasts_as", "PID", takes="count")),
    ),
    CommandSpec(
        "agent event",
        "help.agent_event",
        "agent.session_commands:event",
        (_NAME, ArgumentSpec(("event",), "help.what_happened", "EVENT"), _FACTS),
    ),
    CommandSpec("agent outcome", "help.agent_outcome", "agent.session_commands:outcome", (_NAME, _FACTS)),
    CommandSpec(
        "agent end",
        "help.agent_end",
        "agent.session_commands:end",
        (
            _NAME,
            ArgumentSpec(
                ("outcome",),
                "help.agent_end_outcome",
                choices=("completed", "timeout", "error"),
                many="?",
                default="completed",
            ),
            ArgumentSpec(("--summary",), "help.agent_end_summary", "TEXT", default=""),
            ArgumentSpec(("--handoff",), "help.agent_end_handoff", "TEXT", default=""),
            ArgumentSpec(("--next",), "help.agent_end_next", "TEXT"),
            ArgumentSpec(("--why",), "help.agent_end_why", "TEXT", default=""),
            _FACTS,
        ),
    ),
    CommandSpec(
        "agent hook",
        "help.agent_hook",
        "agent.hook_command:run",
        (_NAME, ArgumentSpec(("--for",), "help.lasts_as", "PID", takes="count")),
        "help.agent_hook_more",
    ),
    CommandSpec(
        "agent tasks",
        "help.agent_tasks",
        "agent.state_commands:tasks",
        (
            _NAME,
            ArgumentSpec(("--all",), "help.agent_tasks_all", takes="switch"),
            ArgumentSpec(("--add",), "help.agent_tasks_add", "TEXT"),
            ArgumentSpec(("--type",), "help.agent_tasks_type", "WORD", default="follow-up"),
            ArgumentSpec(("--priority",), "help.priority", choices=("high", "medium", "low"), default="medium"),
            ArgumentSpec(("--close",), "help.agent_tasks_close", "ID"),
            ArgumentSpec(("--drop",), "help.agent_tasks_drop", "ID"),
            ArgumentSpec(("--outcome",), "help.result", "TEXT", default=""),
        ),
        reads=True,
    ),
    CommandSpec(
        "agent memory",
        "help.agent_memory",
        "agent.state_commands:memory",
        (
            _NAME,
            ArgumentSpec(("--add",), "help.agent_memory_add", "TEXT"),
            ArgumentSpec(("--section",), "help.agent_memory_section", "TEXT"),
            ArgumentSpec(("--pin",), "help.agent_memory_pin", takes="switch"),
            ArgumentSpec(("--undo",), "help.agent_memory_undo", "N", takes="count"),
            ArgumentSpec(("--versions",), "help.agent_memory_versions", takes="switch"),
        ),
        reads=True,
    ),
    CommandSpec(
        "agent search",
        "help.agent_search",
        "agent.state_commands:search",
        (
            _NAME,
            ArgumentSpec(("query",), "help.agent_search_query", "TEXT", many="+"),
            ArgumentSpec(("--limit",), "help.limit", "N", takes="count", default=10),
        ),
        reads=True,
    ),
    CommandSpec(
        "agent context",
        "help.agent_context",
        "agent.state_commands:context",
        (
            _NAME,
            ArgumentSpec(("--budget",), "help.limit", "N", takes="count", default=4000),
            ArgumentSpec(("--unit",), "help.agent_context_unit", choices=("tokens", "bytes"), default="tokens"),
            ArgumentSpec(("--prompt",), "help.agent_context_prompt", takes="switch"),
            _LANGUAGE,
        ),
        reads=True,
    ),
    CommandSpec(
        "agent inbox",
        "help.agent_inbox",
        "agent.message_commands:inbox",
        (
            _NAME,
            ArgumentSpec(("--claim",), "help.agent_inbox_claim", "SECONDS", takes="number"),
            ArgumentSpec(("--wait",), "help.agent_inbox_wait", "SECONDS", takes="number"),
            ArgumentSpec(("--ack",), "help.agent_inbox_ack", "TOKEN"),
            ArgumentSpec(("--return",), "help.agent_inbox_return", "TOKEN"),
            ArgumentSpec(("--dead",), "help.agent_inbox_dead", takes="switch"),
            ArgumentSpec(("--receipt",), "help.agent_inbox_receipt", "ID"),
        ),
        reads=True,
    ),
    CommandSpec(
        "agent send",
        "help.agent_send",
        "agent.message_commands:send",
        (
            ArgumentSpec(("to",), "help.agent_send_to", "TO", completes="agent"),
            ArgumentSpec(("subject",), "help.agent_send_subject", "SUBJECT"),
            ArgumentSpec(("body",), "help.agent_send_body", "BODY", many="?", default=""),
            ArgumentSpec(("--from",), "help.agent_send_from", "NAME", default="operator"),
            ArgumentSpec(
                ("--type",), "help.agent_send_type", choices=("flag", "task", "question", "cascade"), default="flag"
            ),
            ArgumentSpec(("--priority",), "help.priority", choices=("high", "normal", "low"), default="normal"),
            ArgumentSpec(("--ref",), "help.agent_send_ref", "TEXT"),
            ArgumentSpec(("--expires",), "help.agent_send_expires", "TIME"),
            ArgumentSpec(("--id",), "help.agent_send_id", "ID", default=""),
        ),
        "help.agent_send_more",
    ),
    CommandSpec(
        "agent journal",
        "help.agent_journal",
        "agent.state_commands:journal",
        (
            _NAME,
            ArgumentSpec(("-n", "--last"), "help.agent_journal_last", "N", takes="count", default=20),
            ArgumentSpec(("--after",), "help.agent_journal_after", "SEQ", takes="count"),
        ),
        reads=True,
    ),
    CommandSpec(
        "agent import",
        "help.agent_import",
        "agent.import_commands:import_agent",
        (
            _NAME,
            ArgumentSpec(("place",), "help.agent_import_place", "PLACE", completes="file"),
            ArgumentSpec(("--dry-run",), "help.agent_import_dry_run", takes="switch"),
            ArgumentSpec(("--research-journal",), "help.agent_import_research_journal", takes="switch"),
            ArgumentSpec(("--instructions",), "help.agent_import_instructions", takes="switch"),
        ),
        "help.agent_import_more",
    ),
    CommandSpec(
        "agent export",
        "help.agent_export",
        "agent.import_commands:export",
        (_NAME, ArgumentSpec(("place",), "help.agent_export_place", "DIR", completes="file")),
        reads=True,
    ),
    CommandSpec(
        "agent schema",
        "help.agent_schema",
        "agent.state_commands:schema",
        (
            ArgumentSpec(
                ("document",),
                "help.agent_schema_document",
                choices=("report", "tasks", "session", "message", "metrics", "journal"),
            ),
        ),
        reads=True,
    ),
)
