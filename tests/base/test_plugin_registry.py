"""Plug-ins: what cannot be used is named with its package, the rest goes on, and nothing loads before it is needed."""

import sys

import pytest

from worldfs.base.errors import BadInput
from worldfs.base.plugin_registry import API_NAME, GROUPS, PluginGroup, findings, installed

GROUP = "worldfs.skills"
BUILT_IN = {"ours": "collections:OrderedDict"}
POINTS = {
    "good": "plug_good:made",
    "gone": "no_such_module:made",
    "raises": "plug_raises:made",
    "ends": "plug_ends:made",
    "later": "plug_later:made",
    "nothing": "plug_good:no_such_name",
    "number": "plug_good:number",
}
MODULES = {
    "plug_good": "def made():\n    return 'good'\nnumber = 7\n",
    "plug_raises": "1 / 0\n",
    "plug_ends": "import sys\nsys.exit(3)\n",
    "plug_later": f"{API_NAME} = 2\ndef made():\n    return 'later'\n",
}
CODES = {
    "gone": "PLUGIN_IMPORT", "raises": "PLUGIN_IMPORT", "ends": "PLUGIN_IMPORT", "nothing": "PLUGIN_IMPORT",
    "later": "PLUGIN_API", "number": "PLUGIN_PORT",
}  # fmt: skip


@pytest.fixture
def group(install):
    install("plug", {GROUP: POINTS}, **MODULES)
    return PluginGroup(GROUP, BUILT_IN)


def test_the_names_are_known_and_nothing_is_imported_before_one_is_wanted(group):
    assert next(iter(group)) == "ours" and {*POINTS} < {*group} and "good" in group and len(group) == len([*group])
    assert not {*MODULES} & {*sys.modules}
    assert group["good"]() == "good"
    assert {*MODULES} & {*sys.modules} == {"plug_good"}


@pytest.mark.parametrize(("name", "code"), CODES.items())
def test_one_that_cannot_be_used_is_named_with_its_package_and_the_reason(group, name, code):
    with pytest.raises(BadInput) as caught:
        group.get(name)
    assert caught.value.code == code and caught.value.path == f"plug-in {GROUP} {name}"
    assert "plug 1.0" in caught.value.found and caught.value.fix


def test_the_others_go_on(group):
    plugins, wrong = group.load_all()
    assert plugins["good"]() == "good" and plugins["ours"] is not None
    assert {item.field.split()[-1]: item.code for item in wrong} == CODES
    assert group.get("unknown") is None


def test_two_packages_with_one_name_are_both_named_and_neither_counts(install, group):
    install("other", {GROUP: {"good": "plug_other:made"}}, plug_other="def made():\n    return 'other'\n")
    with pytest.raises(BadInput) as caught:
        group["good"]
    assert caught.value.code == "PLUGIN_TWICE"
    assert "plug 1.0" in caught.value.found and "other 1.0" in caught.value.found


def test_a_package_cannot_replace_a_built_in_one(install):
    install("thief", {GROUP: {"ours": "plug_thief:made"}}, plug_thief="def made():\n    return 'stolen'\n")
    group = PluginGroup(GROUP, BUILT_IN)
    assert group["ours"] is __import__("collections").OrderedDict
    (finding,) = group.load_all().findings
    assert finding.code == "PLUGIN_TWICE" and "thief 1.0" in finding.found and finding.warning
    assert "plug_thief" not in sys.modules


def test_check_names_what_is_wrong_with_the_plugins_of_packages(group, install):
    install("typo", {"worldfs.skils": {"fold": "plug_typo:made"}})
    found = {item.field: item.code for item in findings()}
    expected = {f"plug-in {GROUP} {name}": code for name, code in CODES.items() if code != "PLUGIN_PORT"}
    assert found == {**expected, "plug-in worldfs.skils fold": "PLUGIN_GROUP"}


def test_a_group_is_one_of_the_table():
    with pytest.raises(AssertionError):
        PluginGroup("worldfs.skils", {})
    assert all(group.startswith("worldfs.") and installed(group) is not None for group in GROUPS)
