"""Codex without a terminal: `codex exec`, and its stream of JSON.

It reports no command that its sandbox stopped, so only a change of the state's files shows that it may write there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from worldfs.base.json_values import as_int, as_object, as_objects
from worldfs.base.model import Json

from .agent_cli import AgentCli, ReportReader

_TMP: Final = ("exclude_slash_tmp", "exclude_tmpdir_env_var")  # its sandbox opens both unless these are set
NO_TMP: Final = tuple(word for key in _TMP for word in ("-c", f"sandbox_workspace_write.{key}=true"))


class CodexReader(ReportReader):
    def read_event(self, value: Json) -> bool:
        kind = value.get("type")
        if kind == "item.completed":
            self._item(as_object(value["item"]))
        elif kind == "turn.completed":
            usage = as_object(value.get("usage"))
            self.tokens = as_int(usage.get("input_tokens")) + as_int(usage.get("output_tokens"))
        elif kind in ("turn.failed", "error"):
            error = as_object(value.get("error"))
            self.errors.append(f"codex: {error.get('message') or value.get('message') or kind}"[:500])
        return kind != "item.started"

    def _item(self, item: Json) -> None:
        kind, status = item.get("type"), item.get("status")
        if kind == "agent_message":
            self.answer = str(item.get("text") or "")
        elif kind == "command_execution":
            failed = status in ("failed", "declined") or item.get("exit_code") != 0
            text = f"{status}: {item.get('aggregated_output', '')}"
            self.note_access("" if failed else "read", item.get("command", ""), text if failed else None)
        elif kind == "file_change":
            for change in as_objects(item.get("changes")):
                self.note_access(
                    "write", change.get("path", ""), None if status == "completed" else f"patch denied: {change}"
                )


class CodexCli(AgentCli):
    name = "codex"
    programs = ("codex",)
    format_options = ("--json", "--experimental-json")
    reads = CodexReader

    def preset(self, state_dir: str, words: Sequence[str], model: str | None) -> tuple[str, ...]:
        model_options = ("-m", model) if model else ()
        permissions = ("-s", "workspace-write", *NO_TMP, "--add-dir", state_dir)
        return ("codex", "exec", "--json", "--skip-git-repo-check", *permissions, *model_options, *words)

    def headless(self, words: Sequence[str]) -> bool:
        return "exec" in words or "e" in words[:1]

    def with_report_options(self, words: Sequence[str]) -> tuple[str, ...]:
        at = words.index("exec") + 1 if "exec" in words else 1
        return (*words[:at], "--json", *words[at:])

    def silent(self, words: Sequence[str]) -> bool:
        return False
