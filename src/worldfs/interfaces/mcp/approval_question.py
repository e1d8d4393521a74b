"""The question whether a plan may move a robot, to the person at a client whose actor may answer it."""

from __future__ import annotations

from typing import Final

from worldfs.access.judge import judge
from worldfs.access.role_things import PlanOf
from worldfs.access.standing import shown_actor
from worldfs.access.verb import Verb
from worldfs.base.errors import BadInput, Exists, UserError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_list, as_object, as_objects, as_text
from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.planning.planner.model_reading import YES
from worldfs.runtime.approvals import APPROVED
from worldfs.world.approval_lines import request_lines

from .actor_tree import ActorTree
from .tool_spec import Asker

QUESTION_MOST: Final = 6_000  # characters: a person cannot read a longer request in a form


def read_approval(data: bytes) -> str:
    """The plan that a write to `approve` would approve, "" for none. A refusal moves nothing and is not asked.

    A person confirms no plan of their own this way: a client's form is no second, deliberate act.
    """
    try:
        value = as_object(parse_json(data))
    except ValueError:
        return ""
    return as_text(value.get("plan")) if value.get("answer") == APPROVED and "confirm" not in value else ""


async def ask_approval(tree: ActorTree, asker: Asker, path: str, node: str, plan: str) -> bool:
    """Whether the person has said yes to the plan. False: no person may approve it here, so none is asked, and the tree
    refuses the model's own write. `path`: the control of the robot `node`.

    Raises `BadInput` (NEEDS_PERSON) where the client cannot ask, and where the person does not say yes; and what the
    tree would say against the person's answer.
    """
    waiting = await _waiting(tree, node)
    named = [one for one in as_objects(waiting.get("requests")) if one.get("plan") == plan]
    persons = frozenset(map(as_text, as_list(waiting.get("persons"))))
    if not named or not tree.person or not (await tree.stat(path)).writable:
        return False
    _require_answerable(tree.person, named[0], persons)
    question = "\n".join((coded("mcp.approve_question"), *request_lines(named[0])))
    asked = asker.able and len(question) <= QUESTION_MOST
    about = "yes: the robot may do exactly this; anything else: nothing"
    said = await asker.ask(question, "answer", about) if asked else None
    if said is None or said.strip().casefold() not in YES:
        raise BadInput(
            coded("mcp.not_approved" if asked else "mcp.approves_nothing"),
            path=path,
            op="approve",
            code="NEEDS_PERSON",
            fix=coded("mcp.person_approves", plan=plan),
        )
    return True


def _require_answerable(person: str, request: Json, persons: frozenset[str]) -> None:
    """Judged beforehand, so that no person is asked for a yes that the tree does not take. Raises as the tree does."""
    plan, by = as_text(request.get("plan")), shown_actor(person)
    allowed = judge(person, Verb.APPROVE, PlanOf(as_text(request.get("ordered_by")), persons))
    if not allowed:
        raise allowed.error(path=plan, op="approve", actor=by)
    if request.get("answer"):
        raise Exists(coded("approval.answered", plan=plan), path=plan, op="approve", actor=by)


async def _waiting(tree: ActorTree, node: str) -> Json:
    """What waits at a robot; nothing where the actor does not see it."""
    try:
        return as_object(parse_json((await tree.read(f"/nodes/{node}/approvals.json")).data))
    except (UserError, ValueError):
        return {}
