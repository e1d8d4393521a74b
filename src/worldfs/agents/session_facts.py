"""Facts that `paos agent outcome` records during a session: durable when acknowledged, and part of its end.

{"session": id, "facts": {…}} in .paos/outcome.json; what a session that was lost left behind counts for none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from worldfs.base.errors import NotFound
from worldfs.base.json_text import parse_json
from worldfs.base.model import Json
from worldfs.storage.revision import PRIVATE_DIR

if TYPE_CHECKING:
    from .agent_directory import AgentDirectory


FACTS_FILE: Final = f"{PRIVATE_DIR}/outcome.json"
WORDS: Final = ("summary", "handoff", "next_priority")


def add_facts(agent_dir: AgentDirectory, session: str, facts: Mapping[str, object]) -> None:
    """Add facts to those of this session; durable when it returns. Call inside `locked`."""
    noted = {"session": session, "facts": {**read(agent_dir, session), **facts}}
    agent_dir.root.replace(FACTS_FILE, json.dumps(noted, ensure_ascii=False).encode(), private=True)


def read(agent_dir: AgentDirectory, session: str) -> Json:
    """The facts of this session so far."""
    stored = agent_dir.store.get(FACTS_FILE)
    try:
        noted = parse_json(stored.data) if stored is not None else {}
        return dict(noted["facts"]) if noted.get("session") == session else {}
    except (ValueError, TypeError, KeyError, AttributeError):  # foreign bytes: nothing is known then
        return {}


def errors(facts: Mapping[str, object]) -> list[str]:
    """What went wrong, as the session itself says it."""
    said = facts.get("errors", [])
    return [str(item) for item in (said if isinstance(said, list) else [said])]


def clear_facts(agent_dir: AgentDirectory) -> None:
    """The session that they were of has ended."""
    if agent_dir.store.probe(FACTS_FILE) is not None:
        with suppress(NotFound):
            agent_dir.store.delete(FACTS_FILE, durable=False)
