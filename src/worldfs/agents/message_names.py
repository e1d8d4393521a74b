"""Messages as files: names whose order is the order of delivery, the archive of what was read, and the dead ones.

inbox/<uuid>.json                        what waits, complete, visible to every agent and every v1 reader
.paos/letters/done/<hash>.json           acknowledged, by the hash of its id: receipt, and memory against repeats
.paos/letters/dead/<name>                not deliverable, with its reason in `<name>.why`
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.storage.revision import PRIVATE_DIR

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

if TYPE_CHECKING:
    from worldfs.base.model import Message

INBOX: Final = "inbox"
DONE: Final = f"{PRIVATE_DIR}/letters/done"
DEAD: Final = f"{PRIVATE_DIR}/letters/dead"
RANKS: Final = {"high": 0, "normal": 1, "medium": 1, "low": 2}


class DeliveryRank(NamedTuple):
    """The order of delivery: priority, then age, then the name."""

    priority: int
    ms: int  # since 1970
    name: str


class StoredMessage(NamedTuple):
    """A message file and its state; `message` is None when it cannot be read."""

    name: str
    message: Message | None
    state: str  # waiting | claimed | dead
    by: str = ""
    attempts: int = 0
    reason: str = ""
    at: str = ""  # since when it is in that state


class DeliveryReceipt(NamedTuple):
    """Where a message is in its life. Times are ISO 8601, UTC."""

    id: str
    state: str  # waiting | claimed | acknowledged | dead
    sent: str = ""  # when it was written, by itself; "" if it cannot be read
    at: str = ""  # since when it is in that state
    by: str = ""  # its claimer
    reason: str = ""  # why it is dead: unreadable | expired | attempts | duplicate | astray
    attempts: int = 0  # how often it was delivered


def new_name(priority: str, ms: int) -> str:
    """A UUID of version 8 (RFC 9562 §5.8) that begins with priority and time: sorted names are the order of claims."""
    head = (RANKS.get(priority, 1) << 44) | (ms & ((1 << 44) - 1))
    rest = os.urandom(10)
    tail = bytes([0x80 | (rest[0] & 0x0F), rest[1], 0x80 | (rest[2] & 0x3F), *rest[3:]])
    text = head.to_bytes(6, "big").hex() + tail.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def rank_of(name: str) -> DeliveryRank | None:
    """The rank that our own names carry; None for a name that another process chose."""
    if len(name) != 41 or name[14] != "8" or name[8] != "-" or name[13] != "-" or not name.endswith(".json"):
        return None
    try:
        head = int(name[:8] + name[9:13], 16)
    except ValueError:
        return None
    return DeliveryRank(head >> 44, head & ((1 << 44) - 1), name) if head >> 44 <= 2 else None


def name_for_id(id: str) -> str:
    """The name of a message with an id of the sender's: the same id, the same name."""
    text = digest(id)
    return f"{text[:8]}-{text[8:12]}-5{text[13:16]}-a{text[17:20]}-{text[20:]}"


def digest(id: str) -> str:
    return blake2b(id.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def done_key(id: str) -> str:
    return f"{DONE}/{digest(id)}.json"


def file_key(name: str) -> str:
    return f"{INBOX}/{name}"
