"""Keys of config.json that nothing reads: a misspelt one is named, and one that concerns safety is refused.

Other programs keep their settings in the same file. Their sections are known by name, and nothing in them is judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice, zip_longest
from typing import Any, Final, NamedTuple

from worldfs.base.errors import BadInput
from worldfs.base.messages import CodedText, coded
from worldfs.base.restricting_fields import restricts

from .config_fields import PATH, Json
from .config_services import KINDS

APPROVAL: Final = "approval"
TOP: Final = (
    "agents", APPROVAL, "channels", "embodiments", "gateway", "language", "models", "providers", "runtime",
    "simulation", "tools", "webSearch",
)  # fmt: skip
AGENTS: Final = ("brains", "defaults")
DEFAULTS: Final = (  # most of them are another program's (workspace §3.13)
    "contextWindowTokens", "language", "maxTokens", "maxToolIterations", "model", "provider", "reasoningEffort",
    "temperature", "workspace",
)  # fmt: skip
EMBODIMENTS: Final = ("instances", "mode", "sharedWorkspace")
INSTANCE: Final = ("driver", "enabled", "profileName", "robotId", "sharedEnvironment", "store", "workspace")
RESPONDER: Final = ("agent", "argv", "cwd", "kind", "prompt", "robot", "silenceSeconds", "timeoutSeconds")
SIMULATION: Final = ("realTime",)
# Whoever writes such a key relies on it: without it a robot would move where it is expected to stand.
SAFETY: Final = (
    APPROVAL, "bind", "critic", "emergency", "enabled", "limits", "safety", "stop", "tokens", "watchdog",
)  # fmt: skip
_EVERYBODY: Final = (
    "*", "all", "any", "every", "everyone", "everything", "global", "others", "robots", "所有", "全部", "默认", "其他",
)  # fmt: skip
_IN_COMPOUNDS: Final = (APPROVAL, "emergency", "safety", "watchdog")  # requireApproval, safety_limits
_LISTS: Final = ("embodiments", "instances")  # the keys below which robots are listed
_OF_ROBOT: Final = frozenset(("robotid", "profilename"))
_OF_ROBOTS: Final = frozenset((*_OF_ROBOT, "driver", "enabled"))  # below a key that says robots
_SAYS_ROBOTS: Final = re.compile(r"robot|embod|instance|bod(?:y|ies)|arms?$", re.I)
_CLOSE: Final = 0.75  # difflib's ratio: aproval 0.93, safty 0.91, enabeld 0.86; store and stop 0.67
_LONGEST: Final = 64  # characters of a key that is compared
_MOST: Final = 1_000  # keys of one level that are compared


class UnreadKey(NamedTuple):
    """`level`: where the key stands, as the operator writes it; `likely`: the known key that it resembles, or ""."""

    level: str
    name: str
    known: tuple[str, ...]
    likely: str
    safety: bool
    lists: bool = False  # it was to list the robots

    @property
    def in_robot(self) -> bool:
        """Whether it stands in the entry of a robot, which is not served if the key concerns safety."""
        return self.level.startswith("embodiments.instances[")

    def refusal(self) -> BadInput:
        """As `bad_field` of a value."""
        hint: CodedText = coded("session.remove_field")
        if self.likely or self.lists:
            hint = coded("world.did_you_mean", likely=self.likely or "embodiments.instances")
        if self.likely == APPROVAL and self.level:
            hint = coded("config.approval_place")
        if self.safety and not self.in_robot:
            hint = coded("config.all_ask", hint=hint)
        where = f"{self.level}.{self.name}" if self.level else self.name
        found = coded("file.at", where=where[:200], found=coded("session.unread", name=self.name[:80]))
        expected = coded("common.some_of", names=[*self.known])
        return BadInput(found, path=PATH, op="read", expected=expected, fix=hint, code="FIELD_UNREAD")


def bare(key: str) -> str:
    """A key without case and separators: keys are read in camelCase and in snake_case."""
    return key.replace("_", "").replace("-", "").replace(".", "").lower()


def slip_of_id(name: str, robots: Iterable[str]) -> str:
    """What a key of `approval` was to be, where it is neither: the id of a robot that it is but for case, separators
    and spaces, or `default`; "" for another id, which may be a target's."""
    if name in (ids := tuple(robots)):
        return ""
    plain = "".join(bare(name).split())
    same = next((id for id in ids if bare(id) == plain), "")
    return same or ("default" if plain in _EVERYBODY or _closest(plain, ("default",)) else "")


def unread_keys(document: Json, raw: Json) -> Iterator[UnreadKey]:
    """`document`: by bare keys, with the environment's; `raw`: the file, in which each is spelled as it is written."""
    agents, bodies = document.get("agents"), document.get("embodiments")
    raw_agents, raw_bodies = _part(raw, "agents"), _part(raw, "embodiments")
    yield from _level(document, raw, "", TOP)
    yield from _level(agents, raw_agents, "agents", AGENTS)
    defaults = _level(_part(agents, "defaults"), _part(raw_agents, "defaults"), "agents.defaults", DEFAULTS)
    yield from (key for key in defaults if key.likely or key.safety)  # the others are another program's
    yield from _level(bodies, raw_bodies, "embodiments", EMBODIMENTS)
    yield from _level(document.get("simulation"), _part(raw, "simulation"), "simulation", SIMULATION)
    for number, (entry, written) in enumerate(_pairs(agents, raw_agents, "brains")):
        if isinstance(entry, dict) and entry.get("kind", KINDS[0]) in KINDS:  # a package's backend has its own
            yield from _level(entry, written, f"agents.brains[{number}]", RESPONDER)
    for number, (entry, written) in enumerate(_pairs(bodies, raw_bodies, "instances")):
        yield from _level(entry, written, f"embodiments.instances[{number}]", INSTANCE)


def _part(value: Any, name: str) -> Any:
    """A member by its bare name."""
    return next((part for key, part in value.items() if bare(key) == name), None) if isinstance(value, dict) else None


def _pairs(value: Any, raw: Any, name: str) -> Iterator[tuple[Any, Any]]:
    """Each entry of a list, and the same one of the file."""
    here, written = _part(value, name), _part(raw, name)
    if isinstance(here, list):
        yield from zip_longest(here, (written if isinstance(written, list) else [])[: len(here)])


def _level(value: Any, raw: Any, level: str, known: tuple[str, ...]) -> Iterator[UnreadKey]:
    names = {bare(name) for name in known}
    unread = [key for key in (value if isinstance(value, dict) else ()) if key not in names]
    written = {bare(key): key for key in (raw if unread and isinstance(raw, dict) else ())}
    for key in islice(unread, _MOST):
        name = written.get(key, key)
        likely, safety = _judged(name, known)
        of_robots = level in ("", "embodiments") or level.startswith("embodiments.instances[")
        lists = level in ("", "embodiments") and _lists_robots(name, value[key], likely)
        holds = lists or (of_robots and _holds_back(name, value[key]))
        yield UnreadKey(level, name, known, likely, safety or holds, lists)


def _holds_back(name: str, value: Any) -> bool:
    """Whether a robot that has this, which nothing reads, is expected to stand, or to move less: `disabled`, `dry_run`,
    `max_speed`. A section is another program's."""
    return not isinstance(value, dict | list) and restricts(name, value)


def _lists_robots(name: str, value: Any, likely: str) -> bool:
    """Whether the key was to list robots, by its name or by what its entries have."""
    entries = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    members = _OF_ROBOTS if _SAYS_ROBOTS.search(name[:_LONGEST]) else _OF_ROBOT
    told = any(isinstance(entry, dict) and not members.isdisjoint(map(bare, entry)) for entry in entries)
    return told or (likely in _LISTS and bool(value))


@lru_cache(maxsize=256)
def _judged(name: str, known: tuple[str, ...]) -> tuple[str, bool]:
    """The known key that it resembles, or "", and whether it concerns safety."""
    names = {bare(item): item for item in known}
    safety, close = _concerned_safety(name, tuple(names)), _closest(bare(name), tuple(names))
    likely = names[close] if close else APPROVAL if safety == APPROVAL else ""
    return likely, bool(safety) or likely in SAFETY


def _concerned_safety(name: str, known: tuple[str, ...]) -> str:
    """The word of safety that the key, or a part of it, resembles; "" where it resembles none, or a known key more."""
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name[:_LONGEST])
    whole = _closest(bare(name), (*SAFETY, *known))
    found = [whole if whole in SAFETY else "", *(_closest(part.lower(), _IN_COMPOUNDS) for part in parts)]
    return next(filter(None, found), "")


def _closest(word: str, words: Iterable[str]) -> str:
    from difflib import get_close_matches  # only a file with such a key pays for it

    return next(iter(get_close_matches(word, words, 1, _CLOSE)), "") if len(word) <= _LONGEST else ""
