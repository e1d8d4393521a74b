"""Codex' rollouts, `sessions/YYYY/MM/DD/rollout-*.jsonl`: what was said and done → lines of the journal, as a stream.

One pass in constant memory, whatever the size. Both eras are read: bare items (until September 2025) and
`{timestamp, type, payload}` since. Taken are the session, messages, calls, patches, ends of turns, errors and
compactions; reasoning and what tools answered stay in the rollout and are counted. A second copy of a history (after a
torn line, in a fork, in an archived file) brings nothing twice.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from worldfs.base.errors import BadInput, WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.messages import coded
from worldfs.storage.revision import of

from .identity_set import IdentitySet
from .import_types import ImportItem, ImportSource, ParsedSource, SkippedItem
from .source_dir import SHOWN, SourceDir, TextLine, parse_document, too_long, unfinished, unreadable_item
from .source_search import find_files
from .value_conversion import as_text, clean_text, one_line, parse_time, plain_json, truncate

PATTERNS: Final = tuple(
    (*home, *below, "rollout-*.jsonl*")
    for home in ((".codex",), ())
    for below in (("sessions", "*", "*", "*"), ("sessions",), ("archived_sessions",))
)
TAKEN: Final = {
    "message", "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call",
    "image_generation_call", "user_message", "agent_message", "task_complete", "turn_complete", "turn_aborted", "error",
    "stream_error", "patch_apply_end", "thread_rolled_back", "token_count",
}  # fmt: skip
PASSED: Final = {
    "reasoning": "reasoning", "agent_reasoning": "reasoning", "agent_reasoning_raw_content": "reasoning",
    "agent_reasoning_section_break": "reasoning", "function_call_output": "tool results",
    "custom_tool_call_output": "tool results", "tool_search_output": "tool results",
    "local_shell_call_output": "tool results", "mcp_tool_call_end": "tool results",
    "exec_command_end": "tool results", "web_search_end": "tool results",
    "image_generation_end": "tool results",
    "view_image_tool_call": "tool results", "dynamic_tool_call_response": "tool results",
    "task_started": "turn starts", "turn_started": "turn starts", "context_compacted": "bookkeeping",
    "compaction": "bookkeeping", "compaction_summary": "bookkeeping", "context_compaction": "bookkeeping",
    "ghost_snapshot": "bookkeeping", "other": "bookkeeping", "entered_review_mode": "bookkeeping",
    "exited_review_mode": "bookkeeping", "thread_goal_updated": "bookkeeping", "thread_settings_applied": "bookkeeping",
    "thread_name_updated": "bookkeeping", "session_configured": "bookkeeping", "warning": "bookkeeping",
    "item_completed": "bookkeeping", "sub_agent_activity": "bookkeeping", "additional_tools": "bookkeeping",
    "background_event": "bookkeeping", "plan_update": "bookkeeping", "turn_diff": "bookkeeping",
}  # fmt: skip
FRAME: Final = ("turn_context", "world_state", "inter_agent_communication", "inter_agent_communication_metadata")
INJECTED: Final = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions",
    "<skill",
    "<turn_aborted>",
    "# AGENTS.md",
)
INPUT: Final = 500  # characters of a call's input
_KIND: Final = re.compile(rb'"type":"(?:response_item|event_msg)","payload":\{"type":"([a-z_]+)"')
_STAMP: Final = re.compile(rb'^\{"timestamp":"[^"]*",(?:"ordinal":\d+,)?')
_NEXT: Final = b'{"timestamp":"20'  # begins a line, and cannot stand inside a string of JSON


class CodexRollouts:
    name = "codex"
    about = "Codex' rollout-*.jsonl → journal lines (messages, calls, turns)"

    def finds(self, place: Path) -> list[ImportSource]:
        def fits(head: bytes) -> bool:
            return b'"session_meta"' in head or b'"record_type":"state"' in head or place.name.startswith("rollout-")

        where, files = find_files(place, PATTERNS, fits)
        files.sort(key=lambda path: path.rpartition("/")[2])  # by time: what was copied comes after its original
        if not files:
            return []
        with SourceDir(where) as opened:
            common = files[0] if len(files) == 1 else _folder(files)
            return [ImportSource(self.name, where, common, tuple(files), sum(map(opened.size, files)))]

    def read(self, source: ImportSource) -> ParsedSource:
        found = ParsedSource()
        found.stream = lambda: _stream(source, found)
        return found


def _folder(files: list[str]) -> str:
    """The folder that holds them all, "." for the place itself."""
    parts = [path.split("/")[:-1] for path in files]
    depth = 0
    while all(len(each) > depth for each in parts) and len({each[depth] for each in parts}) == 1:
        depth += 1
    return "/".join(parts[0][:depth]) or "."


def _stream(source: ImportSource, found: ParsedSource) -> Iterator[ImportItem[dict[str, object]]]:
    found.skipped.clear()
    found.ignored.clear()
    with SourceDir(source.base_dir) as place, IdentitySet() as said:
        for path in source.files:
            if path.endswith(".zst"):
                fix = coded("plugin.unpack", name=path.rpartition("/")[2])
                found.skipped.append(
                    SkippedItem(path, coded("plugin.compressed"), coded("plugin.plain_jsonl"), fix, whole=False)
                )
                continue
            try:
                yield from _Rollout(path, found, said).entries(place)
            except WorldError as error:
                found.skipped.append(unreadable_item(error, path))


class _Rollout:
    """One file on its way through: what later lines need of earlier ones."""

    def __init__(self, path: str, found: ParsedSource, said: IdentitySet) -> None:
        self.path, self.found, self.said = path, found, said
        self.session = ""
        self.at = ""
        self.copying = False  # the lines repeat ones that were read before, in this file or another
        self.recent: deque[tuple[str, str, str]] = deque(maxlen=16)  # (family, role, text) of messages
        self.tokens = 0
        self.unknown: set[str] = set()

    def entries(self, place: SourceDir) -> Iterator[ImportItem[dict[str, object]]]:
        self.at = place.changed_at(self.path)
        for raw in place.lines(self.path):
            if not raw.data.strip():
                continue
            where = f"{self.path}:{raw.number}"
            if not raw.whole:
                self.found.skipped.append(too_long(raw, where))
                continue
            glued = raw.data.find(_NEXT, 1)
            if glued < 0 and self._quick(raw.data):
                continue
            for data in self._pieces(raw, where, glued):
                value = self._value(data, raw, where)
                if value is not None and (entry := self._entry(value, data, where)) is not None:
                    yield ImportItem(of(data), entry, where)

    def _quick(self, data: bytes) -> bool:
        """What is passed over anyway is not parsed: most of a rollout's bytes are tool results."""
        match = _KIND.search(data, 0, 240)
        if match is None or data[-1:] != b"}":
            return False
        kind = match[1].decode()
        if kind not in PASSED:
            return False
        self._told(data)
        self.found.ignore(PASSED[kind])
        return True

    def _pieces(self, raw: TextLine, where: str, glued: int) -> list[bytes]:
        """The line; where a torn one was continued without a line end, its parts: the first is named as torn."""
        if glued < 0:
            return [raw.data]
        pieces, start = [], 0
        while glued >= 0:
            pieces.append(raw.data[start:glued])
            start, glued = glued, raw.data.find(_NEXT, glued + 1)
        return [*pieces, raw.data[start:]]

    def _value(self, data: bytes, raw: TextLine, where: str) -> dict[str, object] | None:
        try:
            value = parse_json(data)
        except ValueError:
            if not raw.ended and raw.data.endswith(data):
                self.found.skipped.append(unfinished(raw, where))
                return None
            try:
                value = parse_document(data, where)
            except BadInput as error:
                self.found.skipped.append(unreadable_item(error, self.path, data, where))
                return None
        if isinstance(value, dict):
            return value
        self.found.skipped.append(
            SkippedItem(
                where, coded("plugin.json_kind", kind=type(value).__name__), coded("file.object"), "", data[:SHOWN]
            )
        )
        return None

    def _told(self, data: bytes) -> bool:
        """Whether these words were read before; remembers them. Without their time, which a copy has of its own."""
        new = self.said.add(of(_STAMP.sub(b"", data)))
        if new:
            self.copying = False
        return not new

    def _entry(self, value: dict[str, object], data: bytes, where: str) -> dict[str, object] | None:
        self.at = parse_time(value.get("timestamp")) or self.at
        outer = as_text(value.get("type"))
        payload = value.get("payload")
        if outer == "session_meta" and isinstance(payload, dict):
            return self._session(payload)
        if not outer and "id" in value and "timestamp" in value:
            return self._session(value)
        if not outer and value.get("record_type"):
            self.found.ignore("bookkeeping")
            return None
        if outer == "compacted" and isinstance(payload, dict):
            payload = {"type": "compacted", **payload}
        elif outer in ("response_item", "event_msg") and isinstance(payload, dict):
            pass
        elif "payload" not in value:
            payload = value  # the bare era
        elif isinstance(payload, dict):
            payload = {**payload, "type": outer}
        else:
            payload = {}
        kind = as_text(payload.get("type"))
        if outer == "token_usage_record":
            self._tokens(payload.get("thread_token_usage"))
            self.found.ignore(coded("plugin.token_counts"))
            return None
        if outer in FRAME:  # a copy may come with a frame of its own
            self.found.ignore("bookkeeping")
            return None
        if self._told(data) and self.copying:
            self.found.ignore(coded("plugin.repeated_lines"))
            return None
        if kind in PASSED:
            self.found.ignore(PASSED[kind])
            return None
        if kind not in TAKEN and kind != "compacted":
            self._not_known(kind or outer, data, where)
            return None
        made = self._fields(kind, payload, outer)
        if made is None:
            return None
        return {"ts": self.at, **made, "session_id": self.session}

    def _not_known(self, kind: str, data: bytes, where: str) -> None:
        self.found.ignore(coded("plugin.unknown_lines", kind=one_line(kind, 60) or "(none)"))
        if kind not in self.unknown:  # the first of each kind in a file is reported
            self.unknown.add(kind)
            what = coded("plugin.the_kind", kind=kind[:60])
            left = SkippedItem(where, what, coded("plugin.known_kind"), "", data[:SHOWN], len(data) <= SHOWN)
            self.found.skipped.append(left)

    def _session(self, meta: dict[str, object]) -> dict[str, object] | None:
        id = clean_text(as_text(meta.get("id")) or Path(self.path).stem)
        again = bool(self.session)
        if again or meta.get("forked_from_id") or meta.get("parent_thread_id"):
            self.copying = True
        self.at = parse_time(meta.get("timestamp")) or self.at
        if again:  # a copy of an earlier head, or the head of the history that a fork copied
            self.found.ignore(coded("plugin.session_heads"))
            return None
        self.session = id
        entry: dict[str, object] = {"ts": self.at, "event": "codex_session", "session_id": id}
        for key in ("cwd", "cli_version", "originator", "model_provider", "forked_from_id", "parent_thread_id"):
            if as_text(meta.get(key)):
                entry[key] = one_line(as_text(meta[key]), 400)
        git = meta.get("git")
        if isinstance(git, dict) and as_text(git.get("branch")):
            entry["branch"] = one_line(as_text(git["branch"]))
        return entry

    def _fields(self, kind: str, payload: dict[str, object], outer: str) -> dict[str, object] | None:
        if kind in ("message", "user_message", "agent_message"):
            return self._message(kind, payload)
        if kind == "token_count":
            self._count(payload)
            return None
        if kind.endswith("_call"):
            said = payload.get("arguments", payload.get("input", payload.get("action", "")))
            text = said if isinstance(said, str) else json.dumps(plain_json(said), ensure_ascii=False)
            tool = one_line(as_text(payload.get("name")) or kind, 100)
            entry: dict[str, object] = {"event": "codex_call", "tool": tool}
            return entry | ({"input": one_line(text, INPUT)} if text else {})
        if kind in ("task_complete", "turn_complete", "turn_aborted"):
            entry = {"event": "codex_turn_end", "outcome": "error" if kind == "turn_aborted" else "completed"}
            if as_text(payload.get("reason")):
                entry["reason"] = one_line(as_text(payload["reason"]))
            return entry | ({"tokens_used": self.tokens} if self.tokens else {})
        if kind in ("error", "stream_error"):
            return {"event": "codex_error", "message": one_line(as_text(payload.get("message")), 1000)}
        if kind == "patch_apply_end":
            changes = payload.get("changes")
            files = [one_line(name, 200) for name in list(changes)[:20]] if isinstance(changes, dict) else []
            return {"event": "codex_patch", "success": payload.get("success") is True, "files": files}
        if kind == "thread_rolled_back":
            return {"event": "codex_rolled_back", "turns": payload.get("num_turns")}
        shown, more = truncate(as_text(payload.get("message")))
        return {"event": "codex_compacted", "text": shown} | ({"cut": more} if more else {})

    def _message(self, kind: str, payload: dict[str, object]) -> dict[str, object] | None:
        """A message is in a rollout twice, as the model's history and as what a person saw: one of them counts."""
        family = "item" if kind == "message" else "event"
        role = as_text(payload.get("role")) or kind.partition("_")[0]
        role = "assistant" if role == "agent" else role
        text = _text(payload.get("content")) if kind == "message" else as_text(payload.get("message"))
        if role not in ("user", "assistant") or text.lstrip().startswith(INJECTED):
            self.found.ignore(coded("plugin.instructions"))
            return None
        if not text.strip():
            self.found.ignore(coded("plugin.empty_messages"))
            return None
        mark = of(text.strip().encode("utf-8", "surrogatepass"))
        other = "event" if family == "item" else "item"
        if (other, role, mark) in self.recent:
            self.recent.remove((other, role, mark))
            self.found.ignore(coded("plugin.message_forms"))
            return None
        self.recent.append((family, role, mark))
        shown, more = truncate(text.strip())
        return {"event": "codex_message", "role": role, "text": shown} | ({"cut": more} if more else {})

    def _count(self, payload: dict[str, object]) -> None:
        info = payload.get("info")
        self._tokens(info.get("total_token_usage") if isinstance(info, dict) else None)
        self.found.ignore(coded("plugin.token_counts"))

    def _tokens(self, total: object) -> None:
        tokens = total.get("total_tokens") if isinstance(total, dict) else None
        if type(tokens) is int:
            self.tokens = tokens


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (as_text(part.get("text")) for part in parts if isinstance(part, dict))
    return "\n".join(text for text in texts if text)
