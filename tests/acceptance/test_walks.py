"""The four walks of ARCHITECTURE.md: every hop that it names is made, no other, and none of them is longer than 16."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from pathlib import Path

import pytest

from worldfs.testing.waiting import PATIENCE_S

from .conftest import ROOT, Onboarded
from .hop_trace import HopTrace

pytest.importorskip("mujoco", reason="the simulation is an extra")
pytest.importorskip("websockets", reason="the server is an extra")

MOST = 16
ROW = re.compile(r"^\| `([\w/]+)` \| `([\w/]+)` \| `(\w+)` \| `([\w.]+)` \| (.+) \|$", re.MULTILINE)


def described(title: str) -> dict[tuple[str, str, str], str]:
    """The rows of a walk, by what crosses, and what each says that it does."""
    page = (ROOT / "ARCHITECTURE.md").read_text()
    section = page.partition(f"### {title}\n")[2].partition("\n#")[0]
    return {(source, target, type): text for source, target, type, _, text in ROW.findall(section)}


def compare(title: str, trace: HopTrace) -> None:
    hops = trace.hops.values()
    table = "\n".join(f"| `{hop.source}` | `{hop.target}` | `{hop.type}` | `{hop.where}` |" for hop in hops)
    rows, made = described(title), {hop[:3] for hop in hops}
    always = {row for row, text in rows.items() if not text.startswith("sometimes: ")}
    assert always <= made <= rows.keys(), f"{title}: ARCHITECTURE.md should say\n{table}"
    assert 0 < len(rows) <= MOST


def test_an_action(onboarded: Onboarded) -> None:
    place = onboarded()
    with HopTrace("Order", "Job", "JobAttempt", "Outcome", "Scene", "PlanReport") as trace:
        assert place.do("close the gripper").code == 0
    compare("An action, from `paos do` to ENVIRONMENT.md and back", trace)


def test_a_blocking_read(tmp_path: Path) -> None:
    from tests.client.served import served

    from worldfs.base.model import Outcome

    async def walk() -> None:
        go = threading.Event()

        def answer(run: object) -> Outcome:
            go.wait()
            return Outcome.success("the answer")

        async with served(tmp_path) as site, site.connect() as world:
            site.realm.services.calls.register("chat", answer)
            await world.write("/agents/self/chat/control/input", b"hello")
            with HopTrace("Frame", "Node", "Wait", "Content", "AgentJob", "Job", "Outcome") as trace:
                read = asyncio.ensure_future(world.read("/agents/self/jobs/job-1/result.txt"))
                async with asyncio.timeout(PATIENCE_S):
                    while not any(hop.type == "Wait" for hop in trace.hops.values()):
                        await asyncio.sleep(0)  # until the server waits for it
                go.set()
                assert await read == b"the answer"
            compare("A blocking read over the socket", trace)

    asyncio.run(walk())


def test_a_message(onboarded: Onboarded) -> None:
    place = onboarded()
    assert place.paos("agent", "init", "rio").code == 0
    with HopTrace("Message", "ClaimedMessage", "bytes") as trace:
        assert place.paos("agent", "send", "rio", "look", "please").code == 0
        claimed = place.paos("--json", "agent", "inbox", "rio", "--claim", "60")
        token = json.loads(claimed.out.splitlines()[0])["token"]
        assert place.paos("agent", "inbox", "rio", "--ack", token).code == 0
    compare("A message, from deposit to acknowledgement", trace)


TARGETS = """targets:
  - id: sim_table
    type: sim
    enabled: true
    backend: mujoco
    supported_skills: [pick_served]
    adapter: {class: SimTargetAdapter}
    config: {seed: 5001, objects: 2}
"""
SKILLS = """skills:
  - id: pick_served
    runtime: VLAPolicyRuntime
    supported_target_types: [sim]
    policy_client: {type: http, endpoint: "http://localhost:%d/predict"}
    requires: {sensors: [joint_states]}
"""
SESSIONS = """sessions:
  - session_id: session_1
    skill_ref: pick_served
    target_ref: sim_table
    task_description: pick up the red apple
    status: pending
"""


def test_a_session_with_a_policy(onboarded: Onboarded) -> None:
    from worldfs.base.clock import SystemClock
    from worldfs.policies.policy_server import PolicyServer
    from worldfs.policies.served_policies import load_policy

    place = onboarded()
    with PolicyServer(load_policy("scripted", lambda kind: None, SystemClock()), SystemClock()) as server:
        for name, text in (("TARGETS", TARGETS), ("SKILLS", SKILLS % server.port), ("SESSIONS", SESSIONS)):
            place.put(f"{name}.md", f"```yaml\n{text}```\n")
        with HopTrace("Order", "SkillRequest", "StepResult", "ActionChunk", "Outcome") as trace:
            assert place.up().code == 0
    assert place.ended()["session_1"].status.outcome.ok
    compare("A session with a policy", trace)
