"""Claude Code without a terminal: `claude -p`, and its stream of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from worldfs.base.json_values import as_int, as_list, as_object, as_objects, as_text
from worldfs.base.model import Json

from .agent_cli import AgentCli, ReportReader

REPORT: Final = ("--output-format", "stream-json", "--verbose", "--include-partial-messages")
MODES: Final = ("acceptEdits", "bypassPermissions")  # that edit without asking
KINDS: Final = {
    "Read": "read", "Glob": "read", "Grep": "read", "LS": "read",
    "Edit": "write", "MultiEdit": "write", "Write": "write", "NotebookEdit": "write",
}  # fmt: skip
COUNTED: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
COUNTED_OF_MODEL: Final = ("inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens", "outputTokens")


class ClaudeCodeReader(ReportReader):
    def __init__(self, state_dir: str) -> None:
        super().__init__(state_dir)
        self._calls: dict[object, tuple[str, object]] = {}  # id → (tool, input)

    def read_event(self, value: Json) -> bool:
        kind = value.get("type")
        if kind == "stream_event":  # a part of a message that comes whole later
            return False
        if kind == "system" and value.get("subtype") == "init":
            self.model = str(value.get("model") or "")
            mode, places = value.get("permissionMode"), as_list(value.get("additional_directories"))
            inside = any(self._holds(as_text(place)) for place in (*places, value.get("cwd")))
            self.granted = mode == "bypassPermissions" or (mode in MODES and inside)
        elif kind in ("assistant", "user"):
            for part in as_objects(as_object(value.get("message")).get("content")):
                self._part(part)
        elif kind == "result":
            self._result(value)
        return True

    def _holds(self, folder: str) -> bool:
        return bool(folder) and any(f"{place}/".startswith(folder.rstrip("/") + "/") for place in self.places)

    def _part(self, part: Json) -> None:
        if part.get("type") == "tool_use":
            self._calls[part["id"]] = as_text(part["name"]), part.get("input")
        elif part.get("type") == "tool_result" and part.get("tool_use_id") in self._calls:
            name, given = self._calls.pop(part["tool_use_id"])
            text = part.get("content")
            self.note_access(KINDS.get(name, ""), given, str(text) if part.get("is_error") else None)

    def _result(self, value: Json) -> None:
        self.answer = str(value.get("result") or "")
        if value.get("is_error"):
            self.errors.append(f"claude: {value.get('subtype')}: {self.answer or value.get('errors') or ''}"[:500])
        for denial in as_objects(value.get("permission_denials")):
            given = denial.get("tool_input")
            self.note_access(
                KINDS.get(as_text(denial["tool_name"]), ""), given, f"permission denied: {denial['tool_name']} {given}"
            )
        cost = value.get("total_cost_usd")
        self.cost = float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None
        usage, models = as_object(value.get("usage")), as_object(value.get("modelUsage"))
        if models:
            self.tokens = sum(as_int(as_object(one).get(key)) for one in models.values() for key in COUNTED_OF_MODEL)
            self.model = self.model or next(iter(models))
        elif usage:
            self.tokens = sum(as_int(usage.get(key)) for key in COUNTED)


class ClaudeCodeCli(AgentCli):
    name = "claude-code"
    programs = ("claude", "claude-code", "claude.exe")
    format_options = ("--output-format",)
    reads = ClaudeCodeReader

    def preset(self, state_dir: str, words: Sequence[str], model: str | None) -> tuple[str, ...]:
        model_options = ("--model", model) if model else ()
        return (
            "claude", "-p", "--add-dir", state_dir, "--permission-mode", "acceptEdits", *REPORT, *model_options, *words,
        )  # fmt: skip

    def headless(self, words: Sequence[str]) -> bool:
        return "-p" in words or "--print" in words

    def with_report_options(self, words: Sequence[str]) -> tuple[str, ...]:
        return (*REPORT, *words)
