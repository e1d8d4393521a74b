"""Fields of documents that nothing reads: which of them hold back, delay or limit, and which are harmless.

One piece judges the fields that nothing reads, of every sheet and registry. Compared without case, "_", "-" and spaces.
Beside an order only what is `harmless` may stand: no list of words knows every word for a limit.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache
from itertools import pairwise
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
# A name whose every word is one of these tells where an order comes from, of whom, why, or how it ended
_TELLING: Final = frozenset((
    "annotation", "annotations", "app", "author", "batch", "caller", "cause", "changelog", "client", "comment",
    "comments", "confidence", "correlation", "creator", "description", "display", "email", "error", "errors",
    "experiment", "explanation", "feedback", "generator", "goal", "hash", "history", "id", "info", "intent",
    "issuer", "keywords", "label", "labels", "lang", "language", "locale", "log", "logs", "message", "messages",
    "meta", "metadata", "mission", "model", "name", "note", "notes", "operator", "org", "outcome", "owner",
    "parent", "planner", "project", "prompt", "provenance", "rationale", "reason", "reasoning", "reasons", "remark",
    "remarks", "requester", "response", "result", "results", "run", "schema", "score", "sender", "session",
    "source", "sources", "span", "summary", "tag", "tags", "team", "tenant", "thinking", "thought", "thoughts",
    "thread", "ticket", "title", "trace", "traceparent", "tracestate", "uri", "url", "user", "username", "uuid",
    "version", "why", "workflow",
))  # fmt: skip
_DONE: Final = frozenset((
    "created", "updated", "modified", "changed", "requested", "issued", "submitted", "sent", "received", "generated",
    "written", "logged", "recorded", "reported", "queued", "claimed", "started", "finished", "completed", "ended",
    "failed", "imported", "exported", "edited", "reviewed", "assigned", "authored",
))  # fmt: skip
_OF_DONE: Final = frozenset(("at", "by", "on", "time", "date", "timestamp", "ts", "from", "via", "utc", "ms", "with"))
# Words of a limit of motion, in the settings of a robot
_BOUNDS: Final = frozenset((
    "avoid", "bound", "bounds", "boundary", "boundaries", "ceiling", "clearance", "constraint", "constraints", "fence",
    "forbid", "forbidden", "limit", "limits", "safe", "safety", "velocity", "velocities", "speed", "speeds",
    "acceleration", "accelerations", "jerk", "torque", "torques", "force", "forces", "payload", "workspace", "zone",
    "zones", "nogo", "keepout", "keepclear", "maxspeed", "maxvelocity", "maxforce",
))  # fmt: skip
_FOREIGN: Final = ("x_", "x-", "_", "$schema")  # how another tool marks names as its own
_IDS: Final = ("id", "ids", "uuid")
# Whose id says which thing, place or robot is meant, or not meant
_MEANT: Final = frozenset((
    "arm", "arms", "area", "container", "device", "gripper", "hand", "location", "node", "object", "objects", "place",
    "policy", "region", "robot", "robots", "skill", "support", "target", "targets", "thing", "things", "tool", "zone",
    "zones",
))  # fmt: skip
_SPARED: Final = ("avoid", "except", "keep", "no", "spare", "without")
_BEGUN: Final = frozenset(("begin", "do", "execute", "go", "move", "perform", "proceed", "run", "start"))
_USUAL: Final = frozenset(("auto", "automatic", "default", "live", "new", "normal", "open", "standard", "usual"))
_TELLING_ZH: Final = re.compile(
    "(备注|注释|说明|描述|标题|名称|标签|来源|作者|原因|理由|编号|版本|结果|摘要|目标说明|(创建|更新|提交|完成|下发|生成)(时间|者|人)?)"
)


def restricting(members: Mapping[str, object], known: Collection[str] = (), depth: int = 1) -> Iterator[str]:
    """The members that nothing reads and that would hold back or limit; also within a mapping that nothing reads."""
    for name, value in members.items():
        if name not in known and (
            restricts(str(name), value)
            or (depth and isinstance(value, Mapping) and any(restricting(value, depth=depth - 1)))
        ):
            yield str(name)


def unread(members: Mapping[str, object], known: Collection[str] = ()) -> Iterator[str]:
    """The members that nothing reads and that may say how an order is carried out: all but what is harmless."""
    holding = {*restricting(members, known)}
    for key, value in members.items():
        name, nothing = str(key), key in known or says_nothing(value)
        if key in holding or not (nothing or harmless(name) or _lifts(name, value)):
            yield name


def harmless(name: str) -> bool:
    """Whether a field of this name, which nothing reads, only tells of an order: of whom, when, why it is."""
    low = name[:_LONGEST].lower()
    if _kind(name):
        return False
    if low.startswith(_FOREIGN) or _TELLING_ZH.fullmatch(low):
        return True
    words = [word for word in (word.lower() for word in _PARTS.findall(name)) if not word.isdigit()]
    if not words or len(name) > _LONGEST:
        return False
    if words[0] in _DONE and _OF_DONE.issuperset(words[1:]):
        return True
    if len(words) > 1 and words[-1] in _IDS:
        return words[-2] not in _MEANT and words[0] not in _SPARED
    return _TELLING.issuperset(words)


def bounds(name: str) -> bool:
    """Whether a word of this name, or two of them together, is one for a limit of motion."""
    words = [word.lower() for word in _PARTS.findall(name)]
    pairs = (one + other for one, other in pairwise(words))
    return not _BOUNDS.isdisjoint((*words, *pairs, bare_name(name)))


def _lifts(name: str, value: object) -> bool:
    """Whether a field that may hold back says that it does not: `dry_run: false`, `enabled: true`, `mode: auto`."""
    kind = _kind(name)
    if kind == "state":
        return isinstance(value, str) and value.strip().lower() in _USUAL
    if kind == "allowing" and bare_name(name) not in _ALLOWING and not _ALLOWING_ZH.search(name):
        return False  # `confirm: true` is not `confirmed: true`
    return bool(kind) and not restricts(name, value)


def restricts(name: str, value: object) -> bool:
    """Whether a field of this name, with this value, says that something is held back, delayed or limited."""
    if says_nothing(value):
        return False
    kind = _kind(name)
    if kind == "state":
        return isinstance(value, str) and _kind(value) == "holding"
    if not kind:
        return value is False and bare_name(name) in _BEGUN
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
