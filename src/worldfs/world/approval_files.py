"""A node's `approvals.json` and `approve`: what waits for approval, and the control that answers."""

from __future__ import annotations

import json

from worldfs.base.errors import BadInput
from worldfs.base.json_text import KeyTwice, each_key_once, parse_json
from worldfs.base.json_values import as_object
from worldfs.base.messages import coded
from worldfs.runtime.approvals import APPROVED, REFUSED, ApprovalRequest, Approvals
from worldfs.tree.verb_values import WriteContext
from worldfs.tree.virtual_file import Names, VirtualFile


def waiting(approvals: Approvals, node: str) -> bytes:
    """The requests of a node with their answers, the oldest first."""
    found = [request_value(item) for item in approvals.requests() if item.node == node]
    value = {"node": node, "persons": sorted(approvals.persons()), "requests": found}
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()


def request_value(request: ApprovalRequest) -> dict[str, object]:
    answer = request.answer
    return {
        "plan": request.plan,
        "node": request.node,
        "asker": request.asker,
        "orderer": request.orderer,
        "ordered_by": request.ordered_by,
        "purpose": request.purpose,
        "job": request.job,
        "steps": list(request.steps),
        "created_at": request.created_at,
        "answer": None if answer is None else answer._asdict(),
    }


class ApproveFile(VirtualFile):
    """The answer names the plan by its hash, and once more where a person confirms their own order; reading lists what
    waits."""

    def __init__(self, approvals: Approvals) -> None:
        self.approvals = approvals

    def read(self, names: Names) -> bytes:
        return waiting(self.approvals, names["node"])

    def write(self, names: Names, data: bytes, ask: WriteContext) -> None:
        path = f"/nodes/{names['node']}/approve"
        try:
            value = as_object(parse_json(data, object_pairs_hook=each_key_once))
        except KeyTwice as error:
            raise error.refusal(path=path, op="approve", actor=ask.actor) from None
        except ValueError:
            value = {}
        plan, answer, confirmed = value.get("plan"), value.get("answer"), "confirm" in value
        known = value.keys() <= {"plan", "answer", "confirm"} and (not confirmed or value["confirm"] == plan)
        if not isinstance(plan, str) or answer not in (APPROVED, REFUSED) or not known:
            raise BadInput(
                repr(data[:80].decode("utf-8", "replace")),
                path=path,
                op="approve",
                actor=ask.actor,
                expected=coded("approval.payload"),
            )
        request = self.approvals.load(plan)
        if request.node != names["node"]:
            raise BadInput(coded("approval.elsewhere", plan=plan, node=request.node), path=path, op="approve")
        self.approvals.answer(plan, str(answer), ask.name, confirmed=confirmed)
