"""Claude Code's MEMORY.md and topic files."""


def texts(found):
    return [item.value.text for item in found.remarks]


def test_an_index_with_topics_and_notes_of_its_own(read, legacy):
    (found,) = read("claude-memory", legacy / "home")
    assert texts(found) == [
        "[Gone](removed_topic.md) — the claims API pages from 1, not from 0",
        "Always run `make check` before a commit.\nIt takes 40 s.",
        "**Build**: The parser is generated: edit `grammar.peg`, not the output.",
        "**Integration tests**: integration tests use a real database, never a double\n"
        "Integration tests must run against a real database.\n"
        "**Why:** a double hid a broken migration last quarter.\n"
        "**How to apply:** every test below `tests/integration`.",
        "**release-freeze**: merge freeze from 2026-03-05 for the mobile release\n"
        "**Release freeze**\nNo merges after 2026-03-05.\n    # not a heading\n    make release",
    ]
    assert [item.value.section for item in found.remarks][-2:] == ["corrections", "patterns"]
    assert found.ignored == {"index lines of topics that are there": 2} and not found.skipped


def test_the_old_form_where_the_index_holds_the_notes(read, build):
    text = (
        "# Project memory\n\nUse pnpm here.\n\n## Tests\n- one\n- two\n  with more\n\n  and a paragraph\n- one\n\n"
        "```sh\n# no heading\n\nls\n```\n\n1. first\n2. second\n\n---\n"
    )
    (found,) = read("claude-memory", build({"memory/MEMORY.md": text}))
    assert texts(found) == [
        "Use pnpm here.",
        "**Tests**: one",
        "two\nwith more\nand a paragraph",
        "    # no heading\n\n    ls".replace("\n\n", "\n"),
        "**Tests**: first",
        "**Tests**: second",
    ]


def test_a_long_topic_becomes_a_note_a_heading(read, build):
    body = "Intro.\n\n" + "".join(f"## Part {n}\n\n" + f"text {n} " * 80 + "\n\n" for n in (1, 2, 3))
    (found,) = read("claude-memory", build({"memory/MEMORY.md": "- [A](a.md) — hook\n", "memory/a.md": body}))
    assert [text.split("\n")[0] for text in texts(found)] == [
        "**a**: hook",
        "**a — Part 1**",
        "**a — Part 2**",
        "**a — Part 3**",
    ]


def test_a_subagents_memory_is_its_own_and_a_strangers_folder_is_left_alone(read, build):
    place = build(
        {
            ".claude/agent-memory/Reviewer/MEMORY.md": "- look at the tests first\n",
            "memory/recipes.md": "# Cake\n\n200 g of flour\n",
        }
    )
    (found,) = read("claude-memory", place)
    assert found.agent == "reviewer" and texts(found) == ["look at the tests first"]


def test_a_file_that_is_no_text_is_named_and_the_others_come(read, build):
    place = build({"memory/MEMORY.md": b"- caf\xe9\n", "memory/a.md": "---\nname: a\n---\nfine\n"})
    (found,) = read("claude-memory", place)
    assert texts(found) == ["**a**\nfine"] and found.skipped[0].location == "memory/MEMORY.md"


def test_beside_other_documents_only_what_the_index_leads_to_is_memory(read, build):
    place = build({"MEMORY.md": "- [A](a.md) — hook\n- plain\n", "a.md": "about a\n", "README.md": "# A program\n"})
    (found,) = read("claude-memory", place)
    assert texts(found) == ["plain", "**a**: hook\nabout a"]
    (found,) = read("claude-memory", place / "MEMORY.md")
    assert len(found.remarks) == 2


def test_the_tools_directory_under_another_name_is_known_by_its_folders(read, build):
    place = build({"projects/-x/memory/MEMORY.md": "- a\n", "teams/t/inboxes/rio.json": [{"from": "b", "text": "hi"}]})
    assert [texts(found) for found in read("claude-memory", place)] == [["a"]]
    assert len(read("claude-inbox", place)[0].messages) == 1
