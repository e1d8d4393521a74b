"""What is wrong in an inbox, and what mends it. For the doctor."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from worldfs.ground.model import Finding

from .doctor import Fault
from .doctor_mends import move_aside
from .letters import INBOX, done_key, file_key
from .mail import Mail, is_odd, past

if TYPE_CHECKING:
    from .room import Room

MANY: Final = 1000  # letters that wait: worth a warning


def check(mail: Mail) -> Iterator[Fault]:
    """What is wrong in the inbox, and what mends it."""
    room = mail.room
    names = room.store.list(INBOX)
    if len(names) >= MANY:
        yield Fault(
            Finding(
                "INBOX_FULL", "inbox", f"fewer than {MANY} messages", f"{len(names)}", "have them read", warning=True
            )
        )
    mail.ledger.catch_up()
    ids: dict[str, str] = {}
    for name in names:
        if is_odd(name.rstrip("/")):
            yield Fault(
                Finding("ODD_NAME", f"inbox/{name!a}", "a name that can be printed", "another", ""),
                partial(mail.bury, name.rstrip("/"), "name"),
            )
            continue
        if name.endswith("/") or not name.endswith(".json") or not _regular(room, name):
            word = "a directory" if name.endswith("/") else "no message's name, or a link"
            yield Fault(
                Finding("ODD_FILE", f"inbox/{name}", "<uuid>.json", word, ""),
                partial(move_aside, room.path, file_key(name.rstrip("/"))),
            )
            continue
        if name in mail.ledger.acked:
            continue
        message = mail.read(name)
        if message is None:
            yield Fault(
                Finding("LETTER_UNREADABLE", f"inbox/{name}", "a message", "no message", ""),
                partial(mail.bury, name, "unreadable"),
            )
        elif past(message.expires_at, room):
            yield Fault(
                Finding("LETTER_EXPIRED", f"inbox/{name}", "a message of now", f"expired {message.expires_at}", ""),
                partial(mail.bury, name, "expired"),
            )
        elif message.to != room.name:
            yield Fault(
                Finding("LETTER_ASTRAY", f"inbox/{name}#/to", room.name, message.to, ""),
                partial(mail.bury, name, "astray"),
            )
        elif message.id in ids or room.store.probe(done_key(message.id)) is not None:
            yield Fault(
                Finding("LETTER_TWICE", f"inbox/{name}#/id", "an id of its own", message.id, ""),
                partial(mail.bury, name, "duplicate"),
            )
        ids[message.id if message is not None else name] = name


def _regular(room: Room, name: str) -> bool:
    place = room.root.place(file_key(name))
    info = None if place is None else room.root.glance(place)
    return info is not None and stat.S_ISREG(info.st_mode)
