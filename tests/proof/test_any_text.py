"""Whatever text stands in ACTION.md, the kernel goes on: the others are served, and nothing runs that is no order."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from worldfs.testing.workspace_fixture import WorkspaceFixture, action, order, sheet

WORDS = st.sampled_from(
    [
        "pending",
        "running",
        "completed",
        "cancelled",
        "urgent",
        "arm_1",
        "move_to",
        "",
        "a",
        "b",
        "../x",
        "NaN",
        "\ud800",
    ]
)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=10,
)
KEYS = st.sampled_from(
    ["action_id", "id", "action_type", "params", "parameters", "robot_id", "status", "created_at", "priority", "retry",
     "max_retries", "timeouts", "timeout_s", "depends_on", "result", "error"]
)  # fmt: skip
ENTRY = st.one_of(
    ANY,
    st.dictionaries(KEYS, ANY, max_size=6),
    st.builds(lambda more: action("a") | more, st.dictionaries(KEYS, ANY, max_size=2)),
)
DOCUMENT = st.one_of(
    st.binary(max_size=80),
    st.text(max_size=80).map(lambda text: text.encode(errors="replace")),
    st.builds(lambda key, value: json.dumps({key: value}).encode(), st.sampled_from(["queue", "actions"]), ANY),
    st.lists(ENTRY, max_size=4).map(lambda entries: json.dumps({"queue": entries}).encode()),
    st.lists(ENTRY, max_size=4).map(sheet),
    st.builds(lambda entries, cut: sheet(entries)[:-cut], st.lists(ENTRY, max_size=3), st.integers(1, 60)),
)


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(DOCUMENT, min_size=1, max_size=3))
def test_no_text_stops_the_kernel(documents: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        site = WorkspaceFixture(Path(folder))
        with site.open() as world:
            for data in documents:
                site.put("ACTION.md", data)
                for _ in range(30):
                    world.tick()
            world.submit(order("served", "arm_2"))
            for _ in range(30):
                world.tick()
            assert site.starts("served") == 1
            assert all(site.starts(one.id) <= 1 or one.attempts > 1 for one in site.executed)
