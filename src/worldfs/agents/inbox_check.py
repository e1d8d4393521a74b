"""Problems of an inbox and their fixes, for the check of agents (doctor.py)."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from worldfs.base.messages import coded
from worldfs.base.model import Finding

from .doctor import Diagnosis
from .doctor_fixes import move_aside
from .message_files import MessageFiles, is_expired, is_unusable_name
from .message_names import INBOX, done_key, file_key

if TYPE_CHECKING:
    from .agent_directory import AgentDirectory

MANY: Final = 1000  # messages that wait: worth a warning


def check(files: MessageFiles) -> Iterator[Diagnosis]:
    """Each problem of the inbox, with its fix."""
    agent_dir = files.agent_dir
    names = agent_dir.store.list(INBOX)
    if len(names) >= MANY:
        yield Diagnosis(
            Finding(
                "INBOX_FULL",
                "inbox",
                coded("file.fewer_messages", n=MANY),
                f"{len(names)}",
                coded("file.read_them"),
                warning=True,
            )
        )
    files.claim_log.catch_up()
    ids: dict[str, str] = {}
    for name in names:
        if is_unusable_name(name.rstrip("/")):
            yield Diagnosis(
                Finding("ODD_NAME", f"inbox/{name!a}", coded("agent.printable"), coded("agent.another"), ""),
                partial(files.move_to_dead, name.rstrip("/"), "name"),
            )
            continue
        if name.endswith("/") or not name.endswith(".json") or not _regular(agent_dir, name):
            word = coded("common.directory") if name.endswith("/") else coded("file.no_message_name")
            yield Diagnosis(
                Finding("ODD_FILE", f"inbox/{name}", "<uuid>.json", word, ""),
                partial(move_aside, agent_dir.path, file_key(name.rstrip("/"))),
            )
            continue
        if name in files.claim_log.acked:
            continue
        message = files.read(name)
        if message is None:
            yield Diagnosis(
                Finding("LETTER_UNREADABLE", f"inbox/{name}", coded("file.a_message"), coded("file.no_message"), ""),
                partial(files.move_to_dead, name, "unreadable"),
            )
        elif is_expired(message.expires_at, agent_dir):
            yield Diagnosis(
                Finding(
                    "LETTER_EXPIRED",
                    f"inbox/{name}",
                    coded("file.unexpired"),
                    coded("file.expired", at=message.expires_at),
                    "",
                ),
                partial(files.move_to_dead, name, "expired"),
            )
        elif message.to != agent_dir.name:
            yield Diagnosis(
                Finding("LETTER_ASTRAY", f"inbox/{name}#/to", agent_dir.name, message.to, ""),
                partial(files.move_to_dead, name, "astray"),
            )
        elif message.id in ids or agent_dir.store.probe(done_key(message.id)) is not None:
            yield Diagnosis(
                Finding("LETTER_TWICE", f"inbox/{name}#/id", coded("file.own_id"), message.id, ""),
                partial(files.move_to_dead, name, "duplicate"),
            )
        ids[message.id if message is not None else name] = name


def _regular(agent_dir: AgentDirectory, name: str) -> bool:
    place = agent_dir.root.locate(file_key(name))
    info = None if place is None else agent_dir.root.lstat(place)
    return info is not None and stat.S_ISREG(info.st_mode)
