"""The registry: ours by a table, others by entry points; a broken one is named and spoils nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

import worldfs
from worldfs.base.errors import BadInput
from worldfs.base.model import Remark
from worldfs.plugins.importers import importer_registry
from worldfs.plugins.importers.import_plan import plan
from worldfs.plugins.importers.import_types import ImportItem, ImportSource, ParsedSource


class Notebooks:
    name = "notebooks"
    about = "notebooks → notes"

    def finds(self, place):
        return [ImportSource(self.name, place, "n.txt", ("n.txt",), 3)] if (place / "n.txt").exists() else []

    def read(self, source):
        found = ParsedSource()
        found.remarks.append(ImportItem("0" * 16, Remark("patterns", "from a notebook"), "n.txt:1"))
        return found


class Breaks(Notebooks):
    name = "breaks"

    def read(self, source):
        raise KeyError("page 7")


class NoImporter:
    name = "half"


NOT_CALLABLE = object()


@pytest.fixture
def installed(install, monkeypatch):
    """An installed package with these entry points."""

    def put(**points):
        install("notebooks", {"worldfs.importers": points})
        monkeypatch.setitem(sys.modules, "notebooks_plugin", sys.modules[__name__])

    return put


def test_every_built_in_importer_is_there_and_says_what_it_does():
    loaded = importer_registry.load()
    assert list(loaded.importers) == list(importer_registry.IMPORTERS.built_in)
    for name, importer in loaded.importers.items():
        assert importer.name == name and "→" in importer.about and isinstance(importer, importer_registry.Importer)


def test_a_package_joins_by_an_entry_point(installed, build):
    installed(notebooks="notebooks_plugin:Notebooks")
    made = plan(build({"n.txt": "hm"}), "rio")
    assert [found.source.importer for found in made.found] == ["notebooks"]
    assert "1 note" in made.words()[0]


def test_a_plugin_that_does_not_load_is_named_and_the_others_go_on(installed, build):
    installed(
        notebooks="notebooks_plugin:Notebooks",
        gone="no_such_package:Gone",
        half="notebooks_plugin:NoImporter",
        beads="notebooks_plugin:Notebooks",
    )
    loaded = importer_registry.load()
    assert "notebooks" in loaded.importers and type(loaded.importers["beads"]) is not Notebooks
    assert {item.field.split()[-1]: item.code for item in loaded.broken} == {
        "beads": "PLUGIN_TWICE",
        "gone": "PLUGIN_IMPORT",
        "half": "PLUGIN_PORT",
    }
    words = plan(build({"n.txt": "hm"}), "rio").words()
    assert any("gone" in line and "no_such_package" in line for line in words)


def test_a_plugin_that_breaks_while_reading_is_named_and_the_others_go_on(installed, build):
    installed(notebooks="notebooks_plugin:Notebooks", breaks="notebooks_plugin:Breaks")
    made = plan(build({"n.txt": "hm"}), "rio")
    assert [found.source.importer for found in made.found] == ["notebooks"]
    assert [left.location for left in made.skipped] == ["importer breaks"] and "page 7" in made.skipped[0].found


def test_a_name_that_is_none_is_refused_with_those_there_are(legacy):
    with pytest.raises(BadInput) as caught:
        plan(legacy / "mcp", "rio", importers=["jira"])
    assert "jira" in caught.value.found and "beads" in caught.value.expected


def test_nothing_of_the_importers_loads_before_somebody_imports():
    code = (
        "import sys, worldfs.plugins.importers, worldfs.agents.agent_state;"
        "print([m for m in sys.modules if m.startswith('worldfs.plugins.importers.') or m == 'importlib.metadata'])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(Path(worldfs.__file__).parents[1])},
    )
    assert out.stdout.strip() == "[]"
