"""The rows of /agents: the agents that you see, and your own below /agents/self (004; reference 4.1, 4.4, 4.5)."""

from __future__ import annotations

from worldfs.access.roles import ASKERS, EVERYBODY
from worldfs.tree.row_table import INVOKE, FileKind, FileRow

from .row_builders import control_row, directory_rows, literal_row, view_row

SELF = "/agents/self"
PEER = "/agents/{agent}"
CONTRACTS = SELF + "/services/contracts"
JOB = SELF + "/jobs/{job}"

MEMORY_OPS = {name: f"memory_{name}" for name in ("create", "load", "versions", "mutate", "evict", "search")}
SEARCH_OPS = {"search": "web_search"}
PERMISSIONS = {"default": "allow-by-default", "allow_roles": ["admin", "user"], "scope": "agent"}
_ARGUMENTS = {
    "create": '{"kind": "note", "content": any JSON, "name"?, "write_protected"?, "unevictable"?}; gives a mem_id',
    "load": '{"mem_id", "version"?}',
    "versions": '{"mem_id", "limit"?}',
    "mutate": '{"mem_id", "content"}; what it said before stays as a version',
    "evict": '{"mem_id"}',
    "search": '{"query", "limit"?}',
    "invoke": 'any of its tools: {"tool_name", "arguments": {…}}; beside arguments, as in an entry of ACTION.md: '
    "priority, timeouts, retry, depends_on",
}
_WORDS = {"memory": "what you remember: made, loaded, changed, forgotten, found", "web_search": "the web, searched"}
_SEARCHED = {"results": [{"title": "string", "url": "string", "snippet": "string"}]}
_SOURCES = [SELF + "/chat/control/input", SELF + "/jobs/<job-id>/status.json"]


def _ops(operations: dict[str, str], *, paths: bool) -> dict[str, object]:
    ops: dict[str, object] = {"model": "tool_bridge", "invoke": "control/invoke.json", "transport": "runtime-tool"}
    if paths:
        ops["paths"] = {name: f"control/{name}.json" for name in operations}
    return {**ops, "operations": operations}


def _shape(service: str, files: str) -> dict[str, str]:
    return {"kind": "service", "service_id": service, "shape": f"{SELF}/{service}/{{{files}}}"}


_HEAD = "README.md,SCHEMA.json,CAPS.json,OPS.json"
_TAIL = "PERMISSIONS.json,STATUS.json,status.json,result.json,control/*"
# Descriptors of the services that every agent has: at their own paths, and as contracts.
OWN: dict[str, dict[str, object]] = {
    "memory": {
        "SCHEMA": _shape("memory", f"{_HEAD},{_TAIL}"),
        "CAPS": {"invoke": True, "operations": list(MEMORY_OPS.values()), "discoverable": True},
        "OPS": _ops(MEMORY_OPS, paths=True),
        "RUNTIME": {"type": "runtime_tool", "tool_family": "memory"},
        "MOUNTS": [],
        "PERMISSIONS": PERMISSIONS,
        "STATUS": {"service_id": "memory", "state": "namespace", "has_invoke": True},
    },
    "web_search": {
        "SCHEMA": _shape("web_search", f"{_HEAD},RUNTIME.json,{_TAIL}"),
        "CAPS": {"invoke": True, "operations": ["web_search"], "discoverable": True, "network": True},
        "OPS": _ops(SEARCH_OPS, paths=True),
        "RUNTIME": {"type": "runtime_tool", "tool": "web_search"},
        "MOUNTS": [],
        "PERMISSIONS": PERMISSIONS,
        "STATUS": {"service_id": "web_search", "state": "namespace", "has_invoke": True},
    },
}
CONTRACT: dict[str, dict[str, object]] = {
    "memory": {
        **OWN["memory"],
        "SCHEMA": {
            "model": "acheron.service.contract.v1",
            "service": "memory",
            "operations": list(MEMORY_OPS.values()),
        },
        "CAPS": {"contract_only": True, "invoke": True, "operations": list(MEMORY_OPS.values())},
        "OPS": _ops(MEMORY_OPS, paths=False),
        "STATUS": {"service_id": "memory", "state": "contract", "has_invoke": True},
    },
    "web_search": {
        **OWN["web_search"],
        "SCHEMA": {
            "model": "acheron.service.contract.v1",
            "service": "web_search",
            "input": {"query": "string"},
            "output": _SEARCHED,
        },
        "CAPS": {"contract_only": True, "invoke": True, "network": True, "search": True},
        "OPS": _ops(SEARCH_OPS, paths=False),
        "STATUS": {"service_id": "web_search", "state": "contract", "has_invoke": True},
    },
}
_FILES = {
    "SCHEMA": "the shape of the service",
    "CAPS": "what it can do",
    "OPS": "its verbs, and the files that stand for them",
    "RUNTIME": "what carries it out",
    "MOUNTS": "where it hangs below a node: nowhere",
    "PERMISSIONS": "who may use it",
    "STATUS": "what kind of service this is",
}


def _place(base: str, place: str, service: str, files: dict[str, object], ops: list[str]) -> list[FileRow]:
    """One directory that takes orders: descriptors, controls, status and result."""
    title = place.replace("contract:", "Contract ")
    given = {"place": place, "service": service}
    rows = [
        *directory_rows(
            base, title, f"{_WORDS[service][0].upper()}{_WORDS[service][1:]}. Write an order into control/."
        )
    ]
    rows += [literal_row(f"{base}/{name}.json", files[name], about) for name, about in _FILES.items()]
    rows += directory_rows(
        base + "/control", f"Control of {service}", "Each file takes one JSON object and acts at once."
    )
    for name in ("invoke", *ops):
        given_here = {**given, "file": f"{name}.json"}
        row = control_row(f"{base}/control/{name}.json", _ARGUMENTS[name], "invoke", ASKERS, given=given_here)
        rows.append(row._replace(needs=INVOKE))
    rows.append(view_row(base + "/status.json", "how the latest order stands", "invoke_status")._replace(given=given))
    rows.append(view_row(base + "/result.json", "what the latest order gave", "invoke_result")._replace(given=given))
    return rows


ROWS: tuple[FileRow, ...] = (
    *directory_rows(
        "/agents",
        "Agents",
        "Agents with a directory of their own. `self` is you; of the others you see their link and their inbox.",
        {"kind": "collection", "entries": "agent directories", "self": SELF},
        {"read": True, "write": True},
    ),
    *directory_rows(PEER, "Agent {agent}", "Another agent, or yourself by name.", mount="peer"),
    FileRow(
        PEER + "/LINK.txt", FileKind.LINK, "where this agent is for you", EVERYBODY, view="peer_link", mount="peer"
    ),
    *directory_rows(
        SELF,
        "Yourself",
        "Your chat, your jobs, what you wait for, what you remember, and the services that you may use.",
        {
            "kind": "agent",
            "children": ["chat", "jobs", "events", "memory", "web_search", "services"],
        },
    ),
    *directory_rows(
        SELF + "/chat",
        "Chat",
        "Write what you want into control/input. It becomes a job at once; its result is the answer.",
        {"name": "chat", "input": "control/input", "jobs": SELF + "/jobs", "result": "result.txt"},
        {"write_input": True, "read_jobs": True},
    ),
    view_row(SELF + "/chat/meta.json", "whose chat this is", "chat_meta"),
    *directory_rows(SELF + "/chat/control", "Chat control", "`input` takes plain text; one write is one message."),
    control_row(
        SELF + "/chat/control/input",
        'what you want, in plain words; {"text"} and priority, timeouts, retry or depends_on of an entry of ACTION.md',
        "chat_input",
        ASKERS,
    ),
    *directory_rows(SELF + "/chat/examples", "Chat examples", "What a message may look like."),
    view_row(SELF + "/chat/examples/send.txt", "one message", "chat_example"),
    *directory_rows(
        SELF + "/jobs",
        "Jobs",
        "Your jobs in this project: those that run, and those that ended within a day.",
        {"kind": "collection", "entries": "job_id", "files": ["status.json", "result.txt", "log.txt"]},
    ),
    *directory_rows(JOB, "Job {job}", "One order. status.json and result.txt wait for its end when read.", mount="job"),
    view_row(JOB + "/status.json", "queued, running, done or failed", "own_job", mount="job", blocking=True)._replace(
        given={"file": "status"}
    ),
    view_row(JOB + "/result.txt", "what came of it", "own_job", mount="job", blocking=True)._replace(
        given={"file": "result"}
    ),
    FileRow(
        JOB + "/log.txt", FileKind.LOG, "what happened, one JSON object a line", EVERYBODY, view="own_job", mount="job"
    )._replace(given={"file": "log"}),
    view_row(JOB + "/message.txt", "what was asked, of a message to the chat", "own_job", mount="job")._replace(
        given={"file": "message"}
    ),
    control_row(JOB + "/cancel", "write anything to cancel the job", "own_cancel", ASKERS, mount="job"),
    *directory_rows(
        SELF + "/events",
        "Events",
        "Say in control/wait.json what you wait for; reading next.json then blocks until it happens.",
        {
            "wait_config": {"paths": _SOURCES, "timeout_ms": 60000},
            "event": {"event_id": 1, "source_path": "...", "event_path": "...", "updated_at_ms": 0, "job": {}},
        },
        {
            "sources": [*_SOURCES, SELF + "/jobs/<job-id>/result.txt"],
            "multi_wait": True,
            "single_blocking_read": True,
        },
    ),
    *directory_rows(
        SELF + "/events/control", "Event control", "`wait.json` takes the paths to wait for and a timeout."
    ),
    control_row(
        SELF + "/events/control/wait.json", 'what to wait for: {"paths": […], "timeout_ms": 60000}', "wait_json", ASKERS
    ),
    view_row(SELF + "/events/next.json", "the next thing that happened", "next_json", blocking=True),
    *directory_rows(
        SELF + "/services",
        "Services",
        "Everything that you may use, in one list: of nodes, of your own, and the contracts they keep.",
        {
            "kind": "service_index",
            "files": ["SERVICES.json"],
            "roots": ["/nodes/<node_id>/services/<service_id>", CONTRACTS + "/<service_id>"],
        },
        {"discover": True, "invoke_via_paths": True, "contract_services": True},
    ),
    view_row(SELF + "/services/SERVICES.json", "the list", "services_index"),
    *directory_rows(
        CONTRACTS,
        "Contracts",
        "Services by contract: the same wherever you are, whatever carries them out.",
        {
            "kind": "collection",
            "entries": "service_id",
            "shape": CONTRACTS + "/<service_id>/{README.md,SCHEMA.json,CAPS.json,MOUNTS.json,OPS.json,RUNTIME.json,"
            "PERMISSIONS.json,STATUS.json,status.json,result.json,control/invoke.json}",
        },
        {"contract_only": True, "read": True, "write": False},
    ),
    *(
        row
        for service, ops in (("memory", MEMORY_OPS), ("web_search", SEARCH_OPS))
        for row in (
            *_place(f"{SELF}/{service}", service, service, OWN[service], list(ops)),
            *_place(f"{CONTRACTS}/{service}", f"contract:{service}", service, CONTRACT[service], []),
        )
    ),
)
