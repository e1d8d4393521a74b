"""The application: nothing of the simulator can be imported before it runs."""

from __future__ import annotations


class SimulationApp:
    running = False

    def close(self):
        SimulationApp.running = False


class AppLauncher:
    def __init__(self, launcher_args=None, **kwargs):
        given = {**(launcher_args or {}), **kwargs}
        assert given["headless"] is True and str(given["device"]).startswith("cuda"), given
        SimulationApp.running, self.app = True, SimulationApp()
