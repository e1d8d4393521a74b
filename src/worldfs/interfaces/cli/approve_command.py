"""`paos approve`: what waits for approval before a robot moves, and the answer to it; here or over --connect."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from worldfs.base.errors import NotFound
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object, as_objects
from worldfs.base.messages import coded
from worldfs.world.approval_lines import approval_lines, request_lines

from .command_tree import CommandTree, open_tree

if TYPE_CHECKING:
    from .command_context import CommandContext


def run(context: CommandContext) -> int:
    """List the requests, or answer the one that is named."""
    plan, answer = context["plan"], "refused" if context["refuse"] else "approved"
    with open_tree(context) as tree:
        found = _requests(tree)
        if plan is not None:
            named = next((item for item in found if item["plan"] == plan), None)
            if named is None:
                raise NotFound(
                    coded("approval.unknown", plan=plan[:80]), op="approve", actor=context.actor,
                    expected=coded("approval.a_request"), fix=coded("approval.list"),
                )  # fmt: skip
            for line in request_lines(named):
                context.output.line(line)
            value = {"plan": plan, "answer": answer}
            if not context["refuse"]:
                value["confirm"] = plan  # it was typed; a plan of one's own needs that
            tree.write(f"/nodes/{named['node']}/approve", json.dumps(value).encode())
    if plan is None:
        waiting = [item for item in found if not item.get("answer")]
        context.output.value({"requests": waiting})
        for line in approval_lines(waiting, context.name) or [coded("approval.nothing")]:
            context.output.line(line)
    else:
        said = (
            coded("approval.refused_plan", plan=plan)
            if context["refuse"]
            else coded("approval.approved_plan", plan=plan)
        )
        mood = "warn" if context["refuse"] else "good"
        context.output.report(said, value, mood)
    return 0


def _requests(tree: CommandTree) -> list[dict[str, object]]:
    """Of every robot that the caller sees."""
    found: list[dict[str, object]] = []
    for node in tree.entries("/nodes"):
        if node.directory and any(entry.name == "approvals.json" for entry in tree.entries(node.path)):
            value = as_object(parse_json(tree.read(f"{node.path}/approvals.json")))
            found += as_objects(value.get("requests"))
    return found
