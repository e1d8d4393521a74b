"""The last writes of a key, which each of its messages names: a write whose answer was lost is found there, although
others have replaced it since."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MESSAGE_ID: Final = "Nats-Msg-Id"
AFTER: Final = "Paos-After"  # the ids of the messages before it, the newest last
START: Final = "0"  # before the first one
LENGTH: Final = 16


def following(headers: Mapping[str, str], seq: int) -> str:
    """What the next message of the key says that it comes after; of a foreign program's message, its sequence."""
    before = headers[AFTER].split(",") if AFTER in headers else []
    return ",".join([*before, headers.get(MESSAGE_ID) or str(seq)][-LENGTH:])


def was_stored(sent: Mapping[str, str], last: Mapping[str, str], seq: int) -> bool | None:
    """Whether a message is among those that the key's last one names. None: they do not go back far enough to tell."""
    known = following(last, seq).split(",")
    if sent[MESSAGE_ID] in known:
        return True
    return False if sent[AFTER].split(",")[-1] in known else None
