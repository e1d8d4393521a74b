"""Gemini CLI without a terminal, and its stream of JSON; also its one document of `-o json`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from worldfs.base.json_values import as_int, as_object, as_text
from worldfs.base.model import Json

from .agent_cli import AgentCli, ReportReader

REPORT: Final = ("--output-format", "stream-json")
KINDS: Final = {
    "read_file": "read", "read_many_files": "read", "list_directory": "read", "glob": "read", "grep_search": "read",
    "search_file_content": "read", "replace": "write", "write_file": "write",
}  # fmt: skip
APART: Final = ("mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma")  # its own commands


class GeminiReader(ReportReader):
    def __init__(self, state_dir: str) -> None:
        super().__init__(state_dir)
        self._calls: dict[object, tuple[str, object]] = {}

    def read_event(self, value: Json) -> bool:
        kind = value.get("type")
        if kind == "message" and value.get("role") == "assistant":
            text = str(value.get("content") or "")
            self.answer = self.answer + text if value.get("delta") else text
        elif kind == "tool_use":
            self.answer = ""  # text before a tool call is no final answer
            self._calls[value["tool_id"]] = as_text(value["tool_name"]), value.get("parameters")
        elif kind == "tool_result" and value.get("tool_id") in self._calls:
            name, given = self._calls.pop(value["tool_id"])
            error = f"{value.get('error')} {value.get('output')}" if value.get("status") == "error" else None
            self.note_access(KINDS.get(name, ""), given, error)
        elif kind == "result" or "response" in value:
            self._result(value)
        return True

    def _result(self, value: Json) -> None:
        stats = as_object(value.get("stats"))
        models = as_object(stats.get("models"))
        self.model = self.model or next(iter(models), "")
        total = stats.get("total_tokens")
        if total is None and models:
            total = sum(as_int(as_object(as_object(one)["tokens"])["total"]) for one in models.values())
        self.tokens = None if total is None else as_int(total)
        self.answer = str(value.get("response") or self.answer)
        if error := value.get("error"):
            self.errors.append(f"gemini: {error.get('message') if isinstance(error, dict) else error}"[:500])


class GeminiCli(AgentCli):
    name = "gemini"
    programs = ("gemini", "gemini-cli")
    format_options = ("-o", "--output-format")
    reads = GeminiReader
    grants = True

    def preset(self, state_dir: str, words: Sequence[str], model: str | None) -> tuple[str, ...]:
        model_options = ("--model", model) if model else ()
        # In a folder that it does not trust it edits nothing, and without a terminal it does not even start.
        return (
            "gemini", "--skip-trust", "--approval-mode", "auto_edit", "--include-directories", state_dir, *REPORT,
            *model_options, *words,
        )  # fmt: skip

    def headless(self, words: Sequence[str]) -> bool:
        return not words or words[0] not in APART

    def with_report_options(self, words: Sequence[str]) -> tuple[str, ...]:
        return (*REPORT, *words)
