"""Files that the kernel owns come back by themselves when they are deleted while it runs: the change feed wakes it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from worldfs.base.driver import Driver, PluginContext
from worldfs.formats import config
from worldfs.runtime.kernel import Kernel
from worldfs.storage.store_interface import StoreChange, StoreChangeKind
from worldfs.testing.null_driver import NullDriver
from worldfs.testing.waiting import PATIENCE_S, until
from worldfs.testing.workspace_fixture import APPLE, WorkspaceFixture, order, sheet
from worldfs.tree.verb_values import Content
from worldfs.world import bringup, kernel_assembly
from worldfs.world.world import World

CONFIG = config.read(config.template("arm_1"))
OWNED = ["ENVIRONMENT.md", "EMBODIED.md"]


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[WorkspaceFixture, World]]:
    """A world whose kernel sleeps until something changes."""
    site = WorkspaceFixture(tmp_path / "w", ("arm_1",))
    (site.root / "EMBODIED.md").unlink()

    def make(seat: PluginContext) -> Driver:
        return NullDriver()

    with World.open(site.root, config=CONFIG, serve=True, drivers={"simulation": make}) as world:
        stop = threading.Event()
        thread = threading.Thread(target=world.run, kwargs={"stop": stop})
        thread.start()
        try:
            yield site, world
        finally:
            stop.set()
            world.wake()
            thread.join()


@pytest.mark.parametrize("already_read", [False, True])
@pytest.mark.parametrize("data", [b"", b"# mine\n\nMax Reach: 0.1 m\n"])
def test_a_profile_that_a_person_puts_in_its_place_is_not_replaced(
    running: tuple[WorkspaceFixture, World], monkeypatch: pytest.MonkeyPatch, already_read: bool, data: bytes
) -> None:
    """`cp` makes the file, empty, and then fills it, after the kernel found it missing, or read it so."""
    (site, world), over, alerts = running, threading.Event(), list[str]()
    path, embody_all, profile_for = site.root / "EMBODIED.md", kernel_assembly._embody_all, kernel_assembly.profile_for

    def profile(*args: Any) -> bytes | None:
        if already_read:
            path.write_bytes(data)
        return profile_for(*args)

    def embody(*args: Any, **more: Any) -> None:
        *_, specs = args
        if specs and not already_read:
            path.write_bytes(data)
        embody_all(*args, **more)
        if specs:
            over.set()

    world.listen_alerts(lambda alert: alerts.append(alert.code))
    monkeypatch.setattr(kernel_assembly, "profile_for", profile)
    monkeypatch.setattr(kernel_assembly, "_embody_all", embody)
    path.unlink()
    assert over.wait(PATIENCE_S)
    assert path.read_bytes() == data
    assert "PROFILE_EDITED" in alerts or not already_read


@pytest.mark.parametrize("name", OWNED)
def test_a_deleted_file_of_the_kernel_comes_back_without_an_action(
    running: tuple[WorkspaceFixture, World], name: str
) -> None:
    site, _ = running
    whole = site.read(name)
    for _ in range(3):
        (site.root / name).unlink()
        until((site.root / name).exists)
        if name == "EMBODIED.md":
            assert site.read(name) == whole
        else:
            until(lambda: b"apple_01" in site.read(name))
            assert str(APPLE["position"][0]).encode() in site.read(name)


def test_a_document_that_is_deleted_before_its_writer_has_returned_comes_back_again(
    running: tuple[WorkspaceFixture, World], monkeypatch: pytest.MonkeyPatch
) -> None:
    (site, _), path, log = running, running[0].root / "ENVIRONMENT.md", list[str]()
    called, hear, ask = bringup.contained, Kernel.handle_changes, bringup.BringUp._ask_to_write_again
    deletions = [path.unlink]

    def observed(*args: Any) -> Any:
        seen = called(*args)
        if deletions:
            log.clear()
            deletions.pop()()
            until(lambda: "deleted" in log and "asked" in log[log.index("deleted") :])
        return seen

    def heard(self: Kernel, changes: Sequence[StoreChange]) -> None:
        written = any(one.kind is StoreChangeKind.PUT and one.key == path.name for one in changes)
        until(lambda: not (written and deletions))  # it sees no document until that is deleted again
        log.extend("deleted" for one in changes if one.kind is StoreChangeKind.DELETE and one.key == path.name)
        hear(self, changes)

    def asked(self: bringup.BringUp) -> None:
        ask(self)
        log.append("asked")

    monkeypatch.setattr(bringup, "contained", observed)
    monkeypatch.setattr(Kernel, "handle_changes", heard)
    monkeypatch.setattr(bringup.BringUp, "_ask_to_write_again", asked)
    path.unlink()
    until(lambda: not deletions and path.exists())
    assert b"apple_01" in site.read(path.name)


def test_the_alerts_come_back(running: tuple[WorkspaceFixture, World]) -> None:
    site, world = running
    site.put("ACTION.md", sheet([{"action_id": "../x", "action_type": "move_to"}]))
    alerts = site.root / ".paos" / "alerts.json"
    until(lambda: alerts.exists() and b"../x" in alerts.read_bytes())
    alerts.unlink()
    until(alerts.exists)
    assert b"../x" in alerts.read_bytes()
    assert any("../x" in str(item["found"]) for item in world.status()["alerts"])


def test_an_order_after_both_were_deleted_is_judged_by_the_profile_that_came_back(
    running: tuple[WorkspaceFixture, World],
) -> None:
    site, world = running
    for name in OWNED:
        (site.root / name).unlink()
        until((site.root / name).exists)
    world.submit(order("a"))
    assert world.wait_job("a", timeout=PATIENCE_S).outcome.ok  # type: ignore[union-attr]


def test_a_file_that_goes_while_it_is_written_is_written_again(tmp_path: Path) -> None:
    """The deletion comes between a write and the look at what was written."""
    site = WorkspaceFixture(tmp_path / "w", ("arm_1",))
    with site.open() as world:
        assert world.kernel is not None
        hooks: Any = world.kernel.hooks
        real, path = hooks.environment.fetch, site.root / "ENVIRONMENT.md"

        def gone() -> Content:
            path.unlink(missing_ok=True)
            return real()  # type: ignore[no-any-return]

        hooks.environment.fetch = gone
        hooks.observe("arm_1")
        hooks.environment.fetch = real
        assert not path.exists()
        world.tick()
        assert path.exists()


def test_a_limit_that_cannot_be_read_is_named_at_the_start_and_until_it_can(
    running: tuple[WorkspaceFixture, World],
) -> None:
    site, world = running
    whole = site.read("EMBODIED.md")

    def named() -> bool:
        return any(item["code"] == "LIMIT_UNREAD" for item in world.status()["alerts"])

    assert not named()
    site.put("EMBODIED.md", whole + b"\n## Limits\n- **Max Paylaod**: 0.01 kg\n")
    until(named)
    site.put("EMBODIED.md", whole)
    until(lambda: not named())
