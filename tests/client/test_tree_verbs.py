"""Names made and unmade, and files cut, over a real server and in a real node's export."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from worldfs.base.errors import BadInput, NotFound, NotPermitted, WorldError
from worldfs.interfaces.cli.main import main
from worldfs.testing.bare_client import BareClient
from worldfs.testing.waiting import PATIENCE_S

from .served import Served, served

WORK = "/nodes/node-1/fs/work"


@pytest.fixture
def hold(tmp_path: Path) -> Callable[..., None]:
    def begin(life: Callable[[Served], Awaitable[None]], **more: Any) -> None:
        async def run() -> None:
            async with asyncio.timeout(PATIENCE_S), served(tmp_path, **more) as there:
                await life(there)

        asyncio.run(run())

    return begin


def test_a_shorter_write_leaves_no_tail_and_a_write_at_an_offset_keeps_the_rest(hold: Callable[..., None]) -> None:
    async def life(there: Served) -> None:
        (there.work / "a.txt").write_text("a long content\n")
        async with there.connect() as world:
            await world.write(f"{WORK}/a.txt", "short\n")
            assert (there.work / "a.txt").read_text() == "short\n"
            await world.write(f"{WORK}/a.txt", "OR", offset=2)
            assert (there.work / "a.txt").read_text() == "shORt\n"
            await world.write(f"{WORK}/a.txt", "S", replace=False)
            assert (there.work / "a.txt").read_text() == "ShORt\n"
            await world.truncate(f"{WORK}/a.txt", 2)
            assert (there.work / "a.txt").read_text() == "Sh"
            await world.truncate(f"{WORK}/a.txt", 4)
            assert (there.work / "a.txt").read_bytes() == b"Sh\0\0"
            await world.write(f"{WORK}/a.txt", b"")
            assert (there.work / "a.txt").read_bytes() == b""

    hold(life)


def test_files_and_directories_are_made_renamed_and_removed(hold: Callable[..., None]) -> None:
    async def life(there: Served) -> None:
        async with there.connect() as world:
            await world.mkdir(f"{WORK}/dir")
            await world.write(f"{WORK}/dir/one", "1", create=True)
            await world.write(f"{WORK}/two", "2", create=True)
            await world.rename(f"{WORK}/two", f"{WORK}/dir/one")
            assert (there.work / "dir/one").read_text() == "2" and not (there.work / "two").exists()
            place = await world.stat(f"{WORK}/dir/one")
            assert place.mtime_ms == (there.work / "dir/one").stat().st_mtime_ns // 1_000_000
            with pytest.raises(WorldError, match="not empty"):
                await world.remove(f"{WORK}/dir")
            await world.remove(f"{WORK}/dir/one")
            await world.remove(f"{WORK}/dir")
            assert list(there.work.iterdir()) == []
            with pytest.raises(NotFound):
                await world.remove(f"{WORK}/gone")

    hold(life)


def test_what_is_of_this_home_or_computed_or_read_only_keeps_its_name(hold: Callable[..., None]) -> None:
    async def life(there: Served) -> None:
        (there.work / "a.txt").write_text("a")
        async with there.connect() as world:
            for path in ("/meta/protocol.json", "/README.md", "/agents/self/chat/control/input", "/nodes/node-1/fs"):
                with pytest.raises((NotPermitted, BadInput)):
                    await world.remove(path)
                with pytest.raises((NotPermitted, BadInput)):
                    await world.rename(path, f"{WORK}/x")
            with pytest.raises(WorldError):
                await world.remove(WORK)  # the export is the node's own
            for path in ("/meta/protocol.json", f"{WORK}/a.txt"):
                with pytest.raises((NotPermitted, BadInput)):
                    await world.truncate("/meta/protocol.json")
                with pytest.raises(WorldError):
                    await world.rename(f"{WORK}/a.txt", "/meta/x")
                with pytest.raises(BadInput):
                    await world.remove(f"{path}/..")
            assert (there.work / "a.txt").read_text() == "a"

    hold(life)


def test_a_read_only_export_refuses_every_change(hold: Callable[..., None]) -> None:
    async def life(there: Served) -> None:
        (there.work / "a.txt").write_text("a")
        async with there.connect() as world:
            for change in (
                lambda: world.remove(f"{WORK}/a.txt"),
                lambda: world.rename(f"{WORK}/a.txt", f"{WORK}/b.txt"),
                lambda: world.truncate(f"{WORK}/a.txt"),
                lambda: world.mkdir(f"{WORK}/dir"),
                lambda: world.write(f"{WORK}/a.txt", "b"),
            ):
                with pytest.raises(NotPermitted):
                    await change()
        assert (there.work / "a.txt").read_text() == "a"

    hold(life, ro=True)


def test_a_client_that_named_no_extension_sees_the_reference_s_protocol(hold: Callable[..., None]) -> None:
    async def life(there: Served) -> None:
        (there.work / "a.txt").write_text("old")
        async with plugged(there) as plug:
            await plug.ask("version", msize=1_048_576, version="acheron-1")
            await plug.ask("attach", fid=1)
            await plug.ask("walk", fid=1, newfid=2, path=WORK.strip("/").split("/"))
            await plug.ask("walk", fid=2, newfid=3, path=["a.txt"])
            assert "mtime_ms" not in (await plug.ask("stat", fid=3))["payload"]
            for op, fields in (
                ("remove", {"fid": 2, "path": ["a.txt"]}),
                ("rename", {"fid": 2, "path": ["a.txt", "b"]}),
                ("setattr", {"fid": 3, "payload": {"size": 0}}),
            ):
                refused = await plug.ask(op, **fields)
                assert refused["error"]["code"] == "unsupported" and op in refused["error"]["message"]
            await plug.ask("open", fid=3, mode="w", truncate=True)
            await plug.ask("write", fid=3, offset=0, data="n")
            assert (there.work / "a.txt").read_text() == "nld"

    hold(life)


def test_an_open_that_truncates_empties_with_the_first_write_or_with_the_clunk(hold: Callable[..., None]) -> None:
    async def life(there: Served) -> None:
        (there.work / "a.txt").write_text("old content")
        async with plugged(there) as plug:
            words = ["truncate", "setattr", "remove", "rename"]
            await plug.ask("version", version="acheron-1", extensions=words)
            await plug.ask("attach", fid=1)
            await plug.ask("walk", fid=1, newfid=3, path=f"{WORK}/a.txt".strip("/").split("/"))
            await plug.ask("open", fid=3, mode="w", truncate=True)
            assert (there.work / "a.txt").read_text() == "old content"  # no reader sees an empty file in between
            await plug.ask("write", fid=3, offset=0, data="ne")
            await plug.ask("write", fid=3, offset=2, data="w")
            assert (there.work / "a.txt").read_text() == "new"
            await plug.ask("open", fid=3, mode="w", truncate=True)
            assert (await plug.ask("clunk", fid=3))["ok"]
            assert (there.work / "a.txt").read_text() == ""
            await plug.ask("walk", fid=1, newfid=4, path=["agents", "self", "chat", "control", "input"])
            await plug.ask("open", fid=4, mode="w", truncate=True)
            assert (await plug.ask("clunk", fid=4))["ok"]  # an order that was never given is none
            for payload, word in (({"size": -1}, "invalid"), ({"size": "1"}, "invalid"), ({"mode": 1}, "unsupported")):
                await plug.ask("walk", fid=1, newfid=3, path=f"{WORK}/a.txt".strip("/").split("/"))
                assert (await plug.ask("setattr", fid=3, payload=payload))["error"]["code"] == word
            for names in ([], ["a.txt"], ["a.txt", ".."], ["..", "x"], ["a.txt", "b/c"]):
                refused = await plug.ask("rename", fid=3, path=names)
                assert refused["error"]["code"] in ("invalid", "enotdir", "eperm"), (names, refused)

    hold(life)


def test_a_time_is_kept_where_it_can_be_and_a_mode_is_taken_and_not_kept(
    hold: Callable[..., None], tmp_path: Path
) -> None:
    """`cp -p`, `touch` and `chmod` on a mount: what may be written takes them, and the answer says what is kept."""
    moment, art = 1_500_000_000_123, "/projects/main/artifacts"
    assert main(["--home", str(tmp_path / "home"), "onboard"]) == 0

    async def life(there: Served) -> None:
        (there.work / "a.txt").write_text("a")
        async with there.connect() as world:
            await world.write(f"{art}/a.txt", b"a", create=True)
        async with plugged(there) as plug:
            await plug.ask(
                "version", version="acheron-1", extensions=["create", "stage", "times", "setattr", "attributes"]
            )
            await plug.ask("attach", fid=1)

            async def enter(fid: int, path: str) -> None:
                assert (await plug.ask("walk", fid=1, newfid=fid, path=path.strip("/").split("/")))["ok"]

            async def times(fid: int, **payload: Any) -> Any:
                said = await plug.ask("setattr", fid=fid, payload=payload)
                return said["payload"]["kept"] if said["ok"] else said["error"]["code"]

            await enter(2, f"{art}/a.txt")
            assert await times(2, mtime_ms=moment, mode=0o755) == ["mtime_ms"]
            assert (await plug.ask("stat", fid=2))["payload"]["mtime_ms"] == moment
            assert await times(2, mode=0o755) == []
            assert await times(2, size=0, mtime_ms=moment) == ["size", "mtime_ms"]
            said = (await plug.ask("stat", fid=2))["payload"]
            assert (said["size"], said["mtime_ms"]) == (0, moment)
            # cp -p: the time is set while the content is staged, and is that of the file once it is there
            await plug.ask("open", fid=2, mode="w", stage=True)
            await plug.ask("write", fid=2, offset=0, data="copied")
            assert await times(2, mtime_ms=moment - 1000) == ["mtime_ms"]
            assert (await plug.ask("clunk", fid=2))["ok"]
            await enter(2, f"{art}/a.txt")
            said = (await plug.ask("stat", fid=2))["payload"]
            assert (said["size"], said["mtime_ms"]) == (6, moment - 1000)
            for path in (f"{WORK}/a.txt",):
                await enter(3, path)
                assert await times(3, mtime_ms=moment, mode=0o644) == [], path
            for path in ("/meta/protocol.json", art, "/projects"):
                await enter(3, path)
                assert await times(3, mtime_ms=moment) in ("eperm", "eisdir"), path
            await enter(3, f"{art}/a.txt")
            for odd in (-1, "1", 1.5, True, 2**63):
                assert await times(3, mtime_ms=odd) == "invalid", odd
            assert await times(3, owner=0) == "unsupported" and await times(3) == "invalid"

    hold(life)


def test_times_are_unsupported_for_a_client_that_did_not_name_them(hold: Callable[..., None], tmp_path: Path) -> None:
    assert main(["--home", str(tmp_path / "home"), "onboard"]) == 0

    async def life(there: Served) -> None:
        async with there.connect() as world:
            await world.write("/projects/main/artifacts/a.txt", b"a", create=True)
        async with plugged(there) as plug:
            await plug.ask("version", version="acheron-1", extensions=["setattr"])
            await plug.ask("attach", fid=1)
            await plug.ask("walk", fid=1, newfid=2, path=["projects", "main", "artifacts", "a.txt"])
            for payload in ({"mtime_ms": 1}, {"mode": 0o644}, {"size": 0, "mtime_ms": 1}):
                refused = await plug.ask("setattr", fid=2, payload=payload)
                assert refused["error"]["code"] == "unsupported"
            done = await plug.ask("setattr", fid=2, payload={"size": 0})
            assert done["ok"] and done["payload"] == {}

    hold(life)


def plugged(there: Served) -> Any:
    from contextlib import asynccontextmanager

    from websockets.asyncio.client import connect

    @asynccontextmanager
    async def plug() -> Any:
        headers = {"Authorization": f"Bearer {there.token}"}
        async with connect(there.url, additional_headers=headers, compression=None) as socket:
            yield BareClient(socket)

    return plug()


def test_fsspec_removes_renames_and_shortens(hold: Callable[..., None]) -> None:
    fsspec = pytest.importorskip("fsspec", reason="fsspec is an extra")

    async def life(there: Served) -> None:
        (there.work / "d").mkdir()
        for name in ("d/a", "d/b", "c"):
            (there.work / name).write_text("a long content")

        def use() -> None:
            fs = fsspec.filesystem("acheron", url=there.url, token=there.token, skip_instance_cache=True)
            with fs.open(f"{WORK}/c", "wb") as file:
                file.write(b"short")
            assert (there.work / "c").read_text() == "short"
            with fs.open(f"{WORK}/c", "wb"):
                pass
            assert (there.work / "c").read_text() == ""
            fs.mv(f"{WORK}/c", f"{WORK}/d")
            assert sorted(fs.ls(f"{WORK}/d", detail=False)) == [f"{WORK}/d/a", f"{WORK}/d/b", f"{WORK}/d/c"]
            assert fs.modified(f"{WORK}/d/a").timestamp() == pytest.approx((there.work / "d/a").stat().st_mtime, abs=1)
            fs.rm(f"{WORK}/d/a")
            assert not (there.work / "d/a").exists()
            with pytest.raises(OSError):
                fs.rm(f"{WORK}/d")
            fs.rm(f"{WORK}/d", recursive=True)
            assert list(there.work.iterdir()) == []
            with pytest.raises(PermissionError):
                fs.rm("/meta/protocol.json")
            with pytest.raises(FileNotFoundError):
                fs.rm(f"{WORK}/gone")

        await asyncio.to_thread(use)

    hold(life)


def test_an_extension_is_named_to_the_client_that_asks(hold: Callable[..., None]) -> None:
    async def life(there: Served) -> None:
        async with plugged(there) as plug:
            said = await plug.ask("version", version="acheron-1", extensions=["remove", "setattr", "fly"])
            assert json.loads(json.dumps(said["payload"]["extensions"])) == ["remove", "setattr"]

    hold(life)
