"""The port of tools, which execute accepted orders, and their errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from worldfs.base.json_text import compact_json
from worldfs.base.model import Cause, Finding, Json, Outcome
from worldfs.world.agent_jobs.agent_job import AgentJobContext, error_text


class ToolError(Exception):
    """A tool's own failure: `code` and `message` go into result.json as they are."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        cause: Cause = Cause.ERROR,
        findings: tuple[Finding, ...] = (),
        evidence: Mapping[str, object] | None = None,
        peer_code: str = "",
    ) -> None:
        super().__init__(message)
        self.code, self.message, self.cause = code, message, cause
        self.peer_code = peer_code  # of a server that was asked, in its own words
        self.findings, self.evidence = findings, dict(evidence or {})

    def outcome(self) -> Outcome:
        return Outcome.failure(self.cause, self.code, self.message, findings=self.findings, evidence=self.evidence)


class ServiceTool(Protocol):
    def invoke(self, tool: str, args: Json, run: AgentJobContext) -> Json:
        """The payload of result.json. Raises `ToolError`; may raise `WorldError`; ends when `run.stop` is set."""
        ...


def invalid_arguments(message: str) -> ToolError:
    return ToolError("invalid_args", message)


def tool_outcome(payload: Json) -> Outcome:
    """The outcome of a successful tool: its payload, as the text of result.json."""
    return Outcome.success(compact_json(payload).decode())


def result_json(outcome: Outcome) -> bytes:
    """`result_json.json`: the bare payload, or the error."""
    if outcome.ok:
        return outcome.message.encode("utf-8", "replace")
    cause = outcome.cause or Cause.ERROR
    code = (outcome.code or "execution_failed") if cause is Cause.ERROR else cause.value
    error: Json = {"code": code, "message": error_text(outcome)}
    if outcome.findings:
        error["findings"] = [
            {"code": f.code, "field": f.field, "expected": f.expected, "found": f.found, "fix": f.fix}
            for f in outcome.findings
        ]
    if outcome.evidence:
        error["evidence"] = outcome.evidence
    return compact_json({"error": error})


class ToolArguments:
    """Arguments of one order, checked when they are read, with the recorded messages."""

    def __init__(self, tool: str, args: Json) -> None:
        self.tool, self.args = tool, args

    def text(self, name: str) -> str:
        """A required string that is not blank."""
        value = self.args.get(name)
        if not isinstance(value, str) or not value:
            raise invalid_arguments(f"{self.tool} requires '{name}'")
        return value

    def any(self, name: str) -> object:
        if name not in self.args:
            raise invalid_arguments(f"{self.tool} requires '{name}'")
        return self.args[name]

    def flag(self, name: str) -> bool:
        value = self.args.get(name)
        if value is not None and not isinstance(value, bool):
            raise invalid_arguments(f"{self.tool} '{name}' must be a boolean")
        return value is True

    def count(self, name: str, default: int, most: int) -> int:
        """A number, 0 or more; limited to `most`."""
        value = self.args.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise invalid_arguments(f"{self.tool} '{name}' must be a non-negative integer")
        return min(value, most)
