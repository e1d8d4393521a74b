"""The tools of robots: do, stop, resume, and their typed operations."""

from __future__ import annotations

import json
from typing import Final

from worldfs.access.verb import Verb
from worldfs.base.errors import BadInput, NotFound, UserError
from worldfs.base.json_values import as_object, as_objects, as_text
from worldfs.base.model import Json

from . import bounded_content, places
from .actor_tree import ActorTree
from .agent_orders import json_object, order
from .reading import read_instruction
from .tool_arguments import ToolArgument
from .tool_spec import NUMBER, OBJECT, TEXT, ToolCall, ToolSpec, output_schema, rows_of

_UNDECIDED: Final = frozenset({"ambiguous", "missing"})  # a person can say what is meant
_NODE = ToolArgument("node", "string", "the robot; none: the only one")
OPERATIONS_MOST: Final = 40


async def do(call: ToolCall) -> Json:
    """Submits what was said, also what the grammar refuses: the agent of the tree may understand more."""
    text = call.given.text("instruction")
    reading = await read_instruction(call.tree, text)
    if reading.kind == "refused" and reading.why in _UNDECIDED:
        can = "".join(f"\n- {one}" for one in reading.can[:6])
        said = await call.asker.ask(
            f"{reading.text}{can}", "instruction", "the instruction, so that it has one meaning"
        )
        if said:
            text, reading = said, await read_instruction(call.tree, said)
    id = await order(call.tree, places.CHAT, text)
    told: Json = {"job": id, "instruction": text, "reading": reading.text, "reading_kind": reading.kind or "unread"}
    if reading.can:
        told["would_be_understood"] = list(reading.can[:6])
    return {**told, "next": f"`wait` with job {id} tells how it ends; `stop` with job {id} cancels it"}


async def stop(call: ToolCall) -> Json:
    given = call.given
    if given.text("job"):
        if given.text("node"):
            raise BadInput("both a job and a node", op="stop", expected="one of both")
        place = await places.job(call.tree, given.text("job"))
        await call.tree.write(f"{place}/cancel", b"cancel\n")
        return {"job": given.text("job"), "stopped": [], "next": "`wait` with this job tells when it has ended"}
    node = given.text("node")
    nodes = [await places.robot(call.tree, node, "stop")] if node else await places.robots(call.tree)
    for id in nodes:
        await call.tree.write(f"/nodes/{id}/stop", b"stop\n")
    return {"stopped": nodes, "next": "what waits is held until `resume`"}


async def resume(call: ToolCall) -> Json:
    node = await places.robot(call.tree, call.given.text("node"), "resume")
    await call.tree.write(f"/nodes/{node}/resume", b"resume\n")
    return {"resumed": node}


async def operations(call: ToolCall) -> Json:
    named = call.given.text("node")
    nodes = [named] if named else await places.names(call.tree, "/nodes")
    found = [one for node in nodes for one in await _operations(call.tree, node)]
    if named and not found:
        raise NotFound(f"no operations of {named!r}", op="operations", expected="one of: " + ", ".join(
            await places.names(call.tree, "/nodes")), fix="name a node that takes orders")  # fmt: skip
    shown, more = bounded_content.page(found, call.given.number("offset"), OPERATIONS_MOST)
    hidden = ("control", "arguments")  # how it is given, and the schema once more in the profile's own words
    return {"operations": [{k: v for k, v in one.items() if k not in hidden} for one in shown], **more}


async def operate(call: ToolCall) -> Json:
    given = call.given
    name, parameters, node = given.text("operation"), given.value("parameters"), given.text("node")
    nodes = [node] if node else await places.names(call.tree, "/nodes")
    known = [one for id in nodes for one in await _operations(call.tree, id)]
    fitting = [one for one in known if one["operation"] == name]
    if len(fitting) != 1:
        found = f"no operation {name[:60]!r}" if not fitting else f"{len(fitting)} nodes have {name}"
        there = ", ".join(f"{one['operation']} of {one['node']}" for one in (fitting or known)[:OPERATIONS_MOST])
        raise NotFound(found, op="operate", expected=f"one of: {there}", fix="`operations` lists them")
    row = fitting[0]
    taken = as_object(as_object(row["parameters"]).get("properties"))
    if taken and (unknown := sorted(set(parameters) - set(taken))):
        known_names = "one of: " + ", ".join(taken)
        raise BadInput(
            f"unknown parameter {unknown[0][:60]!r}", op=name, expected=known_names, code="INVALID_ARGUMENTS"
        )
    id = await order(call.tree, as_text(row["control"]), parameters)
    return {
        "job": id,
        "reading": bounded_content.line(f"{name} on {row['node']} with {json.dumps(parameters, ensure_ascii=False)}"),
        "next": f"`wait` with job {id} tells how it ends; `stop` with job {id} cancels it",
    }


async def _operations(tree: ActorTree, node: str) -> list[Json]:
    """What a node takes orders for: each with the Control that takes it."""
    base, found = f"/nodes/{node}/services", []
    for service in await places.names(tree, base):
        try:
            ops = json_object((await tree.read(f"{base}/{service}/OPS.json")).data, base)
            schema = json_object((await tree.read(f"{base}/{service}/SCHEMA.json")).data, base)
            mounts = as_objects(json.loads((await tree.read(f"{base}/{service}/MOUNTS.json")).data))
        except UserError:
            continue  # gone meanwhile
        described = as_object(schema.get("operations"))
        place = as_text(mounts[0].get("mount_path")) if mounts else f"/nodes/{node}/{service}"
        for name, control in as_object(ops.get("paths")).items():
            row: Json = {"node": node, "service": service, "operation": name, "control": f"{place}/{control}"}
            found.append({**row, "parameters": {}, **as_object(described.get(name))})
    return found


_ACTIONS = "/nodes/{node}/ACTION.md"
_JOB = output_schema(
    job=TEXT, instruction=TEXT, reading=TEXT, reading_kind=TEXT, would_be_understood=rows_of(TEXT), next=TEXT
)
ROBOT_TOOLS: Final = (
    ToolSpec(
        "do", "Do", "Ask the robot, in English or Chinese, for what shall hold in the world ('put the apple into the "
        "bowl'), or ask a question about the scene. It answers at once with a job and with the reading of your words; "
        "`wait` tells how it ended. Success is measured in the world.", do,
        (ToolArgument("instruction", "string", "what you want, in plain words", required=True, most=2_000),),
        _JOB, ((Verb.WRITE, places.CHAT),), destructive=True,
    ),
    ToolSpec(
        "stop", "Stop", "Stop every robot at once, or one of them, or cancel one job. It goes ahead of everything.",
        stop, (
            ToolArgument("node", "string", "only this robot"),
            ToolArgument("job", "string", "only this job: it is asked to end, safely"),
        ),
        output_schema(stopped=rows_of(TEXT), job=TEXT, next=TEXT), ((Verb.WRITE, "/nodes/{node}/stop"),),
        idempotent=True,
    ),
    ToolSpec(
        "resume", "Resume", "Let a stopped robot work again.", resume, (_NODE,),
        output_schema(resumed=TEXT), ((Verb.WRITE, "/nodes/{node}/resume"),), destructive=True, idempotent=True,
    ),
    ToolSpec(
        "operations", "List operations", "The typed operations that nodes take, with the schema of their parameters, "
        "what they do, and whether they move something.", operations,
        (
            ToolArgument("node", "string", "only of this node"),
            ToolArgument("offset", "integer", "the first one to show", default=0, most=10_000),
        ),
        output_schema(operations=rows_of(OBJECT), entries_left_out=NUMBER, next_offset=NUMBER),
        ((Verb.READ, "/nodes/{node}/services/{service}/OPS.json"),), read_only=True, idempotent=True,
    ),
    ToolSpec(
        "operate", "Order an operation", "Order one typed operation of a node. The critic may refuse it; it answers at "
        "once with a job.", operate,
        (
            ToolArgument("operation", "string", "its name, of `operations`", required=True),
            ToolArgument("parameters", "object", "its parameters, by the schema of `operations`"),
            ToolArgument("node", "string", "the node; none: the only one that has it"),
        ),
        _JOB, ((Verb.WRITE, "/nodes/{node}/{mount*}"),), destructive=True,
    ),
)  # fmt: skip
