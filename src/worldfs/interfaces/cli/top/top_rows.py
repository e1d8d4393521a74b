"""The rows of `paos top`: what a status and the agents' files say, as sections of lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from worldfs.base.json_values import as_list, as_object, as_objects, as_text
from worldfs.base.messages import coded
from worldfs.interfaces.cli.status_diff import (
    alert_text,
    doubt_text,
    job_mood,
    job_state,
    node_state,
    stop_text,
    was_doing,
)

Status = Mapping[str, object]
ENDED: Final = ("succeeded", "failed")
SUMMARY_MOST: Final = 200  # signs of a line of another program


class TopRow(NamedTuple):
    id: str  # of its section; a robot's row has the robot's own
    text: str  # coded or plain; not yet safe for a terminal
    mood: str = ""  # good | bad | warn | dim
    opens: str = ""  # the file that Enter opens


class AgentFacts(NamedTuple):
    """One agent, as its files say."""

    name: str
    report: Mapping[str, object]
    session: Mapping[str, object]
    messages: int = 0


class TopView(NamedTuple):
    """What is shown: one list of rows for each section, in the order of `SECTIONS`."""

    robots: tuple[TopRow, ...] = ()
    queue: tuple[TopRow, ...] = ()
    ended: tuple[TopRow, ...] = ()
    agents: tuple[TopRow, ...] = ()
    alerts: tuple[TopRow, ...] = ()


SECTIONS: Final = TopView._fields


def top_view(status: Status, agents: Sequence[AgentFacts]) -> TopView:
    jobs = as_objects(status.get("recent"))
    return TopView(
        robots=tuple(_robot(node) for node in as_objects(status.get("nodes"))),
        queue=(
            *(_approval(item) for item in as_objects(status.get("approvals"))),
            *(_job(job) for job in jobs if job.get("state") not in ENDED),
        ),
        ended=tuple(_job(job) for job in _newest(jobs)),
        agents=tuple(_agent(agent) for agent in agents),
        alerts=_alerts(as_list(status.get("alerts"))),
    )


def kernel_text(status: Status) -> str:
    kernel = status.get("kernel")
    if not kernel:
        return coded("top.no_kernel")
    pid = kernel.get("pid", "?") if isinstance(kernel, dict) else kernel
    return coded("top.kernel", pid=pid)


def _newest(jobs: Iterable[Mapping[str, object]]) -> list[Mapping[str, object]]:
    over = [job for job in jobs if job.get("state") in ENDED]
    return sorted(over, key=lambda job: as_text(job.get("completed_at")), reverse=True)


def _robot(node: Mapping[str, object]) -> TopRow:
    id, stop, doing = as_text(node.get("id")), as_object(node.get("stopped")), as_object(node.get("instruction"))
    facts = [node_state(node)]
    facts += [coded("command.holding", id=node["held"])] if node.get("held") else []
    facts += [stop_text(stop, _clock(stop.get("at")))] if stop else []
    facts += [doubt] if (doubt := doubt_text(node)) else []
    facts += [coded("top.doing", text=doing.get("text"))] if doing else []
    facts += [coded("top.waits", why=doing.get("waits"))] if doing.get("waits") else []
    facts += [was] if (was := was_doing(node)) else []
    mood = "bad" if stop or node.get("lost") else "good" if as_text(node.get("state")).startswith("running") else ""
    return TopRow(id, coded("top.row", name=id, facts=facts), mood, f"/nodes/{id}/ACTION.md")


def _approval(item: Mapping[str, object]) -> TopRow:
    plan, node = as_text(item.get("plan")), as_text(item.get("node"))
    text = coded("top.approval", node=node, purpose=as_text(item.get("purpose")), plan=plan)
    return TopRow(f"approval {plan}", text, "warn", f"/nodes/{node}/approvals.json")


def _job(job: Mapping[str, object]) -> TopRow:
    id, node = as_text(job.get("id")), as_text(job.get("node"))
    facts: list[object] = [job_state(job), *as_text(job.get("message")).strip().splitlines()[:1]]
    at = job.get("completed_at") or job.get("started_at") or job.get("accepted_at")
    what = " ".join((as_text(job.get("op")), *map(str, as_object(job.get("params")).values())))
    text = coded("top.job", clock=_clock(at), node=node, what=what[:SUMMARY_MOST], facts=facts)
    mood = "bad" if job.get("robot_lost") else "good" if job.get("state") == "running" else job_mood(job)
    return TopRow(id, text, mood, f"/nodes/{node}/jobs/{id}/status.json")


def _agent(agent: AgentFacts) -> TopRow:
    last = as_object(agent.report.get("last_session"))
    running = agent.session.get("status") == "running"
    facts: list[object] = [coded("top.in_session") if running else as_text(agent.report.get("status")) or "–"]
    facts += [coded("top.messages", n=agent.messages)] if agent.messages else []
    facts += [coded("top.last", outcome=last["outcome"])] if last.get("outcome") else []
    summary = " ".join(as_text(agent.report.get("summary")).split())[:SUMMARY_MOST]
    facts += [summary] if summary else []
    mood = "good" if running else "bad" if last.get("outcome") in ("error", "timeout") else ""
    return TopRow(agent.name, coded("top.row", name=agent.name, facts=facts), mood, f"/agents/{agent.name}/report.json")


def _alerts(alerts: Sequence[object]) -> tuple[TopRow, ...]:
    return tuple(TopRow(f"{n}", alert_text(alert), "warn", "/meta/alerts.json") for n, alert in enumerate(alerts))


def _clock(moment: object) -> str:
    return as_text(moment)[11:19] or "--:--:--"
