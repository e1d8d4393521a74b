"""docs/import.md: its table names every importer, and its example of a plugin works as it stands."""

import re
from pathlib import Path

from worldfs.plugins.importers import plan, run_import
from worldfs.plugins.importers.importer_registry import IMPORTERS, Importer, ImporterRegistry

PAGE = (Path(__file__).parents[3] / "docs" / "import.md").read_text()


def test_the_page_names_every_importer():
    assert re.findall(r"^\| `([a-z-]+)` \|", PAGE, re.MULTILINE) == list(IMPORTERS.built_in)


def test_the_example_of_a_plugin_is_an_importer_that_works(agent, build):
    code = next(block for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "class Notebooks" in block)
    names: dict = {}
    exec(code, names)
    importer = names["Notebooks"]()
    assert isinstance(importer, Importer)
    place = build({"a.note": "first"})
    registry = ImporterRegistry({"notebooks": importer})
    assert run_import(plan(place, "rio", registry=registry), agent).new == {"notes": 1}
    build({"a.note": "second"})
    assert run_import(plan(place, "rio", registry=registry), agent).changed == {"notes": 1}
    assert [remark.text for remark in agent.memory().remarks] == ["second"]
