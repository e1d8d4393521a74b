"""A body of a package: its profile is its own declaration, and what its operations do is said to those who ask."""

import pytest

from worldfs.base.errors import BadInput
from worldfs.world.check import check
from worldfs.world.home import Home
from worldfs.world.local_nodes import LocalNodes
from worldfs.world.onboard import onboard
from worldfs.world.profiles import profile_text
from worldfs.world.world import World

LAMP = """
from worldfs.base.model import Operation, Parameter, Profile

DIM = Operation("dim", "Dim", (Parameter("level", "number", unit="percent"), Parameter("slow", "bool", True)),
                moves=False, undoable=True, repeatable=True)

class Lamp:
    profile = Profile("Lamp", ops=(DIM, Operation("explode", "Once")))
"""


@pytest.fixture
def home(tmp_path, install):
    install("lamps", {"worldfs.bodies": {"lamp": "lamps_lamp:Lamp"}}, lamps_lamp=LAMP)
    home = Home(tmp_path)
    onboard(home, profile="lamp", robot_id="lamp_1")
    return home


def test_its_operations_are_described_with_their_schema_and_their_effects(home):
    with World.open(home.workspace, config=home.config({})) as world:
        (service,) = LocalNodes(world).all()["lamp_1"].services
    found = service["schema"]["operations"]
    dim, explode = found["dim"], found["explode"]
    assert dim["parameters"] == {
        "type": "object",
        "properties": {"level": {"type": "number", "description": "in percent"}, "slow": {"type": "boolean"}},
        "required": ["level"],
    }
    assert (dim["moves"], dim["undoable"], dim["repeatable"]) == (False, True, True)
    assert (explode["moves"], explode["undoable"], explode["repeatable"]) == (True, False, False)


def test_the_operator_s_own_profile_of_that_name_counts_before_the_declared_one(home):
    assert b"Driver**: lamp" in profile_text("lamp", "en", home.profiles)
    home.profiles.mkdir(parents=True)
    (home.profiles / "lamp.md").write_text("# Mine\n")
    assert profile_text("lamp", "en", home.profiles) == b"# Mine\n"


def test_a_body_that_cannot_be_loaded_is_named_when_a_home_is_made_for_it(tmp_path, install):
    install("lamps", {"worldfs.bodies": {"lamp": "lamps_lamp:Lamp"}}, lamps_lamp="import no_such_light")
    with pytest.raises(BadInput, match="no_such_light") as caught:
        onboard(Home(tmp_path), profile="lamp")
    assert caught.value.code == "PLUGIN_IMPORT"


def test_check_names_a_plug_in_that_cannot_be_used_as_a_warning(home, install):
    before = [item for item in check(home) if item.code.startswith("PLUGIN_")]
    install("broken", {"worldfs.skills": {"fold": "broken_fold:Fold"}}, broken_fold="import no_such_library")
    (found,) = [item for item in check(home) if item.code.startswith("PLUGIN_")]
    assert not before and found.warning and found.field == "plug-in worldfs.skills fold"
    assert "broken 1.0: ModuleNotFoundError" in found.found
