"""Settings of what agents are served with: `agents.brains` and `webSearch` of config.json.

    "agents": {"brains": [
        {"agent": "*", "kind": "planner", "robot": "franka_001"},
        {"agent": "rio", "kind": "command", "argv": ["claude", "-p"], "prompt": "stdin", "timeoutSeconds": 240}
    ]},
    "webSearch": {"backend": "searxng", "url": "http://127.0.0.1:8888"}
    "webSearch": {"backend": "brave", "apiKeyFile": "secrets/brave"}

No key is in config.json: it comes from an environment variable (`apiKeyEnv`; the backend knows a usual one) or from
a file of mode 0600 (`apiKeyFile`, relative to the home).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded
from worldfs.base.plugin_registry import installed

from .config_fields import Json, Refusals, bad_field, kind_of, seconds, text

ALL: Final = "*"
KINDS: Final = ("planner", "command", "none")
CHAT: Final = "worldfs.chat"  # the group of packages' chat backends
_KNOWN: Final = frozenset(("agent", "kind", "robot", "argv", "prompt", "cwd", "timeoutseconds", "silenceseconds"))
PROMPTS: Final = ("stdin", "arg", "state")
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class ResponderConfig(NamedTuple):
    """The program that answers what is written to an agent's chat.

    `kind`: planner (a robot of the home's workspace), command (a command line, run as a session of the agent), none,
    or the name of a package's chat backend, whose own keys are in `more`.
    `prompt`, of a command: its standard input is the message (stdin), the message is its last argument (arg), or its
    standard input is the state prompt of the agent with the message at its end (state).
    """

    agent: str  # a name, or ALL for those that have no entry of their own
    kind: str = "planner"
    robot: str = ""  # of the planner; "": the only one
    argv: tuple[str, ...] = ()
    prompt: str = "stdin"
    cwd: str = ""
    timeout_s: float = 300.0
    silence_s: float | None = None
    more: Mapping[str, Any] = _NOTHING


class WebSearch(NamedTuple):
    """`backend` "": not configured. `more`: keys that only some backend knows."""

    backend: str = ""
    url: str = ""
    api_key_env: str = ""
    api_key_file: str = ""
    timeout_s: float = 10.0
    more: Mapping[str, Any] = _NOTHING


def read_responders(value: Any, refused: Refusals) -> tuple[ResponderConfig, ...]:
    """Keys come without case and underscores (config.py). An agent whose entry is refused has no brain at all: the
    entry for all others is not meant for it.
    """
    if value is None:
        return ()
    if not isinstance(value, list):
        refused.append(bad_field("agents.brains", kind_of(value), coded("file.list")))
        return ()
    found: dict[str, ResponderConfig] = {}
    for number, entry in enumerate(value):
        where = f"agents.brains[{number}]"
        try:
            if not isinstance(entry, dict):
                raise bad_field(where, kind_of(entry), coded("config.object_with", one="agent", other="kind"))
            brain = _brain(entry, where)
            if brain.agent in found:
                found_again = coded("config.again", name=repr(brain.agent))
                raise bad_field(f"{where}.agent", found_again, coded("file.entry_an_agent"))
            found[brain.agent] = brain
        except BadInput as error:
            refused.append(error)
            agent = entry.get("agent") if isinstance(entry, dict) else None
            if isinstance(agent, str) and agent.strip():
                found.setdefault(agent.strip(), ResponderConfig(agent.strip(), "none"))
    return tuple(found.values())


def read_web_search(value: Json) -> WebSearch:
    """Raises `BadInput` naming the key; a key of the API in the file is refused without being repeated."""
    if value.get("apikey") is not None:
        raise bad_field("webSearch.apiKey", coded("config.secret"), coded("config.secret_place"))
    known = {"backend", "url", "apikeyenv", "apikeyfile", "timeoutseconds"}
    return WebSearch(
        text(value, "backend", "webSearch.backend").lower(),
        text(value, "url", "webSearch.url"),
        text(value, "apikeyenv", "webSearch.apiKeyEnv"),
        text(value, "apikeyfile", "webSearch.apiKeyFile"),
        seconds(value, "timeoutseconds", "webSearch.timeoutSeconds", WebSearch().timeout_s),
        {key: item for key, item in value.items() if key not in known},
    )


def read_real_time(value: Json) -> float:
    """The factor; true is 1, false or nothing 0: as fast as it can. Raises `BadInput` for anything else."""
    said = value.get("realtime")
    if isinstance(said, bool) or said is None:
        return float(bool(said))
    if not isinstance(said, int | float) or not 0.1 <= said <= 100:
        raise bad_field("simulation.realTime", f"{said!r:.40}", coded("config.real_time"))
    return float(said)


def _brain(entry: Json, where: str) -> ResponderConfig:
    agent = text(entry, "agent", f"{where}.agent")
    if not agent:
        raise bad_field(f"{where}.agent", coded("common.nothing"), coded("config.agent_or_all", all=ALL))
    kind = text(entry, "kind", f"{where}.kind", "planner").lower()
    if kind not in KINDS and kind not in (added := installed(CHAT)):
        raise bad_field(f"{where}.kind", repr(kind), " | ".join((*KINDS, *sorted(added))))
    prompt = text(entry, "prompt", f"{where}.prompt", "stdin").lower()
    if prompt not in PROMPTS:
        raise bad_field(f"{where}.prompt", repr(prompt), " | ".join(PROMPTS))
    argv = entry.get("argv", [])
    if not isinstance(argv, list) or not all(isinstance(word, str) and "\0" not in word for word in argv):
        raise bad_field(f"{where}.argv", repr(argv)[:80], coded("config.argv"))
    if kind == "command" and not (argv and argv[0]):
        raise bad_field(f"{where}.argv", coded("config.no_command"), coded("config.program"))
    silence = seconds(entry, "silenceseconds", f"{where}.silenceSeconds", 0.0) or None
    timeout = seconds(entry, "timeoutseconds", f"{where}.timeoutSeconds", ResponderConfig(ALL).timeout_s)
    robot, cwd = text(entry, "robot", f"{where}.robot"), text(entry, "cwd", f"{where}.cwd")
    more = {key: value for key, value in entry.items() if key not in _KNOWN}
    return ResponderConfig(agent, kind, robot, tuple(argv), prompt, cwd, timeout, silence, more)
