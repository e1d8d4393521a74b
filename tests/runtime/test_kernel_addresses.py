"""A kernel is found by the path that it was started for, whatever became of the directory there."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from worldfs.base.clock import SystemClock
from worldfs.runtime.body_worker import KernelNode
from worldfs.runtime.kernel import Kernel
from worldfs.runtime.kernel_addresses import home_kernels, kernel_addresses, name_in, own_address
from worldfs.runtime.stop_call import SOCKETS, StopCall
from worldfs.storage.disk_store import DiskStore
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.waiting import PATIENCE_S
from worldfs.tree.workspace_stores import WorkspaceStores

USERS = {os.geteuid()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A link to a directory, as a deployment that switches between versions has it."""
    (tmp_path / "one").mkdir()
    (tmp_path / "current").symlink_to("one")
    return tmp_path / "current"


@pytest.fixture
def heard(path: Path, bench) -> Iterator[Kernel]:
    kernel = Kernel(
        WorkspaceStores(DiskStore(path), {}), SystemClock(), bench.hooks,
        {"arm": KernelNode("arm", NullDriver())}, socket_root=path, home=str(path.parent / "home"),
    )  # fmt: skip
    yield kernel
    kernel.abandon()


def _exchanged(path: Path) -> Path:
    real = path.resolve()
    real.rename(real.with_name("old"))
    real.mkdir()
    return path


def _by_its_real_path(path: Path) -> Path:
    return _exchanged(path).resolve()


def _switched(path: Path) -> Path:
    path.with_name("two").mkdir()
    path.unlink()
    path.symlink_to("two")
    return path


def _removed(path: Path) -> Path:
    shutil.rmtree(path.resolve())
    path.unlink()
    return path


def _without_sockets(path: Path) -> Path:
    shutil.rmtree(path / SOCKETS)
    return path


def _relative(path: Path) -> Path:
    _switched(path)
    return Path(os.path.relpath(path))


@pytest.mark.slice(2)
@pytest.mark.parametrize(
    "change", [_exchanged, _by_its_real_path, _switched, _removed, _without_sockets, _relative, lambda path: path]
)
def test_a_stop_reaches_the_kernel_of_a_path_once(heard: Kernel, path: Path, change: Callable[[Path], Path]) -> None:
    with StopCall([change(path)], SystemClock(), ["arm"], "operator") as call:
        assert call.wait_told(PATIENCE_S) and call.wait(PATIENCE_S)
        assert len(call.sent) == 1
        (report,) = call.reports()
    assert [robot.node for robot in report.robots] == ["arm"]
    assert heard.stopping.is_stopped("arm")
    assert [answer.pid for answer in call.answers.values()] == [os.getpid()]


def test_a_stop_reaches_every_kernel_of_a_home_whichever_workspace_is_named_now(heard: Kernel, path: Path) -> None:
    home, elsewhere = path.parent / "home", path.parent / "elsewhere"
    with StopCall([elsewhere], SystemClock(), None, "operator", home=str(path)) as call:
        assert not call.sent, "a workspace is no home"
    with StopCall([path, elsewhere], SystemClock(), None, "operator", home=str(home)) as call:
        assert len(call.sent) == 1, "once, though it is found by both"
    with StopCall([elsewhere], SystemClock(), ["arm"], "operator", home=str(home)) as call:
        assert call.wait_told(PATIENCE_S) and call.wait(PATIENCE_S)
        (report,) = call.reports()
    assert [robot.node for robot in report.robots] == ["arm"]
    assert not kernel_addresses(home, USERS), "a home is no workspace"
    heard.abandon()
    assert not home_kernels(home, USERS)


def test_a_kernel_of_another_path_is_not_found(heard: Kernel, path: Path, tmp_path: Path) -> None:
    for other in (tmp_path, tmp_path / "one" / "sub", tmp_path / "current2"):
        assert not kernel_addresses(other, USERS)
    assert len(kernel_addresses(path, USERS)) == len(kernel_addresses(tmp_path / "one", USERS)) == 1
    heard.abandon()
    assert not kernel_addresses(path, USERS)


@pytest.mark.parametrize("process", ["this", "first", "none", "another"])
def test_a_name_that_anybody_took_is_no_kernel(tmp_path: Path, process: str) -> None:
    pid = {"this": os.getpid(), "first": 1, "none": 1 << 22, "another": os.getppid()}[process]
    address = own_address(tmp_path, "f00").rpartition("/")[0] + f"/{pid}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
        one.bind(address)
        assert [*kernel_addresses(tmp_path, USERS)] == (["f00"] if process == "this" else [])
        assert not kernel_addresses(tmp_path, {os.geteuid() + 1})
        with StopCall([tmp_path], SystemClock(), None, "operator") as call:
            assert call.sent == ({"f00"} if process == "this" else set())


def test_odd_names_in_the_list_of_sockets_are_passed_over(tmp_path: Path) -> None:
    own = own_address(tmp_path, "f00", str(tmp_path / "home"))
    assert len(own) <= 108, "sun_path of man 7 unix"
    odd = [own.rpartition("/")[0], f"{own}/more", own[:-1] + "x", "\0worldfs-stop", "\0worldfs-stop/\xff/\n/a/1"]
    made = [socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in odd]
    try:
        for one, name in zip(made, odd, strict=True):
            one.bind(name)
        assert not kernel_addresses(tmp_path, USERS) and not home_kernels(tmp_path / "home", USERS)
    finally:
        for one in made:
            one.close()


def test_the_name_of_a_socket_file_is_read_from_both_kinds_of_address(tmp_path: Path) -> None:
    assert name_in(own_address(tmp_path, "f00", str(tmp_path))) == "f00"
    assert name_in(own_address(tmp_path, "f00")) == name_in(own_address(tmp_path, "f00").encode()) == "f00"
    assert name_in("/proc/self/fd/7/f00") == "f00"
    assert name_in(None) == name_in("") == ""
