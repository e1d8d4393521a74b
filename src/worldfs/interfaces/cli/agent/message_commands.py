"""`paos agent inbox` and `send`: the messages of an agent."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from worldfs.base.agent_names import list_agents
from worldfs.base.clock import SystemClock, stamp
from worldfs.base.errors import BadInput, NotFound
from worldfs.base.messages import coded, render
from worldfs.base.messages.message_rendering import error_message
from worldfs.interfaces.cli.command_context import CommandContext
from worldfs.interfaces.cli.command_output import columns

from . import check_exclusive, open_agent_state

if TYPE_CHECKING:
    from worldfs.agents.inbox import ClaimedMessage
    from worldfs.agents.message_names import DeliveryReceipt, StoredMessage


def inbox(context: CommandContext) -> int:
    """Exit 1 when a message was asked for and there is none."""
    check_exclusive(context, "ack", "return", "dead", "receipt", "wait" if context["claim"] is None else "claim")
    with open_agent_state(context) as state:
        box = state.inbox
        if context["receipt"] is not None:
            return _receipt(context, box.receipt(context["receipt"]))
        if context["claim"] is not None or context["wait"] is not None:
            claimed = box.claim("operator", lease_s=context["claim"] or 300.0, wait=context["wait"])
            if claimed is None:
                context.output.report(coded("command.no_message"), {"letter": None})
                return 1
            context.output.value(
                {"token": claimed.token, "path": str(claimed.path), "letter": claimed.message._asdict()}
            )
            for text in columns(_rows(claimed)):
                context.output.line(text)
            return 0
        for token, done, word, code in (
            (context["ack"], box.ack, "acknowledged", "command.acknowledged"),
            (context["return"], box.give_back, "returned", "command.returned"),
        ):
            if token is not None:
                if not box.claimed(token):
                    raise NotFound(
                        coded("command.no_claim", token=token), path=context["name"], op="agent inbox",
                        expected=coded("command.a_claim"), fix=coded("command.claim_again"),
                    )  # fmt: skip
                done(token)
                context.output.report(coded(code), {word: token}, "good")
                return 0
        letters = box.dead() if context["dead"] else box.waiting()
    context.output.value({"letters": [_value(letter) for letter in letters]})
    rows, unreadable = [], render(coded("command.unreadable"), context.language)
    for letter in letters:
        m = letter.message
        words = (m.priority, m.type, m.sender, m.subject) if m is not None else ("", "", "", unreadable)
        rows.append((letter.name, *words, letter.state))
    for text in columns(rows):
        context.output.line(text)
    if not rows:
        context.output.line(coded("command.no_message"))
    return 0


def _receipt(context: CommandContext, receipt: DeliveryReceipt | None) -> int:
    if receipt is None:
        context.output.report(coded("command.no_receipt"), {"receipt": None})
        return 1
    found = receipt._asdict()
    context.output.value({"receipt": found})
    for text in columns([(key, str(value)) for key, value in found.items() if value]):
        context.output.line(text)
    return 0


def send(context: CommandContext) -> int:
    from worldfs.agents.agent_state import AgentState
    from worldfs.agents.inbox import deposit_to
    from worldfs.base.model import Message
    from worldfs.base.stop_words import is_stop

    body = _typed() if context["body"] == "-" else context["body"]
    if any(text and is_stop(text) for text in (body, context["subject"])):
        context.output.notice(coded("command.message_no_stop"))
    if context["to"] == "all":
        if context["type"] not in ("flag", "cascade"):  # flag is the default
            found = coded("command.given_type", type=context["type"])
            raise BadInput(found, op="agent send", expected=coded("command.cascade"))
        from worldfs.agents.broadcast import broadcast

        sent = broadcast(
            context.agents, sender=context["from"], subject=context["subject"], body=body, agents="all",
            source_ref=context["ref"] or context["id"] or context["subject"], priority=context["priority"],
            expires_at=context["expires"],
        )  # fmt: skip
        context.output.value(
            {
                "sent": [
                    {
                        "agent": item.agent,
                        "id": item.message.id,
                        "new": item.new,
                        "trouble": item.trouble and str(item.trouble),
                    }
                    for item in sent
                ]
            }
        )
        for item in sent:
            word = error_message(item.trouble) if item.trouble else _sent(item.new)
            said = coded("command.agent_said", agent=item.agent, said=word)
            context.output.line(said, "bad" if item.trouble else "good")
        return 1 if any(item.trouble for item in sent) else 0
    now = stamp(SystemClock().now().replace(microsecond=0))
    letter = Message(
        context["id"], context["from"], context["to"], now, context["type"], context["priority"], context["subject"],
        body, context["ref"], context["expires"],
    )  # fmt: skip
    done = deposit_to(context.agents, context["to"], letter)
    if done.new and context["from"] in list_agents(context.agents):
        with AgentState.open(context["from"], context.agents) as state:
            state.sent(done.message)
    said = coded("command.id_said", id=done.message.id, said=_sent(done.new))
    context.output.report(said, {"id": done.message.id, "new": done.new}, "good")
    return 0


def _sent(new: bool) -> str:
    return coded("command.sent") if new else coded("command.was_there")


def _typed() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        found = coded("command.stdin", why=error.reason)
        raise BadInput(found, op="agent send", expected=coded("command.utf8_text")) from None


def _value(message: StoredMessage) -> dict[str, object]:
    value: dict[str, object] = message._asdict()
    value["message"] = message.message and message.message._asdict()
    return value


def _rows(claimed: ClaimedMessage) -> list[tuple[str, ...]]:
    """A claim and its message, one line per fact."""
    facts = {"token": claimed.token, **claimed.message._asdict()}
    return [(key.replace("_", " "), str(value)) for key, value in facts.items() if value not in (None, "", {})]
