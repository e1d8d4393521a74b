"""What an entry of ACTION.md says beside its order and nothing reads: what would hold it back, or says another order.

Other tools' own fields are kept and mean nothing. A field that would restrict, delay or change the order refuses it.
"""

from __future__ import annotations

import re
from typing import Final

from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.base.order_parameters import AXES, OBJECT, POINT, SUPPORT, TURNS
from worldfs.base.standard_operations import meaning
from worldfs.formats.sheet_members import EntryRefused
from worldfs.formats.values import same

# Compared without case, "_" and "-".
_HOLDING_BACK: Final = frozenset((
    "disabled", "skip", "skipped", "ignore", "ignored", "dryrun", "simulate", "simulated", "simulateonly",
    "simulationonly", "simonly", "noop", "paused", "hold", "onhold", "suspended", "draft", "testonly", "notbefore",
    "notafter", "startat", "startafter", "starttime", "startsat", "runat", "executeat", "scheduledat",
    "scheduledfor", "schedule", "delay", "delays", "delayms", "expires", "expiresat", "expiry", "validuntil",
    "validfrom", "until", "when", "if", "unless", "condition", "conditions", "precondition", "preconditions",
    "guard", "onlyif", "requiresapproval", "requireapproval", "needsapproval", "approvalrequired",
    "requiresconfirmation", "needsconfirmation", "confirmationrequired", "maxspeed", "speedlimit", "maxforce",
    "forcelimit", "maxvelocity", "exclusive", "repeat", "repeats",
))  # fmt: skip
_ALLOWING: Final = frozenset(("enabled", "active", "approved", "confirmed", "allowed"))  # true says nothing more
_PARAMS: Final = frozenset(("param", "args", "arguments", "actionparams", "actionparameters", "actionargs", "kwargs"))
_ACTION: Final = ("type", "action", "op", "operation", "command", "primitive")
_PLAIN: Final = frozenset(("id", "in", "on", "into"))  # the entry's own, or words that say little outside parameters
_MOVING: Final = frozenset((*OBJECT, *POINT, *SUPPORT, *AXES, *TURNS, "direction", "distance", "speed")) - _PLAIN
_TIMES: Final = ("execute", "session", "queue")
_PHASES: Final = ("skill", "policy", "policy_timeout_s", "preflight", "preflight_timeout_s")  # an action has none


def refuse_contradictions(entry: Json, op: str, params: Json, at: str) -> None:
    """Raises `EntryRefused` for the first field of the entry that holds its order back or says another one."""
    both = entry.get("params"), entry.get("parameters")
    if None not in both and not same(*both):
        raise _other(f"{at}/parameters", "parameters", both[1])
    for name, value in entry.items():
        if value in (None, "", [], {}) or (name in ("params", "parameters")):
            continue
        bare = re.sub("[_-]", "", name).lower()
        if (bare in _HOLDING_BACK and value is not False) or (bare in _ALLOWING and value is not True):
            found = coded("file.holds_back", name=name, value=value)
            raise EntryRefused(f"{at}/{name}", coded("file.carried_out"), found, coded("file.take_out"), "FIELD_UNREAD")
        if bare in _PARAMS and not same(value, params):
            raise _other(f"{at}/{name}", name, value)
        if name in _ACTION and isinstance(value, str) and value.strip() != op and meaning(value.strip()) is not None:
            raise _other(f"{at}/{name}", name, value)
        if name in _MOVING and not any(same(value, given) for given in params.values()):
            raise _other(f"{at}/{name}", name, value)
    timeouts = entry.get("timeouts")
    for name, value in timeouts.items() if isinstance(timeouts, dict) else ():
        if value is not None and name not in (*_TIMES, *_PHASES):
            found = coded("session.unread", name=str(name))
            raise EntryRefused(f"{at}/timeouts/{name}", ", ".join(_TIMES), found, "", "FIELD_UNREAD")


def _other(where: str, name: str, value: object) -> EntryRefused:
    found = coded("file.says_other", name=name, value=value)
    return EntryRefused(where, coded("file.one_order"), found, coded("file.into_params"), "FIELD_UNREAD")
