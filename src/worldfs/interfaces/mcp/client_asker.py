"""Questions to the person at an MCP client, by elicitation, in both eras of the protocol.

With a handshake the server sends the question within the call. Without one the call ends with the question, and the
client makes it once more with the answer; what the call has done so far travels with the client, sealed.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable
from typing import Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types.version import is_version_at_least

from worldfs.access.binding import Binding
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object, as_text
from worldfs.base.model import Json

from .server_identity import NAME
from .tool_spec import AnswerPending

STATELESS: Final = "2026-07-28"  # the first version without a handshake
ANSWER_MOST: Final = 2_000  # characters of a person's answer
_LOG: Final = logging.getLogger("worldfs.mcp")


class ClientAsker:
    """Of one call, in an era with a handshake. An `Asker`."""

    def __init__(self, ctx: ServerRequestContext) -> None:
        self._ctx = ctx
        self.kept: dict[str, str] = {}

    @property
    def able(self) -> bool:
        return _has_forms(self._ctx) and self._ctx.session.can_send_request

    async def ask(self, message: str, field: str, about: str) -> str | None:
        if not self.able:
            return None
        session = self._ctx.session
        try:
            answer = await session.elicit_form(message, _form(field, about), related_request_id=self._ctx.request_id)
        except (MCPError, ValueError) as error:  # the client answers with an error, or with what is no answer
            _LOG.info("the client could not ask its person: %s", error)
            return None
        return _said(answer, field) or None

    def question(self, pending: AnswerPending) -> types.InputRequiredResult:
        raise pending  # never of this era


class StatelessAsker(ClientAsker):
    """Of one call, in the era without a handshake."""

    def __init__(self, ctx: ServerRequestContext, params: types.CallToolRequestParams) -> None:
        super().__init__(ctx)
        before = as_object(parse_json(params.request_state)) if params.request_state else {}
        self.kept = {key: as_text(value) for key, value in as_object(before.get("kept")).items()}
        self._answers = {key: as_text(value) for key, value in as_object(before.get("answers")).items()}
        field = as_text(before.get("field"))
        for key, answer in (params.input_responses or {}).items():
            if key == before.get("asked") and isinstance(answer, types.ElicitResult):
                self._answers[key] = _said(answer, field)

    @property
    def able(self) -> bool:
        return _has_forms(self._ctx)

    async def ask(self, message: str, field: str, about: str) -> str | None:
        if not self.able:
            return None
        key = hashlib.sha256(f"{field}: {message}".encode()).hexdigest()[:16]  # an answer is to these very words
        if key not in self._answers:
            raise AnswerPending(key, message, field, about)
        return self._answers[key] or None

    def question(self, pending: AnswerPending) -> types.InputRequiredResult:
        form = types.ElicitRequestFormParams(
            message=pending.message, requested_schema=_form(pending.field, pending.about)
        )
        state: Json = {"kept": self.kept, "answers": self._answers, "asked": pending.key, "field": pending.field}
        return types.InputRequiredResult(
            input_requests={pending.key: types.ElicitRequest(params=form)}, request_state=json.dumps(state)
        )


def asker_of(ctx: ServerRequestContext, params: types.CallToolRequestParams) -> ClientAsker:
    if is_version_at_least(ctx.protocol_version, STATELESS):
        return StatelessAsker(ctx, params)
    return ClientAsker(ctx)


def sealed_rounds(binding: Callable[[ServerRequestContext], Binding]) -> RequestStateBoundary:
    """What travels with the client comes back as it was, for the same call of the same actor, or not at all."""
    security = RequestStateSecurity.ephemeral()
    security.bind_principal = lambda ctx: json.dumps(binding(ctx))
    return RequestStateBoundary(security, default_audience=NAME)


def _has_forms(ctx: ServerRequestContext) -> bool:
    can = ctx.session.client_capabilities
    asks = None if can is None else can.elicitation
    return asks is not None and (asks.form is not None or asks.url is None)


def _form(field: str, about: str) -> types.ElicitRequestedSchema:
    return {"type": "object", "properties": {field: {"type": "string", "description": about}}, "required": [field]}


def _said(answer: types.ElicitResult, field: str) -> str:
    """The person's words, "" for none."""
    said = (answer.content or {}).get(field) if answer.action == "accept" else None
    return said[:ANSWER_MOST] if isinstance(said, str) and said.strip() else ""
