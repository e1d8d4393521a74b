"""One physics world: stepped in one place, the same for the same commands in whatever threads, and restorable."""

import ast
import random
import threading
from pathlib import Path

import mujoco
import numpy as np
import pytest

import worldfs
from worldfs.base.errors import BadInput
from worldfs.robots.mujoco import simulation as module
from worldfs.robots.mujoco.simulation import STATE, Simulation
from worldfs.testing.waiting import PATIENCE_S, until

# two carts that collide, a muscle-like motor with an activation, a thing dragged by a mocap body, a box on the floor
TOY = """
<mujoco>
  <option timestep="0.002" cone="elliptic" impratio="10" integrator="implicitfast"/>
  <size nuserdata="2"/>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body name="left" pos="-.3 0 .1"><joint name="l" axis="1 0 0" type="slide"/><geom size=".1"/></body>
    <body name="right" pos=".3 0 .1"><joint name="r" axis="1 0 0" type="slide"/><geom size=".1"/></body>
    <body name="box" pos="0 .05 .5" euler="20 30 0"><freejoint/><geom type="box" size=".06 .05 .04"/></body>
    <body name="lead" mocap="true" pos="0 1 .5"/>
    <body name="drawn" pos="0 1 .5"><freejoint/><geom size=".05"/></body>
  </worldbody>
  <equality><weld body1="lead" body2="drawn"/></equality>
  <actuator>
    <general name="al" joint="l" dyntype="filter" dynprm=".3" gainprm="30" biastype="affine" biasprm="0 -30 -3"/>
    <general name="ar" joint="r" dyntype="filter" dynprm=".3" gainprm="30" biastype="affine" biasprm="0 -30 -3"/>
  </actuator>
</mujoco>
"""
LEFT, RIGHT = slice(0, 1), slice(1, 2)
PARTS = {part.value: part.name for part in mujoco.mjtState.__members__.values() if part.value.bit_count() == 1}


@pytest.fixture
def model():
    return mujoco.MjModel.from_xml_string(TOY)


def goals(seed, steps):
    """Goals of one actuator that let the carts meet again and again."""
    return np.cumsum(np.random.default_rng(seed).normal(0, 0.02, (steps, 1)), axis=0)


def numbers(simulation):
    return simulation.save().numbers


def disturbed(simulation):
    """In the middle of everything: touching, with activations, a shifted mocap body, a push, and an equality let go."""
    simulation.advance("left", 300, slice(0, 2), np.hstack([goals(1, 300), goals(2, 300)]))
    data = simulation.data
    data.mocap_pos[0] += [0.1, 0.0, 0.1]
    data.xfrc_applied[3, 0] = 0.2
    data.qfrc_applied[0] = 0.1
    data.userdata[:] = 7
    simulation.advance("left", 40)
    assert data.ncon and np.all(data.act) and data.time == pytest.approx(0.68)


def test_nothing_but_the_simulation_steps_a_world():
    found = set()
    for path in Path(worldfs.__file__).parent.rglob("*.py"):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "mj_" in text else ():
            name = getattr(node, "attr", getattr(node, "id", getattr(node, "name", "")))
            if isinstance(name, str) and name.startswith(("mj_step", "mj_Euler", "mj_implicit", "mj_RungeKutta")):
                found.add(path.name)
    assert found == {"simulation.py"}


def test_a_saved_state_goes_on_identically_in_a_new_simulation(model):
    first = Simulation(model)
    disturbed(first)
    saved, rest = first.save(), goals(3, 800)
    contacts = first.data.ncon
    first.advance("left", 800, LEFT, rest)
    second = Simulation(mujoco.MjModel.from_xml_string(TOY))
    second.restore(saved)
    assert second.save() == saved and second.data.ncon == contacts
    second.advance("left", 800, LEFT, rest)
    assert numbers(second) == numbers(first)


@pytest.mark.parametrize("part", ["TIME", "QPOS", "QVEL", "ACT", "WARMSTART", "CTRL", "QFRC_APPLIED", "XFRC_APPLIED",
                                  "MOCAP_POS", "USERDATA"])  # fmt: skip
def test_a_state_that_forgets_a_part_is_seen(model, monkeypatch, part):
    bit = next(value for value, name in PARTS.items() if name == f"mjSTATE_{part}")
    assert STATE & bit
    first = Simulation(model)
    disturbed(first)
    with monkeypatch.context() as patched:
        patched.setattr(module, "STATE", STATE & ~bit)
        second = Simulation(model)
        second.restore(first.save())
    for world in (first, second):
        world.advance("left", 200, LEFT, goals(3, 200))
    assert numbers(second) != numbers(first)


def test_the_state_of_another_model_of_the_same_size_is_refused(model):
    other = Simulation(mujoco.MjModel.from_xml_string(TOY.replace('size=".05"', 'size=".06"')))
    with pytest.raises(BadInput, match="another model"):
        Simulation(model).restore(other.save())


def together(simulation, plans):
    """Each body's commands in chunks, from a thread of its own; every body is expected before any begins."""
    failed = []

    def drive(body, servos, commands, chunks):
        try:
            with simulation.working(body, order=True):
                done = 0
                while done < len(commands):
                    chunk = min(next(chunks), len(commands) - done)
                    simulation.advance(body, chunk, servos, commands[done : done + chunk])
                    done += chunk
        except Exception as error:
            failed.append(error)

    threads = []
    for body, servos, commands, chunk_seed in plans:
        simulation.expect(body)
        sizes = np.random.default_rng(chunk_seed).integers(1, 13, 10_000)
        threads.append(threading.Thread(target=drive, args=(body, servos, commands, iter(sizes.tolist()))))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not failed and not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("turned", [False, True])
def test_two_bodies_in_two_threads_move_as_in_one_loop(model, turned):
    left, right = goals(1, 700), goals(2, 500)
    loop = mujoco.MjData(model)
    for i in range(700):
        loop.ctrl[LEFT], loop.ctrl[RIGHT] = left[i], right[min(i, 499)]
        mujoco.mj_step(model, loop)
    for chunk_seed in range(4):  # however the commands are cut, and whoever comes first
        simulation = Simulation(model)
        plans = [("left", LEFT, left, chunk_seed), ("right", RIGHT, right, 10 + chunk_seed)]
        together(simulation, plans[::-1] if turned else plans)
        assert simulation.data.time == loop.time
        assert np.array_equal(simulation.data.qpos, loop.qpos) and np.array_equal(simulation.data.qvel, loop.qvel)


def test_the_world_waits_for_a_body_at_work(model):
    simulation = Simulation(model)
    simulation.begin("left")
    other = threading.Thread(target=simulation.advance, args=("right", 20))
    other.start()
    until(lambda: simulation.waiting == {"right"})
    assert simulation.data.time == 0
    simulation.advance("left", 5)  # steps for both
    assert simulation.data.time == pytest.approx(0.01) and simulation.waiting == {"right"}
    simulation.end("left")
    other.join(60)
    assert simulation.data.time == pytest.approx(0.04)


@pytest.mark.parametrize("expected", [False, True])
def test_the_world_stands_still_once_a_body_is_at_work(model, expected):
    simulation = Simulation(model)
    other = threading.Thread(target=simulation.advance, args=("right", 20_000))
    other.start()
    until(lambda: simulation.data.time > 0)  # one long chunk is on its way
    if expected:
        simulation.expect("left")
    with simulation.working("left", order=expected):
        assert simulation.data.time == pytest.approx(40)
    other.join(60)


def test_the_world_waits_for_an_expected_body_until_it_is_dismissed(model):
    simulation = Simulation(model)
    simulation.expect("left")
    other = threading.Thread(target=simulation.advance, args=("right", 20))
    other.start()
    until(lambda: simulation.waiting == {"right"})
    assert simulation.data.time == 0
    simulation.dismiss("left")
    other.join(60)
    assert simulation.data.time == pytest.approx(0.04)


def test_an_expected_order_is_begun_by_no_other_look_at_the_world(model):
    simulation = Simulation(model)
    simulation.expect("left")
    with simulation.working("left"):  # it observes, say
        pass
    other = threading.Thread(target=simulation.advance, args=("right", 20))
    other.start()
    until(lambda: simulation.waiting == {"right"})
    assert simulation.data.time == 0
    with simulation.working("left", order=True):
        simulation.advance("left", 1)
    other.join(60)
    assert simulation.data.time == pytest.approx(0.04)
    simulation.dismiss("left")  # one too many
    simulation.advance("right", 1)
    assert simulation.data.time == pytest.approx(0.042)


def test_a_step_taken_elsewhere_is_reported(model):
    simulation = Simulation(model)
    simulation.advance("left", 3)
    mujoco.mj_step(simulation.model, simulation.data)
    with pytest.raises(RuntimeError, match="stepped elsewhere"):
        simulation.advance("left", 1)


def test_a_body_is_moved_from_one_thread_at_a_time(model):
    simulation = Simulation(model)
    simulation.begin("right")
    first = threading.Thread(target=simulation.advance, args=("left", 5))
    first.start()
    until(lambda: simulation.waiting == {"left"})
    with pytest.raises(RuntimeError, match="two threads"):
        simulation.advance("left", 5)
    simulation.end("right")
    first.join(60)
    assert simulation.data.time == pytest.approx(0.01)


def test_bodies_that_come_plan_and_go_as_they_like_all_have_their_steps(model):
    """Who waits for steps is woken alone: by the one that took them, or because another body left."""
    simulation = Simulation(model)

    def live(number):
        chance, body = random.Random(number), f"body_{number}"
        for _ in range(100):
            what = chance.randrange(4)
            if what == 0:
                simulation.advance(body, chance.randint(1, 12))
            elif what == 1:
                simulation.expect(body)
                simulation.dismiss(body)
            else:
                if order := what == 2:
                    simulation.expect(body)
                with simulation.working(body, order=order):
                    with simulation.planning_turn(body):
                        pass
                    for _ in range(chance.randint(1, 5)):
                        simulation.advance(body, chance.randint(1, 12))

    threads = [threading.Thread(target=live, args=(number,), daemon=True) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert not any(thread.is_alive() for thread in threads)
