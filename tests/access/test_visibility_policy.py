"""Policy files: what they mean, what they mean when they are wrong, and what there is without them (004)."""

import json

import pytest

from worldfs.access.binding import ADMIN, MOTHER, USER, Binding
from worldfs.access.visibility_policy import PolicyCache, PolicyLink, PolicyNode

ALICE = Binding(USER, "alice", "proj-1")


@pytest.fixture
def says(tmp_path):
    """Write manifests; the policies of their home."""
    policies = PolicyCache(tmp_path)

    def say(agent=None, project=None, of=ALICE):
        for kind, name, value in (("agents", of.agent, agent), ("projects", of.project or "system", project)):
            if value is not None:
                place = tmp_path / kind / name
                place.mkdir(parents=True, exist_ok=True)
                text = value if isinstance(value, str) else json.dumps(value)
                (place / f"{kind[:-1]}_policy.json").write_text(text)
        return policies.policy(of)

    return say


def test_without_files_there_is_one_local_node_oneself_and_no_debug(says):
    policy = says()
    assert policy.nodes == (PolicyNode("local", ("fs",), ("1",)),)
    assert policy.visible_agents == ("alice",)
    assert policy.links == (PolicyLink("local::fs", "local", "fs"),)
    assert policy.project == "proj-1"
    assert policy.show_debug is False


def test_the_primary_agent_sees_debug_unless_a_file_says_no(says):
    mother = Binding(ADMIN, MOTHER, "system")
    assert says(of=mother).show_debug is True
    assert says({"show_debug": False}, of=mother).show_debug is False


def test_the_projects_file_replaces_what_the_agents_says(says):
    policy = says({"nodes": [{"id": "a"}], "visible_agents": ["bob"]}, {"nodes": [{"id": "b"}]})
    assert [node.id for node in policy.nodes] == ["b"]
    assert policy.visible_agents == ("bob", "alice")


def test_links_come_from_the_nodes_that_there_are(says):
    assert [link.name for link in says({"nodes": [{"id": "n1"}, {"id": "n2", "resources": {"fs": False}}]}).links] == [
        "n1::fs"
    ]


def test_a_node_without_resources_has_files_and_a_terminal(says):
    assert says({"nodes": [{"id": "x"}]}).nodes == (PolicyNode("x", ("fs",), ("1",)),)
    assert says({"nodes": [{"id": "x", "resources": {"fs": False, "camera": True}}]}).nodes == (
        PolicyNode("x", ("camera",), ()),
    )


def test_a_file_that_changes_is_read_again(says):
    assert [node.id for node in says({"nodes": [{"id": "one"}]}).nodes] == ["one"]
    assert [node.id for node in says({"nodes": [{"id": "another"}]}).nodes] == ["another"]


@pytest.mark.parametrize("text", ["{", "[]", "7", "\x00", "[" * 100_000])
def test_a_file_that_is_no_manifest_says_nothing_and_is_told_of(says, text):
    policy = says(text)
    assert [node.id for node in policy.nodes] == ["local"]
    assert policy.warnings


def test_a_manifest_beyond_a_mebibyte_says_nothing(says):
    assert says('{"show_debug": true}' + " " * (1 << 20)).show_debug is False


@pytest.mark.parametrize(
    "wrong",
    [
        {"show_debug": "yes"},
        {"nodes": {"id": "x"}},
        {"nodes": None},
        {"visible_agents": "bob"},
        {"project_links": 1},
    ],
)
def test_a_field_of_the_wrong_type_says_nothing(says, wrong):
    assert says(wrong)._replace(warnings=()) == says({})._replace(warnings=())


@pytest.mark.parametrize("id", ["..", ".", "a/b", "", "a b", "a\nb", None, 3, "x" * 129])
def test_what_is_no_identifier_is_no_node_no_agent_and_no_link(says, id):
    policy = says({"nodes": [{"id": id}], "visible_agents": [id], "project_links": [{"node_id": id}]})
    assert (policy.nodes, policy.visible_agents, policy.links) == ((), ("alice",), ())


@pytest.mark.parametrize("name", ["..", "a/b", "", "a\nb", "\\", 5])
def test_a_link_needs_a_name_that_can_be_a_file(says, name):
    assert says({"project_links": [{"name": name, "node_id": "local"}]}).links == ()


def test_the_agents_file_names_the_project_of_who_is_bound_to_none(says):
    assert says({"project_id": "lab"}, of=Binding(ADMIN, "alice")).project == "lab"
    assert says({"project_id": "lab"}).project == "proj-1"  # only the bound project exists (D47)
    assert says({"project_id": "../x"}, of=Binding(ADMIN, "bob")).project == "system"


@pytest.mark.parametrize("agent", ["..", "../../etc", "a/b", "\0"])
def test_an_agent_that_is_no_name_leads_to_no_file(tmp_path, agent):
    (tmp_path / "agent_policy.json").write_text('{"show_debug": true}')
    assert PolicyCache(tmp_path / "home").policy(Binding(ADMIN, agent, "p")).show_debug is False
