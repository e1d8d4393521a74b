"""Letters: the inbox of an agent, and sending."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from worldfs.ground.errors import BadInput, NotFound

from ..call import Call
from ..voice import columns
from . import one_of, opened

if TYPE_CHECKING:
    from worldfs.agents.letters import Receipt


def inbox(call: Call) -> int:
    """Exit 1 when a letter was asked for and there is none."""
    one_of(call, "ack", "return", "dead", "receipt", "wait" if call["claim"] is None else "claim")
    with opened(call) as state:
        box = state.inbox
        if call["receipt"] is not None:
            return _receipt(call, box.receipt(call["receipt"]))
        if call["claim"] is not None or call["wait"] is not None:
            claimed = box.claim("operator", lease_s=call["claim"] or 300.0, wait=call["wait"])
            if claimed is None:
                call.voice.say("no message", {"letter": None})
                return 1
            call.voice.value({"token": claimed.token, "path": str(claimed.path), "letter": claimed.message._asdict()})
            for text in columns(_rows(claimed)):
                call.voice.line(text)
            return 0
        for token, done, word in ((call["ack"], box.ack, "acknowledged"), (call["return"], box.give_back, "returned")):
            if token is not None:
                if not box.claimed(token):
                    raise NotFound(
                        f"nothing is claimed by {token!r}", path=call["name"], op="agent inbox",
                        expected="the token of a claim that has not ended", fix="take the message again with --claim",
                    )  # fmt: skip
                done(token)
                call.voice.say(word, {word: token}, "good")
                return 0
        letters = box.dead() if call["dead"] else box.waiting()
    call.voice.value({"letters": [_value(letter) for letter in letters]})
    rows = []
    for letter in letters:
        m = letter.message
        words = (m.priority, m.type, m.sender, m.subject) if m is not None else ("", "", "", "unreadable")
        rows.append((letter.name, *words, letter.state))
    for text in columns(rows):
        call.voice.line(text)
    if not rows:
        call.voice.line("no message")
    return 0


def _receipt(call: Call, receipt: Receipt | None) -> int:
    if receipt is None:
        call.voice.say("no message of that id ever came", {"receipt": None})
        return 1
    found = receipt._asdict()
    call.voice.value({"receipt": found})
    for text in columns([(key, str(value)) for key, value in found.items() if value]):
        call.voice.line(text)
    return 0


def send(call: Call) -> int:
    from worldfs.agents.inbox import deposit_to
    from worldfs.agents.names import names
    from worldfs.agents.state import AgentState
    from worldfs.ground.clock import SystemClock, stamp
    from worldfs.ground.model import Message

    body = _typed() if call["body"] == "-" else call["body"]
    if call["to"] == "all":
        if call["type"] not in ("flag", "cascade"):  # flag is what is meant where nothing was said
            raise BadInput(f"--type {call['type']}", op="agent send", expected="a message to all is a cascade")
        from worldfs.agents.cascade import cascade

        sent = cascade(
            call.agents, sender=call["from"], subject=call["subject"], body=body, agents="all",
            source_ref=call["ref"] or call["id"] or call["subject"], priority=call["priority"],
            expires_at=call["expires"],
        )  # fmt: skip
        call.voice.value(
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
            word = str(item.trouble) if item.trouble else "sent" if item.new else "was there already"
            call.voice.line(f"{item.agent}: {word}", "bad" if item.trouble else "good")
        return 1 if any(item.trouble for item in sent) else 0
    now = stamp(SystemClock().now().replace(microsecond=0))
    letter = Message(
        call["id"], call["from"], call["to"], now, call["type"], call["priority"], call["subject"], body, call["ref"],
        call["expires"],
    )  # fmt: skip
    done = deposit_to(call.agents, call["to"], letter)
    if done.new and call["from"] in names(call.agents):
        with AgentState.open(call["from"], call.agents) as state:
            state.sent(done.message)
    word = "sent" if done.new else "was there already"
    call.voice.say(f"{done.message.id} {word}", {"id": done.message.id, "new": done.new}, "good")
    return 0


def _typed() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise BadInput(f"standard input: {error.reason}", op="agent send", expected="text in UTF-8") from None


def _value(letter: Any) -> dict[str, Any]:
    value: dict[str, Any] = letter._asdict()
    value["message"] = letter.message and letter.message._asdict()
    return value


def _rows(claimed: Any) -> list[tuple[str, ...]]:
    """A claim and its letter, a line for each fact."""
    facts = {"token": claimed.token, **claimed.message._asdict()}
    return [(key.replace("_", " "), str(value)) for key, value in facts.items() if value not in (None, "", {})]
