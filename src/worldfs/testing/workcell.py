"""A workcell: several simulated bodies in one world, each driven from a thread of its own."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence

from worldfs.base.clock import SystemClock
from worldfs.base.driver import Run
from worldfs.base.model import Finding, Json, Order, Outcome, Scene
from worldfs.robots.mujoco.arm import Arm
from worldfs.robots.mujoco.carrier import Carrier
from worldfs.robots.mujoco.carrier_driver import CarrierDriver
from worldfs.robots.mujoco.quadruped.quadruped import Quadruped
from worldfs.robots.mujoco.quadruped.quadruped_driver import QuadrupedDriver
from worldfs.robots.mujoco.rig import BodyRig
from worldfs.robots.mujoco.shared_world import SharedWorld
from worldfs.robots.mujoco.simulation import SimulationState
from worldfs.robots.mujoco.tabletop_driver import TabletopDriver

Orders = Sequence[tuple[str, Json]]


class Workcell:
    """Arms, carriers and quadrupeds by the ids of their robots."""

    def __init__(
        self,
        scene: Scene,
        arms: Sequence[str],
        carriers: Sequence[str] = (),
        quadrupeds: Sequence[str] = (),
        *,
        seed: int = 0,
    ) -> None:
        self.world = SharedWorld(seed=seed)
        self.drivers: dict[str, TabletopDriver | CarrierDriver | QuadrupedDriver] = {}
        self.drivers |= {id: TabletopDriver(id, cameras=False, world=self.world) for id in arms}
        self.drivers |= {id: CarrierDriver(id, world=self.world) for id in carriers}
        self.drivers |= {id: QuadrupedDriver(id, cameras=False, world=self.world) for id in quadrupeds}
        for driver in self.drivers.values():
            driver.open(scene)
        self.simulation = self.body(next(iter(self.drivers))).simulation

    def body(self, id: str) -> Arm | Carrier | Quadruped:
        driver = self.drivers[id]
        if isinstance(driver, QuadrupedDriver):
            return driver.quadruped
        return driver.carrier if isinstance(driver, CarrierDriver) else driver.arm

    def rig(self, id: str) -> BodyRig:
        return self.body(id).rig

    def review(self, id: str, op: str, **params: object) -> list[Finding]:
        return list(self.drivers[id].review(Order("act", id, op, params)))

    def do(self, id: str, op: str, **params: object) -> Outcome:
        return self.together({id: [(op, params)]})[id][0]

    def together(self, plans: dict[str, Orders], stops: dict[str, Run] | None = None) -> dict[str, list[Outcome]]:
        """Each robot's orders, one after the other, from a thread of its own, in the order of `plans`."""
        done: dict[str, list[Outcome]] = {id: [] for id in plans}

        def drive(id: str) -> None:
            for number, (op, params) in enumerate(plans[id]):
                run = (stops or {}).get(id) or Run(SystemClock(), SystemClock().monotonic() + 300)
                done[id].append(self.drivers[id].execute(Order(f"act_{number}", id, op, params), run))

        threads = [threading.Thread(target=drive, args=(id,), daemon=True) for id in plans]
        for id, orders in plans.items():
            for _ in orders:
                self.simulation.expect(self.body(id).prefix)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(100)
        assert not any(thread.is_alive() for thread in threads)
        return done

    def state(self) -> SimulationState:
        return self.simulation.save()

    def digest(self) -> str:
        """Of every coordinate of the world."""
        return hashlib.sha256(self.simulation.data.qpos.tobytes()).hexdigest()
