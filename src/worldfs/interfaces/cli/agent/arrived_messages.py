"""Messages that arrived while a session runs, as text for its model: claimed for the session, quoted as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from worldfs.base.messages import coded, render

if TYPE_CHECKING:
    from worldfs.agents.agent_state import AgentState

SHOWN: Final = 20  # messages at once; the others are named, and stand in the inbox
BODY: Final = 2_000  # characters of one


def arrived(state: AgentState, session: str, language: str) -> str:
    """The messages that were not claimed, "" for none. They are the session's from now on, as those that waited at
    its start: its end acknowledges or returns them, and no other hook shows them."""
    from worldfs.agents.quote import Quote, quote_block, quote_line
    from worldfs.agents.session_job import LEASE_S
    from worldfs.agents.state_prompt import claimed_messages

    found = [claimed.message for claimed in state.inbox.claim_all(by=session, token=session, lease_s=LEASE_S)]
    if not found:
        return ""
    shown = found[:SHOWN]
    quote = Quote(part for message in shown for part in (message.subject, message.body, message.id, message.sender))
    parts = [render(coded("context.letters"), language), claimed_messages(found, language)]
    for message in shown:
        body = message.body if len(message.body) <= BODY else f"{message.body[:BODY]}… (+{len(message.body) - BODY})"
        text = "\n".join(part for part in (quote_line(message.subject, 300), quote_block(body)) if part)
        head = quote.open(**{"letter": message.id, "from": message.sender, "priority": message.priority})
        parts.append(f"{head}\n{text}\n{quote.close()}")
    return "\n".join(parts)
