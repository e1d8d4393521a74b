"""A kernel on a bench: store in memory, clock in hand, a house that notes what happens in which order."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from worldfs.base.model import MAY_MOVE, Order, Outcome
from worldfs.runtime.body_worker import KernelNode
from worldfs.runtime.job_store import OPEN, JobStore
from worldfs.runtime.kernel import Kernel
from worldfs.storage.foreign_edits import ForeignEdits
from worldfs.storage.memory_store import MemoryStore
from worldfs.storage.store_interface import StoreChangeKind
from worldfs.testing.manual_clock import ManualClock
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.waiting import PATIENCE_S
from worldfs.testing.workspace_fixture import action
from worldfs.tree.workspace_stores import WorkspaceStores


class House:
    """Notes what it is asked; `on_review`, `on_settle`, `on_remember` are called with the order or node."""

    def __init__(self, trace):
        self.trace = trace
        self.lessons = []
        self.on_review = self.on_observe = self.on_remember = lambda what: None
        self.findings = lambda order: ()

    def review(self, order, run):
        self.trace.append(f"review {order.id}")
        self.on_review(order)
        return self.findings(order)

    def observe(self, node):
        self.trace.append(f"settle {node}")
        self.on_observe(node)

    def look(self, node):
        self.trace.append(f"look {node}")

    def remember(self, order, outcome):
        self.trace.append(f"remember {order.id}")
        self.on_remember(order)
        self.lessons.append((order.id, outcome.cause))

    def measured(self, order, outcome):
        return outcome

    def stop_confirmation(self, node):
        return {"robot": node}

    def localise(self, outcome):
        return outcome


class Traced(MemoryStore, ForeignEdits):
    """Notes each write; `broken(key)`, for a line of a job `broken("key status")`, may raise instead."""

    def __init__(self, trace):
        super().__init__()
        self.trace = trace
        self.broken = lambda key: None
        self._aside = []

    def put(self, key, data, *args, **more):
        self.broken(key)
        revision = super().put(key, data, *args, **more)
        self.trace.append(f"put {key}")
        return revision

    def append(self, key, data, **more):
        line = f"{key} {json.loads(data)['status'] if data.strip() and key.startswith(OPEN) else ''}".strip()
        self.broken(line)
        super().append(key, data, **more)
        self.trace.append(f"append {line}")

    def late(self, *copies):
        """Somebody has finished writing to copies of ACTION.md that had been replaced."""
        self._aside = list(copies)
        self._notify("ACTION.md", StoreChangeKind.DISPLACED)

    def displaced(self, key, *, keep=False, young=True):
        return list(self._aside)

    def settled_keys(self):
        return {"ACTION.md"} if self._aside else set()

    def written_keys(self, since, *, alone):
        return self.settled_keys()

    def ours(self, key):
        return None

    def forget(self, key):
        self.trace.append("forget")
        self._aside.clear()


class Body(NullDriver):
    """`on_execute` is called with order and run, on the lane, before anything else; what it returns is the outcome."""

    def __init__(self, trace, **more):
        super().__init__(**more)
        self.trace = trace
        self.on_execute = lambda order, run: None

    def execute(self, order, run):
        self.trace.append(f"execute {order.id}")
        outcome = self.on_execute(order, run)
        return outcome if isinstance(outcome, Outcome) else super().execute(order, run)


class Bench:
    def __init__(self):
        self.trace = []
        self.store = Traced(self.trace)
        self.clock = ManualClock()
        self.hooks = House(self.trace)
        self.body = Body(self.trace)
        self.nodes = {"arm": self.body}
        self.rules = {}  # node → when it asks for approval
        self.names = None  # what the names in orders mean, for approvals
        self.log = []
        self.ours = lambda id: True
        self.kernel = None

    def start(self, *, threads=False):
        nodes = {
            name: KernelNode(name, body, approval=self.rules.get(name, MAY_MOVE)) for name, body in self.nodes.items()
        }
        self.kernel = Kernel(
            WorkspaceStores(self.store, {}),
            self.clock,
            self.hooks,
            nodes,
            threads=threads,
            log=lambda what, job: self.log.append((what, job.id)),
            names=self.names,
            ours=self.ours,
        )
        self.kernel.recover()
        return self.kernel

    @property
    def jobs(self):
        return JobStore(self.store, self.clock)

    def submit(self, *orders):
        self.jobs.accept(orders)

    def drain(self):
        while self.kernel.tick():
            pass

    def until(self, holds, patience=PATIENCE_S):
        """Work on until it holds; blocked in the change feed between, as `run` is."""
        self.drain()
        while not holds():
            self.kernel.tick(self.kernel._watch.read(patience))

    def when(self, event, patience=PATIENCE_S):
        """Let the kernel start what there is, and wait for what a lane tells."""
        self.drain()
        assert event.wait(patience)

    def outcome(self, id):
        return self.jobs.load(id).status.outcome

    def status(self, id):
        return self.jobs.load(id).status

    def write(self, *entries):
        self.store.put("ACTION.md", self.sheet(*entries))

    def sheet(self, *entries):
        return json.dumps({"queue": list(entries)}).encode()

    def entries(self):
        text = self.store.get("ACTION.md").data.decode()
        return json.loads(text[text.index("{") : text.rindex("}") + 1])["queue"]

    def starts(self, id):
        return self.trace.count(f"execute {id}")

    @staticmethod
    def order(id, node="arm", **more):
        params = more.pop("params", {})
        return replace(Order(id, node, "move_to", params), **more)

    @staticmethod
    def action(id, node="arm", **more):
        return action(id, node, **more)


@pytest.fixture
def bench():
    bench = Bench()
    yield bench
    if bench.kernel is not None:
        bench.kernel.abandon()
