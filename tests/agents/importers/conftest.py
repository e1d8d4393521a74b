"""A legacy tree to read, a place to build others in, and an agent to bring things to."""

import json
from pathlib import Path

import pytest

from worldfs.agents.agent_state import AgentState
from worldfs.plugins.importers.importer_registry import load
from worldfs.testing.manual_clock import ManualClock

LEGACY = Path(__file__).parents[2] / "fixtures" / "legacy"


@pytest.fixture
def legacy():
    return LEGACY


@pytest.fixture
def build(tmp_path):
    """Make files below a place of our own: {path: text, bytes or a JSON value}."""

    def make(files, name="place"):
        for path, content in files.items():
            target = tmp_path / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if not isinstance(content, str | bytes):
                target.write_text(json.dumps(content, ensure_ascii=False))
            else:
                target.write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path / name

    return make


@pytest.fixture
def read():
    """What the importer of a name reads from a place: all of its sources, each with its lines taken."""

    def go(importer, place):
        known = load().importers[importer]
        found = [known.read(source) for source in known.finds(Path(place))]
        for imported in found:
            imported.taken = list(imported.entries())
        return found

    return go


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def agent(tmp_path, clock):
    """rio, new; the root is `tmp_path / "agents"`."""
    with AgentState.open("rio", tmp_path / "agents", create=True, clock=clock) as state:
        yield state
