"""What a binding may do by itself, without the state of the world that it sees."""

from __future__ import annotations

from typing import Final

from worldfs.base.messages import coded

from . import project_policy
from .binding import Binding
from .credentials import secrets_equal
from .decision import ALLOWED, HIDDEN, Decision
from .things import ExportTarget, JobOwner, ProjectRequest, ProjectScope, ProjectToken, Realm
from .verb import Verb

BindingThing = JobOwner | ProjectScope | ProjectRequest | ProjectToken | ExportTarget | Realm
NOT_READY: Final = Decision(False, "forbidden", coded("access.not_ready"))


def decide(binding: Binding, verb: Verb, thing: object) -> Decision:
    match thing:
        case JobOwner():
            return ALLOWED if (binding.agent, binding.project) == thing else HIDDEN
        case ProjectScope():
            return project_policy.decide(binding, verb, thing)
        case ProjectRequest():
            return project_policy.decide_request(binding, verb, thing)
        case ProjectToken(token, given):
            return ALLOWED if binding.admin or secrets_equal(given, token) else HIDDEN
        case ExportTarget():
            return project_policy.decide_mount(binding, thing)
        case Realm.MOUNT_SECRETS:
            return ALLOWED if binding.primary else HIDDEN
        case Realm.EVERY_AGENT:
            return ALLOWED if binding.primary else HIDDEN
        case Realm.EVERY_PROJECT:
            return ALLOWED if binding.admin else HIDDEN
        case Realm.JOIN_REQUESTS:
            return ALLOWED if binding.admin else NOT_READY
    raise TypeError(f"no rule for {thing!r}")
