"""Approvals: requests to move, and the answers to them. Every interface asks and answers through this module.

    .paos/approvals/<plan>.json             the request: node, steps, asker; written once, by the asker
    .paos/approvals/<plan>.answer.json      approved or refused, by a person (access/standing.py); written once
    .paos/approvals/<plan>.started.jsonl    the steps that have begun, each with its job; written by the kernel
    .paos/approvals/rules.json              which nodes ask, and when; written by the kernel, for planners

`<plan>` is a hash of the request, time and asker included: an answer holds for these steps and for no others. A step
is the whole of an order, with hashes of the documents and files that decide what it does, and with the places that its
names mean. A request and what belongs to it are removed when its job or its instruction has ended.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.access.judge import judge
from worldfs.access.role_things import PlanOf
from worldfs.access.roles import OPERATOR
from worldfs.access.standing import owner_of, person_of, shown_actor
from worldfs.access.verb import Verb
from worldfs.base.clock import Clock, parse_stamp, stamp
from worldfs.base.errors import BadInput, Conflict, Exists, NotFound, UserError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_int, as_list, as_object, as_objects, as_text
from worldfs.base.messages import coded
from worldfs.base.model import MAY_MOVE, ApprovalPolicy, ApprovalRule
from worldfs.storage.store_interface import ABSENT, Store

if TYPE_CHECKING:
    from worldfs.base.model import Order

APPROVALS: Final = ".paos/approvals"
RULES: Final = f"{APPROVALS}/rules.json"
APPROVED, REFUSED = "approved", "refused"
VALID_S: Final = 600.0  # an approval; a step that has not begun by then is asked for again
TOLERANCE: Final = 0.05  # m or rad: a step that was approved may differ by that, since each is planned on what is seen
MOST_STEPS: Final = 200
_PLAN: Final = re.compile("[0-9a-f]{16}")

Json = Mapping[str, object]


class ApprovalAnswer(NamedTuple):
    answer: str  # approved | refused
    by: str  # the person who answered
    at: str
    expires_at: str = ""
    confirmed: bool = False  # the only person, who had ordered the plan, has confirmed it a second time


class ApprovalRequest(NamedTuple):
    """`job`: the order that waits for it; "": a planner asks for a whole plan, for the time of its instruction."""

    plan: str  # the hash
    node: str
    asker: str  # the role that planned it
    purpose: str
    steps: tuple[Json, ...]  # in order: op, params, places; of a session also the rest of its request, its sources
    created_at: str
    job: str = ""
    answer: ApprovalAnswer | None = None
    orderer: str = ""  # the actor that asked for it; "": the asker itself

    @property
    def ordered_by(self) -> str:
        """The person whose order it is, "" for an agent's or a program's."""
        return owner_of(self.orderer or self.asker)

    def step_of(self, order: Order, sources: Json | None = None) -> Iterator[int]:
        """The numbers of the steps that the order may be. `sources`: of the order, now."""
        wanted = _step(order, sources or {})
        for number, step in enumerate(self.steps):
            same = {**step, "params": {}, "places": {}} == {**wanted, "params": {}, "places": {}}
            if same and _alike(step.get("params", {}), order.params):
                yield number

    def means_the_same(self, step: int, places: Json, but: Collection[str]) -> bool:
        """Whether the names of a step mean the places that were approved. `but`: names of what the robot has moved."""
        then = as_object(self.steps[step].get("places"))
        return _alike(*({name: at for name, at in found.items() if name not in but} for found in (then, places)))


class Approvals:
    """Keeps nothing in memory: any process may use it, with or without a running kernel."""

    def __init__(
        self, store: Store, clock: Clock, persons: Callable[[], frozenset[str]] = lambda: frozenset({OPERATOR})
    ) -> None:
        """`persons`: those who may approve."""
        self._store, self._clock, self.persons = store, clock, persons

    def ask(
        self,
        node: str,
        orders: Sequence[Order],
        asker: str,
        purpose: str,
        job: str = "",
        *,
        orderer: str = "",
        sources: Json | None = None,
        places: Callable[[Order], Json] = lambda order: {},
    ) -> ApprovalRequest:
        """Durable when it returns. `sources`: of each of the orders, as `worldfs.base.driver.Sourced` says. `places`:
        where that is which an order names."""
        if len(orders) > MOST_STEPS:
            raise BadInput(
                coded("approval.too_long", n=len(orders)), op="approve", expected=coded("approval.most", n=MOST_STEPS)
            )
        value: dict[str, object] = {
            "node": node, "asker": asker, "purpose": purpose, "job": job, "created_at": stamp(self._clock.now()),
            "steps": [_step(order, sources or {}, places(order)) for order in orders],
        }  # fmt: skip
        if orderer:
            value["orderer"] = orderer
        data = json.dumps(value, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")
        plan = _digest(data)
        self._store.put(_key(plan, ".json"), data)
        return _request(plan, data, None)

    def answer(self, plan: str, answer: str, actor: str, *, confirmed: bool = False) -> ApprovalRequest:
        """Record the answer of an actor, by its name, durably. `confirmed`: it confirms the plan a second time.

        A refusal moves nothing: every writer of the file may refuse. Raises `NotPermitted` for an approval that is not
        this actor's to give, `Exists` where the plan was answered. The request is not read again: its asker may have
        seen the answer and removed it by now.
        """
        found, by = self.load(plan), shown_actor(actor)
        if answer == APPROVED:
            allowed = judge(actor, Verb.APPROVE, PlanOf(found.ordered_by, self.persons(), confirmed))
            if not allowed:
                raise allowed.error(path=plan, op="approve", actor=by)
        now = self._clock.now()
        end = stamp(now + timedelta(seconds=VALID_S)) if answer == APPROVED else ""
        given = ApprovalAnswer(answer, by, stamp(now), end, confirmed and person_of(actor) == found.ordered_by)
        value = {name: word for name, word in given._asdict().items() if word}
        try:
            self._store.put(_key(plan, ".answer.json"), json.dumps(value).encode(), ABSENT)
        except Exists:
            raise Exists(coded("approval.answered", plan=plan), path=plan, op="approve", actor=by) from None
        return found._replace(answer=given)

    def publish(self, rules: Mapping[str, ApprovalRule], elsewhere: Callable[[str], bool] = lambda node: False) -> None:
        """The kernel says which nodes ask; those of another kernel, `elsewhere`, stay as that one has said.

        Nothing is written where none asks and none did.
        """
        value = {node: [rule.policy.value, rule.real] for node, rule in rules.items() if rule.policy != MAY_MOVE.policy}
        while True:
            stored = self._store.get(RULES)
            said = _read_rules(stored.data) if stored is not None else {}
            kept = {node: rule for node, rule in said.items() if node not in rules and elsewhere(node)}
            data = json.dumps({**kept, **value}, sort_keys=True).encode()
            if data == (stored.data if stored is not None else b"{}"):
                return
            with suppress(Conflict, Exists):  # another kernel has written its own
                self._store.put(RULES, data, stored.revision if stored is not None else ABSENT, durable=False)
                return

    def rule(self, node: str) -> ApprovalRule:
        """As the kernel that runs has published it. A rule that cannot be read asks for everything."""
        stored = self._store.get(RULES)
        if stored is None:
            return MAY_MOVE
        try:
            found = as_object(parse_json(stored.data)).get(node)
            if found is None:
                return MAY_MOVE
            policy, real = as_list(found)
            return ApprovalRule(ApprovalPolicy(as_text(policy)), bool(real))
        except ValueError:
            return ApprovalRule(ApprovalPolicy.ALWAYS)

    def load(self, plan: str) -> ApprovalRequest:
        """Raises `NotFound` for a request that is not there, or no longer."""
        stored = self._store.get(_key(plan, ".json")) if _PLAN.fullmatch(plan) else None
        if stored is None:
            raise NotFound(
                coded("approval.unknown", plan=plan[:80]), op="approve", expected=coded("approval.a_request"),
                fix=coded("approval.list"),
            )  # fmt: skip
        return _request(plan, stored.data, self._answer(plan))

    def requests(self) -> list[ApprovalRequest]:
        """The oldest first. What cannot be read approves nothing, and is not listed."""
        found = []
        for name in self._store.list(APPROVALS):
            plan, dot, rest = name.partition(".")
            if dot and rest == "json":
                try:
                    found.append(self.load(plan))
                except (UserError, ValueError):
                    continue
        return sorted(found, key=lambda item: (item.created_at, item.plan))

    def is_valid(self, request: ApprovalRequest) -> bool:
        """Whether it is approved, now."""
        answer = request.answer
        if answer is None or answer.answer != APPROVED:
            return False
        given, end, now = parse_stamp(answer.at), parse_stamp(answer.expires_at), self._clock.now()
        if given is None or end is None:
            return False
        return given - timedelta(seconds=VALID_S) < now < end  # a clock that was set back far renews no approval

    def started(self, plan: str) -> dict[int, str]:
        """Step → the job that began it."""
        stored = self._store.get(_key(plan, ".started.jsonl"))
        found: dict[int, str] = {}
        for line in stored.data.splitlines() if stored is not None else ():
            try:
                value = as_object(parse_json(line))
            except ValueError:  # torn by a crash: the step had not begun
                continue
            found[as_int(value.get("step"), -1)] = as_text(value.get("job"))
        return found

    def start(self, plan: str, step: int, job: str) -> None:
        """Durable when it returns: a step that was approved begins once."""
        self._store.append(_key(plan, ".started.jsonl"), f"\n{json.dumps({'step': step, 'job': job})}\n".encode())

    def remove(self, plan: str) -> None:
        """The request first: without it nothing else of the plan counts."""
        for suffix in (".json", ".answer.json", ".started.jsonl"):
            try:
                self._store.delete(_key(plan, suffix), durable=False)
            except NotFound:
                continue

    def _answer(self, plan: str) -> ApprovalAnswer | None:
        stored = self._store.get(_key(plan, ".answer.json"))
        if stored is None:
            return None
        try:
            value = as_object(parse_json(stored.data))
        except ValueError:
            value = {}
        said = APPROVED if value.get("answer") == APPROVED else REFUSED
        by, at, end = (as_text(value.get(name)) for name in ("by", "at", "expires_at"))
        return ApprovalAnswer(said, by, at, end, value.get("confirmed") is True)


def _read_rules(data: bytes) -> Mapping[str, object]:
    try:
        return as_object(parse_json(data))
    except ValueError:
        return {}


def _key(plan: str, suffix: str) -> str:
    return f"{APPROVALS}/{plan}{suffix}"


def _digest(data: bytes) -> str:
    from hashlib import sha256  # with OpenSSL: few commands read a plan

    return sha256(data).hexdigest()[:16]


def _request(plan: str, data: bytes, answer: ApprovalAnswer | None) -> ApprovalRequest:
    """Raises `BadInput` where the file is not what its name says."""
    if _digest(data) != plan:
        raise BadInput(coded("approval.changed", plan=plan), path=_key(plan, ".json"), op="approve")
    value = as_object(parse_json(data))
    return ApprovalRequest(
        plan,
        as_text(value.get("node")),
        as_text(value.get("asker")),
        as_text(value.get("purpose")),
        tuple(as_objects(value.get("steps"))),
        as_text(value.get("created_at")),
        as_text(value.get("job")),
        answer,
        as_text(value.get("orderer")),
    )


def _step(order: Order, sources: Json, places: Json | None = None) -> dict[str, object]:
    """An order as a step of a request: all that decides what it does."""
    beside = {"request": order.request, "sources": sources, "places": places}
    return {"op": order.op, "params": order.params, **{name: value for name, value in beside.items() if value}}


def _alike(approved: object, wanted: object) -> bool:
    """Names equal, numbers within the tolerance, nothing more and nothing less."""
    if isinstance(approved, bool) or isinstance(wanted, bool):
        return approved is wanted
    if isinstance(approved, int | float) and isinstance(wanted, int | float):
        try:
            return abs(approved - wanted) <= TOLERANCE
        except OverflowError:  # a whole number that no float holds
            return False
    if isinstance(approved, Mapping) and isinstance(wanted, Mapping):
        return approved.keys() == wanted.keys() and all(_alike(approved[key], wanted[key]) for key in approved)
    if isinstance(approved, list | tuple) and isinstance(wanted, list | tuple):
        return len(approved) == len(wanted) and all(map(_alike, approved, wanted))
    return approved == wanted
