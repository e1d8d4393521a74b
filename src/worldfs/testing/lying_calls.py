"""Lying backends of chat and web search, and lying importers, called in this process: what of each was believed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

from worldfs.agents.agent_state import AgentState
from worldfs.base.clock import SystemClock
from worldfs.base.json_values import as_text
from worldfs.base.plugin_faults import error_line
from worldfs.formats import config
from worldfs.formats.config_services import WebSearch
from worldfs.plugins.importers import plan, run_import
from worldfs.plugins.importers.importer_registry import load
from worldfs.world.agent_jobs.agent_jobs import AgentJobs
from worldfs.world.agent_jobs.chat import Chat
from worldfs.world.agent_jobs.chat_context import ChatContext
from worldfs.world.agent_jobs.responders import Responders
from worldfs.world.services.agent_services import unattached
from worldfs.world.services.web import WebSearchTool

from . import lying_package
from .call_fixtures import ALICE, state, tool_run, wait_for_call
from .port_lies import LieEnd, PortLie, lies
from .wrong_values import Lie

T = TypeVar("T")


def run_chat(place: Path) -> list[LieEnd]:
    """Each lie of a chat backend as the answer to a message; an honest one last."""
    place.mkdir(exist_ok=True)
    (place / "config.json").write_text(json.dumps({"agents": {"brains": [{"agent": "*", "kind": "lying_chat"}]}}))
    clock, ends = SystemClock(), []
    jobs = AgentJobs.open(place, clock)
    every = [f"chat_{number}" for number in range(len(lies("chat")))]
    with _importable(place):
        responders = Responders(
            lambda: config.read((place / "config.json").read_bytes()), None, place / "agents", clock,
            lambda binding, node: True,
            context=lambda agent, planner: ChatContext(
                clock, agent=agent, attach=unattached, feed=jobs.feed, turns=jobs.turns, planner=planner
            ),
        )  # fmt: skip
        chat = Chat(jobs, responders)
        for text in (*every, "honest"):
            id = as_text(chat.send(ALICE, text.encode()).extra["job"])
            wait_for_call(jobs, id)
            said = jobs.result(ALICE, id).decode("utf-8", "replace")
            lie = lies("chat")[int(text.rpartition("_")[2])] if text != "honest" else PortLie("chat", "", _HONEST)
            ends.append(LieEnd(lie, "succeeded" if state(jobs, id)[0] == "done" else "failed", said))
    return ends


def run_search(place: Path) -> list[LieEnd]:
    """Each lie of a search backend as the answer to a query; an honest one last."""
    place.mkdir(exist_ok=True)
    ends = []
    settings = WebSearch("lying_search", "https://example.org", "", "", 5.0, {})
    tool = WebSearchTool(place, lambda: settings, {})
    with _importable(place):
        for number, lie in (*enumerate(lies("search")), (-1, PortLie("search", "", _HONEST))):
            try:
                found = beside(lambda query=f"search_{number}": tool.invoke("web_search", {"query": query}, tool_run()))  # type: ignore[misc]  # the loop's value
                ends.append(LieEnd(lie, "succeeded" if found["results"] else "failed", str(found)))
            except Exception as error:  # as the worker of a service ends its job
                ends.append(LieEnd(lie, "failed", error_line(error)))
    return ends


def run_importer(place: Path) -> list[LieEnd]:
    """Each lie of an importer; believed if what is wrong came over, or took with it what was right."""
    place.mkdir(exist_ok=True)
    ends = []
    with _importable(place), AgentState.open("rio", place / "agents", clock=SystemClock(), create=True) as agent:
        registry = load()
        for number, lie in enumerate(lies("importer")):
            source = place / f"importer_{number}"
            source.mkdir()
            found = beside(lambda source=source: plan(source, "rio", importers=["lying-import"], registry=registry))  # type: ignore[misc]  # the loop's value
            report = run_import(found, agent)
            right = {"task": {"notes": 1}, "note": {"tasks": 1}}.get(lie.method, {})
            named = " ".join(f"{left.location} {left.found}" for left in report.skipped)
            new = {kind: count for kind, count in {**report.new, **report.same}.items() if count}
            ends.append(LieEnd(lie, "failed" if new == right and named else "succeeded", f"{new} {named}"))
    return ends


def beside(call: Callable[[], T]) -> T:
    """In a thread of its own, where no KeyboardInterrupt is a person's."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()


_HONEST: Final = Lie("honest", lambda: None)


@contextmanager
def _importable(place: Path) -> Iterator[None]:
    """The lying package can be loaded in this process."""
    sys.path.insert(0, str(lying_package.install(place)))
    try:
        yield
    finally:
        sys.path.remove(str(place))
        sys.modules.pop(lying_package.NAME, None)


PORTS: Final[Mapping[str, Callable[[Path], list[LieEnd]]]] = {
    "chat": run_chat, "search": run_search, "importer": run_importer,
}  # fmt: skip
