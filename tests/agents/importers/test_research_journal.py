"""research-journal.md stays where it is; its blocks are offered."""

from worldfs.plugins.importers import plan


def test_blocks_are_notes_of_the_agent_in_whose_folder_the_journal_is(read, legacy):
    found = {imported.agent: imported for imported in read("research-journal", legacy / "collective")}
    assert {agent: len(imported.remarks) for agent, imported in found.items()} == {"clay": 1, "rio": 2}
    first, second = (item.value for item in found["rio"].remarks)
    assert first.text.startswith("**Session 2026-03-11**\n**Question:**") and first.at == "2026-03-11"
    assert "1. *Selection, not prediction.*" in first.text and "---" not in first.text
    assert second.text.startswith("**Session 2026-03-11 (Session 2)**")


def test_they_come_only_when_asked_for_and_the_dry_run_says_so(legacy):
    made = plan(legacy / "collective", "rio", importers=["research-journal"])
    assert not made.found and made.words()[0].endswith("was not imported; add --research-journal to import it")
    asked = plan(legacy / "collective", "rio", importers=["research-journal"], also=["research-journal"])
    assert [found.source.path for found in asked.found] == ["agents/rio/research-journal.md"]
    assert asked.others == {"clay": 1}


def test_a_heading_of_another_kind_is_named(read, build):
    text = "# J\n\n## Session 2026-01-01\na\n\n## Plans\nmany\n\n## Session 2026-01-01\nb\n\n## Session 2026-01-03\n"
    (found,) = read("research-journal", build({"research-journal.md": text}))
    assert [item.value.text for item in found.remarks] == ["**Session 2026-01-01**\na", "**Session 2026-01-01**\nb"]
    assert len({item.key for item in found.remarks}) == 2
    (left,) = found.skipped
    assert left.location == "research-journal.md:6" and "Plans" in left.found and b"many" in left.data
