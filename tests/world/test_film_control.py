"""A node's `film`: a name and nothing else, and never a way out of artifacts/films."""

import pytest

from worldfs.base.errors import BadInput, NotFound, NotPermitted
from worldfs.storage.memory_store import MemoryStore
from worldfs.world.world import World

FILM = "/nodes/franka_001/film"


@pytest.fixture
def world(tmp_path):
    with World.open(tmp_path, store=MemoryStore()) as world:
        yield world


@pytest.mark.parametrize("name", ["../out.gif", "/tmp/out.gif", "a/b.gif", "..", "film.exe", "film", "a\nb.gif"])
def test_what_is_no_name_of_a_film_is_refused_and_nothing_is_asked(world, name):
    with pytest.raises(BadInput):
        world.namespace("planner").write(FILM, name.encode())
    assert world.namespace("planner").read(FILM).data == b""


def test_what_is_asked_stands_there_until_it_is_done(world):
    world.namespace("operator").write(FILM, b"clear.gif\n")
    assert world.namespace("operator").read(FILM).data == b"clear.gif"


def test_a_critic_films_nobody(world):
    with pytest.raises((NotFound, NotPermitted)):
        world.namespace("critic").write(FILM, b"clear.gif")


def test_a_body_that_cannot_film_says_so_and_the_kernel_goes_on(tmp_path):
    from worldfs.testing.null_driver import NullDriver

    store = MemoryStore()
    with World.open(
        tmp_path, store=store, serve=True, threads=False, drivers={"simulation": lambda seat: NullDriver()}
    ) as world:
        world.namespace("operator").write(FILM, b"clear.gif")
        world.tick()
        assert "cannot film" in str(world.status()["alerts"])
        assert world.namespace("operator").read(FILM).data == b""


def test_a_name_that_was_put_past_the_door_leads_nowhere_either(tmp_path):
    from worldfs.testing.null_driver import NullDriver

    store = MemoryStore()
    drivers = {"simulation": lambda seat: NullDriver()}
    with World.open(tmp_path, store=store, serve=True, threads=False, drivers=drivers) as world:
        store.put(".paos/control/franka_001", b"../../out.gif")
        world.tick()
        assert "not a valid film name" in str(world.status()["alerts"])
