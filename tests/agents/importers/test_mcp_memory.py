"""The MCP memory server's graph."""


def texts(found):
    return [item.value.text for item in found.remarks]


def test_observations_and_relations_are_notes(read, legacy):
    (found,) = read("mcp-memory", legacy / "mcp")
    assert texts(found) == [
        "**MetaDAO** (project): Launches need no permission since 2026.",
        "**MetaDAO** (project): First profitable quarter was Q4 2025.",
        "**@proph3t** (person)",
        "**条件市场** (机制): 低流动性时容易被操纵。",
        "**@proph3t** founded **MetaDAO**",
    ]
    assert {item.value.section for item in found.remarks} == {"Known Facts"} and not found.skipped


def test_a_graph_that_grew_keeps_the_keys_of_what_was_there(read, build):
    entity = {"type": "entity", "name": "A", "entityType": "t", "observations": ["one"]}
    (old,) = read("mcp-memory", build({"memory.jsonl": entity}))
    (new,) = read("mcp-memory", build({"memory.jsonl": {**entity, "observations": ["two", "one"]}}, "later"))
    assert old.remarks[0].key == new.remarks[1].key != new.remarks[0].key


def test_the_form_of_a_whole_graph_is_read_too(read, build):
    graph = {
        "entities": [{"name": "A", "entityType": "t", "observations": ["x"]}],
        "relations": [{"from": "A", "to": "B", "relationType": "knows"}],
    }
    (found,) = read("mcp-memory", build({"memory.json": graph}))
    assert texts(found) == ["**A** (t): x", "**A** knows **B**"]


def test_what_is_no_fact_is_named_and_the_rest_goes_on(read, build):
    lines = (
        '{"type":"entity","name":"A","entityType":"t","observations":["x",7],"since":2025}\n'
        '{"type":"entity","observations":["lost"]}\n{"type":"opinion","name":"B"}\nhalf {\n'
        '{"type":"entity","name":"A","entityType":"t","observations":["x"]}\n{"type":"relation","from":"A"'
    )
    (found,) = read("mcp-memory", build({"memory.jsonl": lines}))
    assert texts(found) == ["**A** (t): x"] and found.ignored == {"duplicate facts": 1}
    assert [left.location for left in found.skipped] == [
        "memory.jsonl:1/since",
        "memory.jsonl:1/observations/1",
        "memory.jsonl:2",
        "memory.jsonl:3",
        "memory.jsonl:4",
        "memory.jsonl:6",
    ]


def test_a_memory_json_of_something_else_is_left_alone(read, build):
    assert read("mcp-memory", build({"memory.json": {"cards": [1, 2]}})) == []
