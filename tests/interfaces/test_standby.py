"""`paos up --standby`: it says who serves, waits without polling, and serves when that one has gone."""

import threading

import pytest

from worldfs.base.stop_signal import StopSignal
from worldfs.interfaces.cli.main import main
from worldfs.interfaces.cli.standby import wait_for_leases
from worldfs.storage.lease import KERNEL_LEASE
from worldfs.storage.open_store import open_store
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.waiting import until


@pytest.fixture
def home(tmp_path, monkeypatch):
    bodies = {"simulation": lambda context: NullDriver()}
    monkeypatch.setattr("worldfs.interfaces.cli.driver_factories.factories", lambda name, **options: bodies)
    assert main(["--home", str(tmp_path), "onboard"]) == 0
    return tmp_path


def test_it_waits_for_the_one_that_serves_and_then_serves(home, capsys):
    store = open_store("disk", home / "workspace")
    lease, said = store.lease(KERNEL_LEASE, "kernel").acquire(), []

    def leave():
        until(lambda: said.append(capsys.readouterr().out) or "standing by" in "".join(said))
        lease.release()

    leaving = threading.Thread(target=leave)
    leaving.start()
    assert main(["--home", str(home), "up", "--standby", "--until-idle"]) == 0
    leaving.join()
    store.close()
    assert "kernel stopped" in "".join((*said, capsys.readouterr().out))


def test_it_is_asked_to_stop_while_it_waits(home):
    store, stop = open_store("disk", home / "workspace"), StopSignal()
    with store.lease(KERNEL_LEASE, "kernel"):
        waiting = threading.Thread(target=wait_for_leases, args=(home / "workspace", "", [KERNEL_LEASE], stop))
        waiting.start()
        stop.set()
        waiting.join()
    store.close()


def test_a_share_of_a_single_workspace_is_refused(home, capsys):
    assert main(["--home", str(home), "up", "--no-robots"]) == 2
    assert "single workspace" in capsys.readouterr().err
