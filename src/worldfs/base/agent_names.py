"""The names of agents, and which there are below a state root. Light: `paos agents` has to be there at once.

A name is a directory, an address and a word of a command line. So it has letters and digits of any script, and . _ -
between them; no two differ in capitals only, because they would be one directory on many file systems.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from worldfs.base.errors import BadInput, NotFound
from worldfs.base.messages import coded

MOST: Final = 64  # characters
MOST_BYTES: Final = 200  # of a file name's 255: room for what is put before and after it
REMOVED: Final = ".removed"  # below a root: agents that were removed (agent_removal.py)
VARIABLE: Final = "PAOS_AGENTS"
HOME: Final = "PAOS_HOME"
RESERVED: Final = frozenset({"all", "operator", "con", "prn", "aux", "nul"})
"""Words that mean something else: every agent, the person at the shell, devices of another system."""

_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")


def default_root(environ: Mapping[str, str] | None = None) -> str:
    """$PAOS_AGENTS, else `agents` below the home ($PAOS_HOME, else ~/.PhyAgentOS). Text: readers should start fast."""
    environ = os.environ if environ is None else environ
    place = environ.get(VARIABLE) or os.path.join(environ.get(HOME) or "~/.PhyAgentOS", "agents")
    return os.path.abspath(os.path.expanduser(place))


def is_agent_name(name: str) -> bool:
    """Letters, digits, and . _ - after the first sign; not ending in a dot; one spelling only (Unicode NFC)."""
    if 0 < len(name) <= MOST and name[0] not in "_-" and set(name) <= _PLAIN:  # nearly all names are of this kind
        return name not in RESERVED
    return _is_wide(name)


def _is_wide(name: str) -> bool:
    from unicodedata import category, is_normalized

    if not 0 < len(name) <= MOST or not name[0].isalnum() or name[-1] == "." or ".." in name:
        return False
    if name.partition(".")[0].casefold() in RESERVED or name.casefold() in RESERVED:
        return False
    if not all(sign in "._-" or category(sign)[0] in "LN" or category(sign) in ("Mn", "Mc") for sign in name):
        return False
    if any(category(sign) in ("No", "Lm") for sign in name):  # ², ʰ: look like what they are not
        return False
    return is_normalized("NFC", name) and is_normalized("NFKC", name) and len(name.encode()) <= MOST_BYTES


def no_agent(name: str, there: Sequence[str], *, path: str = "", op: str = "agent", far: bool = False) -> NotFound:
    """For a name that no agent has: with the most similar one of those that the caller may see.

    `far`: they are a server's. Then the error names no command that makes one, because that would be on this disk, and
    where `there` is empty it does not say that the server has none: it may not list them.
    """
    from difflib import get_close_matches  # loaded where a name was wrong

    likely = "".join(get_close_matches(name, there, 1))
    if far:
        expected = coded("common.one_of", names=list(there)) if there else ""
        fix = coded("world.did_you_mean", likely=likely) if likely else ""
    else:
        expected = coded("common.one_of", names=list(there) or coded("agent.none_yet"))
        make = coded("agent.init", name=name)
        fix = coded("agent.likely", likely=likely, make=make) if likely else make
    return NotFound(coded("agent.no_agent", name=name[:80]), path=path, op=op, expected=expected, fix=fix)


def check_agent_name(name: str) -> str:
    """The name of an agent as it is, or `BadInput`."""
    if is_agent_name(name):
        return name
    raise BadInput(coded("tree.bad_agent_name", name=name[:80]), op="agent", expected=coded("tree.agent_name"))


def check_new_name(root: str | os.PathLike[str], name: str) -> str:
    """As `check_agent_name`, for an agent that is to be made: `BadInput` where another differs in capitals only."""
    return check_new_names(root, [name])[0]


def check_own_name(name: str, others: Iterable[str], path: str) -> None:
    """`BadInput` where one of these names differs from it in capitals only: people read them as one."""
    alike = next((other for other in others if other != name and other.casefold() == name.casefold()), None)
    if alike is not None:
        raise BadInput(
            coded("tree.capitals_only", name=name, other=alike), path=path, op="agent",
            expected=coded("tree.own_name"), fix=coded("tree.use_other", other=alike),
        )  # fmt: skip


def check_new_names(root: str | os.PathLike[str], names: Sequence[str]) -> list[str]:
    """As `check_new_name` of each, with one look at the root. The names themselves may differ in capitals only."""
    there: dict[str, list[str]] = {}
    for other in list_agents(root):
        there.setdefault(other.casefold(), []).append(other)
    for name in names:
        check_agent_name(name)
        check_own_name(name, there.get(name.casefold(), ()), os.fspath(root))
    return list(names)


def list_agents(root: str | os.PathLike[str]) -> list[str]:
    """The agents below a root: directories with an agent's name, sorted; none if it is not there. Follows no link."""
    found = []
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(root) as entries:
        found = [entry.name for entry in entries if is_agent_name(entry.name) and entry.is_dir(follow_symlinks=False)]
    return sorted(found)


def agent_exists(root: str | os.PathLike[str], name: str) -> bool:
    """Is there such an agent below a root? No link is followed, and no other name is read."""
    if not is_agent_name(name):
        return False
    try:
        return stat.S_ISDIR(os.lstat(os.path.join(root, name)).st_mode)
    except OSError:
        return False
