"""What other programs make of a document is a version once the kernel has seen it."""

import os

from worldfs.testing.workspace_fixture import WorkspaceFixture


def replace(path, text):
    """As an editor saves."""
    draft = path.with_name(".draft")
    draft.write_text(text)
    os.rename(draft, path)


def said(world, name):
    tree = world.namespace("operator")
    return [
        tree.read(f"/versions/projects/main/{name}/{when}").data
        for when in tree.list(f"/versions/projects/main/{name}")
    ]


def test_an_edit_is_kept_although_the_next_one_writes_over_it(tmp_path):
    site = WorkspaceFixture(tmp_path)
    page = site.root / "TASK.md"
    page.write_text("before the kernel\n")
    with site.open() as world:
        for text in ("one\n", "two\n"):
            replace(page, text)
            site.run_until_idle(world)
        assert said(world, "TASK.md") == [b"before the kernel\n", b"one\n", b"two\n"]
    replace(page, "while it is off\n")
    with site.open() as world:
        replace(page, "three\n")
        site.run_until_idle(world)
        assert said(world, "TASK.md")[-3:] == [b"two\n", b"while it is off\n", b"three\n"]
