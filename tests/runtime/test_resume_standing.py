"""Who may resume: a stop is ended by an actor of the same or a higher standing than the one who stopped."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldfs.access.standing import Standing, owner_of, shown_actor, standing_of
from worldfs.base.errors import NotPermitted
from worldfs.runtime.stop_log import ALL, StopLog, StopStates, stop_key
from worldfs.storage.memory_store import MemoryStore
from worldfs.testing.manual_clock import ManualClock

NODES = ("arm", "leg", "wheel")
PERSONS = ("operator", "operator/mother/operator", "operator/mother/ada")
AGENTS = ("planner", "orchestrator", "planner/rio", "operator/rio", "operator/mother", "operator/mother/ada/model")


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def stops(store):
    return StopLog(store, ManualClock())


def stop(stops, nodes, actor, **more):
    stops.stop(nodes, shown_actor(actor), standing=standing_of(actor), **more)


def test_the_name_of_an_actor_says_whether_a_person_acts():
    assert {standing_of(name) for name in PERSONS} == {Standing.PERSON}
    assert {standing_of(name) for name in (*AGENTS, "", "operator/", "operator/rio/")} == {Standing.AGENT}
    assert standing_of("operator/mother/model") is Standing.PERSON  # a person of that name
    assert [owner_of(name) for name in (*PERSONS, *AGENTS)] == ["operator", "operator", "ada", *[""] * 5, "ada"]
    assert [shown_actor(name) for name in ("operator", "critic", "planner/rio", "operator/mother/ada")] == [
        "operator",
        "critic",
        "agent rio",
        "ada",
    ]


@pytest.mark.parametrize("resumer", PERSONS + AGENTS)
@pytest.mark.parametrize("stopper", PERSONS + AGENTS)
@pytest.mark.parametrize("every", [False, True])
def test_a_stop_is_ended_by_the_same_or_a_higher_standing(stops, stopper, resumer, every):
    stop(stops, ["arm"], stopper, every=every)
    assert stops.state("arm").standing is standing_of(stopper)
    if standing_of(resumer) >= standing_of(stopper):
        stops.resume(["arm"], resumer, NODES[1:])
        assert not stops.state("arm").stopped
        assert [stops.state(node).stopped for node in NODES[1:]] == [every, every]
        return
    with pytest.raises(NotPermitted, match="arm stays stopped"):
        stops.resume(["arm"], resumer, NODES[1:])
    assert stops.state("arm").by == shown_actor(stopper)


def test_of_several_stops_a_lower_actor_ends_only_those_of_its_standing(store, stops):
    stop(stops, ["arm"], "planner/rio")
    stop(stops, ["arm"], "operator")
    stop(stops, ["arm"], "planner/kim")
    assert stops.state("arm").by == "operator"  # the highest standing holds
    with pytest.raises(NotPermitted):
        stops.resume(["arm"], "planner/rio")
    assert stops.state("arm").roles == {"operator"}
    stops.resume(["arm"], "operator")
    assert not stops.state("arm").stopped


def test_a_stop_of_all_by_a_person_holds_each_that_an_agent_resumes(stops):
    stop(stops, [], "operator", every=True)
    stop(stops, ["arm"], "planner/rio")
    for nodes in (["arm"], NODES):
        with pytest.raises(NotPermitted):
            stops.resume(nodes, "planner/rio", [node for node in NODES if node not in nodes])
    assert all(stops.state(node).stopped for node in (*NODES, "one that comes later"))
    stops.resume(["arm"], "operator", ["leg", "wheel"])
    assert [stops.state(node).stopped for node in NODES] == [False, True, True]
    with pytest.raises(NotPermitted):  # what is left of the stop of all is a person's
        stops.resume(["leg"], "planner/rio", ["arm", "wheel"])


def test_a_resume_of_all_by_an_agent_resumes_what_agents_have_stopped(stops):
    stop(stops, ["arm", "leg"], "planner/rio")
    stop(stops, ["leg"], "operator")
    with pytest.raises(NotPermitted, match="leg stays stopped: operator"):
        stops.resume(NODES, "planner/kim")
    assert [stops.state(node).stopped for node in NODES] == [False, True, False]


@pytest.mark.parametrize("line", [{"stop": "operator"}, {"stop": "critic"}, {"stop": "rio", "standing": "boss"}])
def test_a_line_of_another_version_is_a_persons(store, stops, line):
    store.append(stop_key("arm"), json.dumps(line).encode() + b"\n")
    with pytest.raises(NotPermitted):
        stops.resume(["arm"], "planner/rio")
    stops.resume(["arm"], "operator")
    assert not stops.state("arm").stopped


def test_a_resume_of_another_version_ends_every_stop_that_it_has_seen(store, stops):
    stop(stops, ["arm"], "operator")
    stop(stops, ["arm"], "planner/rio")
    store.append(stop_key("arm"), b'{"resume": "planner", "seen": 1}\n')
    assert stops.state("arm").roles == {"agent rio"}
    store.append(stop_key("arm"), b'{"resume": "planner", "seen": 2}\n')
    assert not stops.state("arm").stopped


def read_without_standing(store, key):
    """As versions without standings read a log: whether it says stopped."""
    stored, stopped, number = store.get(key), False, 0
    for line in (stored.data if stored else b"").splitlines():
        value = json.loads(line) if line else {}
        if "stop" in value:
            stopped, number = True, number + 1
        elif "resume" in value and value["seen"] == number:
            stopped = False
    return stopped


STEP = st.tuples(
    st.booleans(),  # a stop, or a resume
    st.sampled_from(("operator", "operator/mother/ada", "planner/rio", "operator/mother")),
    st.one_of(st.just(()), st.sets(st.sampled_from(NODES), min_size=1).map(tuple)),  # (): of all
)


@given(st.lists(STEP, max_size=12))
def test_no_lower_actor_ever_ends_a_stop_of_a_higher_one(steps):
    """A robot is stopped as long as a stop is in force that nobody of its standing has ended. Each log says so to a
    reader that knows standings, to one that goes on from where it was, and never less to one that knows none."""
    store = MemoryStore()
    stops, live = StopLog(store, ManualClock()), StopStates(store)
    held = {node: set() for node in NODES}  # node → the standings of the stops in force
    for stops_now, actor, nodes in steps:
        standing = standing_of(actor)
        if stops_now:
            stop(stops, nodes, actor, every=not nodes)
        else:
            try:
                stops.resume(nodes or NODES, actor, [node for node in NODES if node not in nodes] if nodes else [])
            except NotPermitted:
                assert standing is Standing.AGENT
        for node in nodes or NODES:
            held[node] = held[node] | {standing} if stops_now else {one for one in held[node] if one > standing}
        for key in (ALL, *map(stop_key, NODES)):
            live.read(key)
        for node in NODES:
            assert stops.state(node).stopped is bool(held[node])
            assert stops.state(node).standing is max(held[node], default=Standing.AGENT)
            assert live.state(node) == stops.state(node)
            older = read_without_standing(store, stop_key(node)) or read_without_standing(store, ALL)
            assert older or not held[node]
