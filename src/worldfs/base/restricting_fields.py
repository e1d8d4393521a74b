"""Fields of documents that hold back, delay or limit what is carried out, by their names, and names that resemble one.

One piece judges the fields that nothing reads, of every sheet and registry. Compared without case, "_", "-" and spaces.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Final

_HOLDING: Final = frozenset((
    "disabled", "disable", "inactive", "deactivated", "skip", "skipped", "ignore", "ignored", "dry", "dryrun",
    "simulate", "simulated", "simulation", "simulateonly", "simulationonly", "simonly", "noop", "preview",
    "previewonly", "testonly", "validateonly", "checkonly", "planonly", "readonly", "draft", "shadow", "paused",
    "pause", "hold", "onhold", "held", "suspended", "suspend", "blocked", "blockedby", "locked", "frozen",
    "freeze", "deferred", "defer", "postponed", "postpone", "wait", "waits", "waituntil", "notbefore",
    "notafter", "startafter", "starttime", "scheduledat", "scheduledfor", "scheduledtime", "schedule", "delay",
    "delays", "delayms", "delayseconds", "expire", "expires", "expiresat", "expiresin", "expiry", "expiration",
    "validuntil", "validfrom", "activefrom", "activeuntil", "effectivefrom", "timewindow", "until", "deadline",
    "timetolive", "unless", "condition", "conditions", "precondition", "preconditions", "prerequisite",
    "prerequisites", "guard", "guards", "onlyif", "onlywhen", "approval", "approvals", "requiresapproval",
    "requireapproval", "needsapproval", "awaitingapproval", "approvalrequired", "confirmation",
    "requiresconfirmation", "needsconfirmation", "confirmationrequired", "permission", "supervised", "after",
    "before", "depends", "dependson", "dependencies", "dependency", "deps", "requires", "require", "required",
    "needs", "exclusive", "repeat", "repeats", "cooldown", "cancel", "cancelled", "canceled", "abort",
    "aborted", "stop", "stopped", "safety", "watchdog", "limits", "workspacebounds", "maxspeed", "speedlimit",
    "maxforce", "forcelimit", "maxduration", "maxsteps", "maxretries", "timeout", "retries", "attempts",
))  # fmt: skip
# So short, or so like another's field (`run_id`), that a slip of it is not told from that
_EXACT: Final = frozenset((
    "when", "if", "ttl", "waitfor", "waiton", "startat", "startsat", "startson", "startdate", "startif",
    "beginat", "begintime", "runat", "runafter", "runif", "executeat", "executeafter", "executeif", "validto",
    "blockedon",
))  # fmt: skip
_OWN: Final = frozenset((
    "about", "cause", "parse", "parsed", "passed", "read", "reads", "attempt", "inclusive", "allof", "alloc",
    "scheduler", "simulator", "supervisor", "headline", "readline", "seeds", "feeds", "drift", "graft",
    "emitted", "emission", "permuted", "cancer", "relay", "relays", "decay", "looked", "docked", "shipped",
    "referred", "refer", "later", "alter", "activated", "activeform", "startedat", "watts", "stepped",
    "conformed",
))  # fmt: skip
_ALLOWING: Final = frozenset((
    "enabled", "enable", "active", "approved", "confirmed", "allowed", "allow", "permitted", "authorized",
    "authorised", "ready",
))  # fmt: skip
# Anywhere among the words of a name
_WORDS: Final = frozenset((
    "max", "min", "maximum", "minimum", "limit", "limits", "only", "timeout", "timeouts", "deadline",
    "approval", "confirmation", "required", "requires", "require", "needs", "until", "unless", "expires",
    "expiry", "expiration", "disabled", "paused", "hold", "blocked", "forbidden", "precondition",
    "preconditions",
))  # fmt: skip
_FIRST: Final = frozenset(["when", "if", "not", "wait"])
_HOLDING_ZH: Final = re.compile(
    "禁用|停用|暂停|跳过|仿真(?!器)|模拟(?!器)|试运行|演练|审批|需要?批准|需要?确认|延迟|截止|有效期|条件|前提|依赖|上限|下限|限制|最大|最小|取消"
)
_ALLOWING_ZH: Final = re.compile("^(已?启用|已?批准|已?确认|已?允许)$")
_STATES: Final = ("mode", "state", "stage", "phase", "runmode", "executionmode")  # whose value may be such a word
_PARTS: Final = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LONGEST: Final = 40  # characters of a name that may be a slip of another


def restricting(members: Mapping[str, object], known: Collection[str] = (), depth: int = 1) -> Iterator[str]:
    """The members that nothing reads and that would hold back or limit; also within a mapping that nothing reads."""
    for name, value in members.items():
        if name not in known and (
            restricts(str(name), value)
            or (depth and isinstance(value, Mapping) and any(restricting(value, depth=depth - 1)))
        ):
            yield str(name)


def restricts(name: str, value: object) -> bool:
    """Whether a field of this name, with this value, says that something is held back, delayed or limited."""
    if says_nothing(value):
        return False
    kind = _kind(name)
    if kind == "state":
        return isinstance(value, str) and _kind(value) == "holding"
    return (kind == "holding" and value is not False) or (kind == "allowing" and value is not True)


def says_nothing(value: object) -> bool:
    return value is None or (isinstance(value, str | list | Mapping) and not value)


def resembles(name: str, known: Collection[str]) -> str:
    """That one of `known` that this name is but for case, "_", "-", and one letter or two; "" for none."""
    bare, names = bare_name(name), sorted(known)
    same = [one for one in names if bare == bare_name(one)]
    return "".join(same[:1] or get_close_matches(name, [one for one in names if _slip(bare, bare_name(one))], 1, 0))


def bare_name(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


@lru_cache(maxsize=4096)
def _kind(name: str) -> str:
    """`holding`, `allowing` if only true says nothing, `state` if the value is such a word; "" for another's field."""
    bare = bare_name(name)
    words = [word.lower() for word in _PARTS.findall(name[:_LONGEST])]
    if bare in _ALLOWING or _ALLOWING_ZH.search(name[:_LONGEST]):
        return "allowing"
    if bare in _HOLDING | _EXACT or not _WORDS.isdisjoint(words) or _HOLDING_ZH.search(name[:_LONGEST]):
        return "holding"
    if len(words) > 1 and words[0] in _FIRST:
        return "holding"
    if bare in _STATES:
        return "state"
    if bare in _OWN:
        return ""
    if any(_slip(bare, one) for one in _ALLOWING):
        return "allowing"
    return "holding" if any(_slip(bare, one) for one in _HOLDING) else ""


def _slip(typed: str, meant: str) -> bool:
    """Whether one letter is missing, added, changed or changed places; of a long word, two."""
    most = 0 if len(meant) < 5 else 1 if len(meant) < 9 else 2
    if not most or not -most <= len(typed) - len(meant) <= 1 or typed == meant:  # two letters more: `execution_id`
        return False
    before: list[int] = []
    row = list(range(len(meant) + 1))
    for i, letter in enumerate(typed, 1):
        earlier, before, row = before, row, [i]
        for j, other in enumerate(meant, 1):
            least = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == meant[j - 2] and typed[i - 2] == other:
                least = min(least, earlier[j - 2] + 1)
            row.append(least)
    return row[-1] <= most
