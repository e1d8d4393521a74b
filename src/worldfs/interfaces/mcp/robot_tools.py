"""The tools of robots: do, stop, resume, and their typed operations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from worldfs.access.verb import Verb
from worldfs.base.errors import BadInput, NotFound, NotPermitted, WorldError
from worldfs.base.json_text import parse_json
from worldfs.base.json_values import as_object, as_objects, as_text
from worldfs.base.messages import coded
from worldfs.base.model import Json
from worldfs.runtime.stop_by_files import stop_by_files
from worldfs.world.agent_jobs.written_terms import join_message, split_message

from . import bounded_content, places
from .actor_tree import ActorTree
from .agent_orders import json_object, order
from .model_questions import ModelOrder, ask_for_model
from .reading import InstructionReading, read_instruction
from .tool_arguments import ToolArgument
from .tool_spec import FLAG, NUMBER, OBJECT, TEXT, ToolCall, ToolSpec, output_schema, rows_of

_UNDECIDED: Final = frozenset({"ambiguous", "missing"})  # a person can say what is meant
_NODE = ToolArgument("node", "string", "the robot; none: the only one")
OPERATIONS_MOST: Final = 40
UNDELIVERED: Final = (
    "the stop was NOT delivered to every robot: tell the person to use the hardware stop; `unconfirmed` says which "
    "robots and why"
)
UNCONFIRMED: Final = (
    "the stop was sent, and is NOT confirmed for every robot: tell the person to use the hardware stop; "
    "`unconfirmed` says which robots and why"
)


async def do(call: ToolCall) -> Json:
    """Submits what was said, also what the grammar refuses: the agent of the tree may understand more. Where a model
    understands it, the person at the client is asked what the model asks and whether its plan is meant, if the client
    can ask."""
    text, members = split_message(call.given.text("instruction"))
    reading = await read_instruction(call.tree, text)
    if reading.kind == "refused" and reading.why in _UNDECIDED:
        can = "".join(f"\n- {one}" for one in reading.can[:6])
        said = await call.asker.ask(
            f"{reading.text}{can}", "instruction", "the instruction, so that it has one meaning"
        )
        if said:
            text, reading = said, await read_instruction(call.tree, said)
    id = call.asker.kept.get("job") or await order(call.tree, places.CHAT, join_message(text, members))
    call.asker.kept["job"] = id
    ordered = ModelOrder(id)
    if reading.kind == "refused" and call.asker.able:
        ordered = await ask_for_model(call, id, text, members)
        if ordered.proposal:
            reading = InstructionReading("command", ordered.proposal)
    id = ordered.job
    told: Json = {"job": id, "instruction": text, "reading": reading.text, "reading_kind": reading.kind or "unread"}
    if reading.can:
        told["would_be_understood"] = list(reading.can[:6])
    if ordered.question:
        told["question"] = ordered.question
    if ordered.stopped:
        stopped = await _stop(call, await places.robots(call.tree))
        return {**told, **stopped, "next": f"the person said stop: {stopped['next']}"}
    if ordered.question:
        return {**told, "next": "nothing was ordered: the person at the client gave no answer"}
    return {**told, "next": f"`wait` with job {id} tells how it ends; `stop` with job {id} cancels it"}


async def stop(call: ToolCall) -> Json:
    given = call.given
    if given.text("job"):
        if given.text("node"):
            raise BadInput(coded("mcp.both"), op="stop", expected=coded("mcp.one"))
        place = await places.job(call.tree, given.text("job"))
        await call.tree.write(f"{place}/cancel", b"cancel\n")
        return {"job": given.text("job"), "stopped": [], "next": "`wait` with this job tells when it has ended"}
    node = given.text("node")
    nodes = [await places.robot(call.tree, node, "stop")] if node else await places.robots(call.tree)
    return await _stop(call, nodes)


async def _stop(call: ToolCall, nodes: Sequence[str]) -> Json:
    async def read(path: str) -> bytes:
        return (await call.tree.read(path)).data

    found = await stop_by_files(nodes, call.tree.write, read)
    unsure = [{"node": one.node, "why": str(one.text)} for one in found if not one.confirmed]
    return {
        "stopped": [one.node for one in found if one.stopped],
        "delivered": [one.node for one in found if one.told], "confirmed": not unsure, "unconfirmed": unsure,
        "next": "what waits is held until `resume`" if not unsure
        else UNCONFIRMED if all(one.told or one.confirmed for one in found) else UNDELIVERED,
    }  # fmt: skip


async def resume(call: ToolCall) -> Json:
    node = await places.robot(call.tree, call.given.text("node"), "resume")
    await call.tree.write(f"/nodes/{node}/resume", b"resume\n")
    return {"resumed": node}


async def operations(call: ToolCall) -> Json:
    named = call.given.text("node")
    nodes = [named] if named else await places.names(call.tree, "/nodes")
    found, unreadable = await _operations(call.tree, nodes)
    if named and not found and not unreadable:
        there = ", ".join(await places.names(call.tree, "/nodes"))
        raise NotFound(
            coded("mcp.no_operations", name=named),
            op="operations",
            expected=coded("common.one_of", names=there),
            fix=coded("mcp.name_node"),
        )
    shown, more = bounded_content.page(found, call.given.number("offset"), OPERATIONS_MOST)
    hidden = ("control", "arguments")  # how it is given, and the schema once more in the profile's own words
    told: Json = {"operations": [{k: v for k, v in one.items() if k not in hidden} for one in shown], **more}
    return {**told, "unreadable": unreadable} if unreadable else told


async def operate(call: ToolCall) -> Json:
    given = call.given
    name, parameters, node = given.text("operation"), given.value("parameters"), given.text("node")
    nodes = [node] if node else await places.names(call.tree, "/nodes")
    known, unreadable = await _operations(call.tree, nodes)
    fitting = [one for one in known if one["operation"] == name]
    if len(fitting) != 1:
        found = (
            coded("mcp.nodes_have", n=len(fitting), name=name) if fitting else coded("mcp.no_operation", name=name[:60])
        )
        there = ", ".join(f"{one['operation']} of {one['node']}" for one in (fitting or known)[:OPERATIONS_MOST])
        expected = (
            coded("mcp.operations_beside", names=there, odd="; ".join(unreadable))
            if unreadable
            else coded("common.one_of", names=there)
        )
        raise NotFound(found, op="operate", expected=expected, fix=coded("mcp.list_operations"))
    row = fitting[0]
    taken = as_object(as_object(row["parameters"]).get("properties"))
    if taken and (unknown := sorted(set(parameters) - set(taken))):
        raise BadInput(
            coded("mcp.parameter", name=unknown[0][:60]),
            op=name,
            expected=coded("common.one_of", names=", ".join(taken)),
            code="INVALID_ARGUMENTS",
        )
    id = await order(call.tree, as_text(row["control"]), parameters)
    reading = coded(
        "mcp.reading", name=name, node=as_text(row["node"]), parameters=json.dumps(parameters, ensure_ascii=False)
    )
    return {
        "job": id,
        "reading": bounded_content.line(reading),
        "next": f"`wait` with job {id} tells how it ends; `stop` with job {id} cancels it",
    }


async def _operations(tree: ActorTree, nodes: Sequence[str]) -> tuple[list[Json], list[str]]:
    """What nodes take orders for, each with the Control that takes it; and the services whose words cannot be read."""
    found: list[Json] = []
    unreadable: list[str] = []
    for node in nodes:
        with _noted(unreadable, node):
            for service in await places.names(tree, f"/nodes/{node}/services"):
                with _noted(unreadable, f"{service} of {node}"), suppress(NotFound, NotPermitted):  # gone meanwhile
                    found += await _operations_of(tree, node, service)
    return found, unreadable[:OPERATIONS_MOST]


@contextmanager
def _noted(unreadable: list[str], what: str) -> Iterator[None]:
    """What one of them says wrongly is noted, and the others go on."""
    try:
        yield
    except (WorldError, ValueError, RecursionError) as error:
        unreadable.append(bounded_content.line(f"{what}: {error}"))


async def _operations_of(tree: ActorTree, node: str, service: str) -> list[Json]:
    base = f"/nodes/{node}/services/{service}"
    ops = json_object((await tree.read(f"{base}/OPS.json")).data, f"{base}/OPS.json")
    schema = json_object((await tree.read(f"{base}/SCHEMA.json")).data, f"{base}/SCHEMA.json")
    mounts = as_objects(parse_json((await tree.read(f"{base}/MOUNTS.json")).data))
    described = as_object(schema.get("operations"))
    place = as_text(mounts[0].get("mount_path")) if mounts else f"/nodes/{node}/{service}"
    rows = []
    for name, control in as_object(ops.get("paths")).items():
        row: Json = {"node": node, "service": service, "operation": name, "control": f"{place}/{control}"}
        rows.append({**row, "parameters": {}, **as_object(described.get(name))})
    return rows


_ACTIONS = "/nodes/{node}/ACTION.md"
_STOPPED: dict[str, Json] = {
    "stopped": rows_of(TEXT),
    "delivered": rows_of(TEXT),
    "confirmed": FLAG,
    "unconfirmed": rows_of(OBJECT),
}
_JOB = output_schema(
    job=TEXT,
    instruction=TEXT,
    reading=TEXT,
    reading_kind=TEXT,
    would_be_understood=rows_of(TEXT),
    question=TEXT,
    **_STOPPED,
    next=TEXT,
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
        output_schema(**_STOPPED, job=TEXT, next=TEXT), ((Verb.WRITE, "/nodes/{node}/stop"),),
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
        output_schema(
            operations=rows_of(OBJECT), unreadable=rows_of(TEXT), entries_left_out=NUMBER, next_offset=NUMBER
        ),
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
