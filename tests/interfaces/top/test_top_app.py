"""The screen of `paos top`, driven by the library's own pilot, over a source whose changes the test makes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from textual.widgets import OptionList, Static

from worldfs.base.errors import NotFound, NotPermitted
from worldfs.interfaces.cli.top.top_app import FileScreen, TopApp
from worldfs.runtime.stop_report import RobotStop

HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202ehidden\u200b\r苹果"


def status(**more: object) -> dict[str, object]:
    robots = [{"id": "arm_1", "state": "idle"}, {"id": "arm_2", "state": "running act_1"}]
    return {"kernel": {"pid": 7}, "nodes": robots, "recent": [], "alerts": [], "approvals": [], **more}


def job(id: str, state: str, **more: object) -> dict[str, object]:
    return {"id": id, "node": "arm_1", "op": "pick_up", "params": {"object_id": "apple"}, "state": state, **more}


class Source:
    """A world in memory (`top_source.TopSource`)."""

    def __init__(self, **more: object) -> None:
        self.now = status(**more)
        self.files: dict[str, bytes] = {}
        self.orders: list[tuple[str, str | None]] = []
        self.reads = 0
        self.fails: Exception | None = None
        self.pause = asyncio.Event()
        self.pause.set()
        self.woken: asyncio.Queue[Exception | None] = asyncio.Queue()

    async def status(self):
        self.reads += 1
        await self.pause.wait()
        if self.fails is not None:
            raise self.fails
        return self.now

    async def names(self, path):
        names = {one[len(path) + 1 :].partition("/")[0] for one in self.files if one.startswith(path + "/")}
        if not names:
            raise NotFound("no such file", path=path)
        return sorted(names)

    async def read(self, path):
        if path not in self.files:
            raise NotFound("no such file", path=path)
        return self.files[path]

    async def stop(self, robot):
        if robot == "arm_2":
            raise NotPermitted("not yours", path="/nodes/arm_2/stop")
        self.orders.append(("stop", robot))
        return [RobotStop("arm_1", robot is None, "" if robot is None else "it still moves")]

    async def resume(self, robot):
        self.orders.append(("resume", robot))

    async def changes(self):
        yield None
        while True:
            error = await self.woken.get()
            if error is not None:
                raise error
            yield None


def shown(app: TopApp, name: str) -> list[str]:
    return [str(option.prompt) for option in app.query_one(f"#{name}", OptionList).options]


def drive(source: Source, steps, size=(100, 40), language="en") -> None:
    async def life() -> None:
        app = TopApp(source, "the home", language)
        async with app.run_test(size=size) as pilot:

            async def until(holds: Callable[[], bool]) -> None:
                while not holds():
                    await pilot.pause(0.01)

            await until(lambda: bool(shown(app, "robots")) or not source.pause.is_set())
            await steps(app, pilot, until)

    asyncio.run(life())


def test_what_waits_runs_and_ended_with_its_reason() -> None:
    jobs = [
        job("a1", "succeeded", completed_at="2026-11-23T10:00:01Z", message="it is held"),
        job("a2", "failed", cause="rejected", completed_at="2026-11-23T10:00:05Z", message="out of reach\nmore"),
        job("a3", "running"),
        job("a4", "pending"),
    ]
    source = Source(recent=jobs, alerts=[{"code": "LOW", "field": "arm_1", "found": "battery"}])
    source.files["/agents/rio/report.json"] = b'{"status": "idle", "summary": "sorted it"}'
    source.files["/agents/rio/session.json"] = b'{"status": "running"}'
    source.files["/agents/rio/inbox/1.json"] = b"{}"
    source.files["/agents/leo/report.json"] = b"no JSON"

    async def steps(app, pilot, until) -> None:
        assert [line.split(": ", 1)[1] for line in shown(app, "queue")] == ["running", "pending"]
        newest, oldest = shown(app, "ended")
        assert newest.endswith("failed (rejected), out of reach") and "10:00:05" in newest
        assert oldest.endswith("succeeded, it is held")
        assert shown(app, "agents") == ["leo  –", "rio  in a session, messages: 1, sorted it"]
        assert shown(app, "alerts")[0].startswith("LOW")

    drive(source, steps)


def test_it_is_woken_and_reads_nothing_between() -> None:
    source = Source()

    async def steps(app, pilot, until) -> None:
        await until(lambda: source.reads == 1)
        for _ in range(20):
            await pilot.pause(0.01)
        assert source.reads == 1
        source.now = status(nodes=[{"id": "arm_9", "state": "idle"}])
        await source.woken.put(None)
        await until(lambda: shown(app, "robots") == ["arm_9  idle"])
        assert source.reads == 2

    drive(source, steps)


def told(app: TopApp) -> list[tuple[str, str]]:
    return [(note.severity, note.message) for note in app._notifications]


def test_stop_is_for_the_robot_at_the_cursor_and_needs_no_reading_to_end() -> None:
    source = Source()

    async def steps(app, pilot, until) -> None:
        source.pause.clear()
        await source.woken.put(None)
        await until(lambda: source.reads == 2)  # a reading that hangs
        await pilot.press("s")
        await until(lambda: source.orders == [("stop", "arm_1")])
        await until(
            lambda: (
                told(app)
                == [("error", "arm_1: stop sent, not confirmed: it still moves; use the robot's hardware stop")]
            )
        )
        await pilot.press("down", "s")  # refused: it is said
        await until(lambda: any("not yours" in note.message for note in app._notifications))
        await pilot.press("S")
        await until(lambda: ("information", "arm_1: stopped; its driver confirms that it stands") in told(app))
        await pilot.press("up", "r")
        await until(lambda: ("resume", "arm_1") in source.orders)

    drive(source, steps)


def test_the_cursor_stays_at_its_robot_when_others_come() -> None:
    source = Source()

    async def steps(app, pilot, until) -> None:
        await pilot.press("down")
        source.now = status(nodes=[{"id": id, "state": "idle"} for id in ("arm_0", "arm_1", "arm_2")])
        await source.woken.put(None)
        await until(lambda: len(shown(app, "robots")) == 3)
        await pilot.press("r")
        await until(lambda: source.orders == [("resume", "arm_2")])

    drive(source, steps)


def test_hostile_text_is_shown_and_not_sent() -> None:
    source = Source(recent=[job("a1", "running", params={"object_id": HOSTILE}, message=HOSTILE)])
    source.files["/agents/rio/report.json"] = b'{"summary": "\\u001b[2J\\u202e [bold]x[/bold] [@click=app.quit]y[/]"}'

    async def steps(app, pilot, until) -> None:
        (line,) = shown(app, "queue")
        assert r"\x1b]0;owned\x07\x1b[2J\u202ehidden\u200b\x0d苹果" in line
        assert all(sign.isprintable() for sign in line)
        assert r"[bold]x[/bold] [@click=app.quit]y[/]" in shown(app, "agents")[0]
        assert not app.query_one("#queue", OptionList).options[0].prompt.spans[1:]

    drive(source, steps)


def test_a_file_is_opened_followed_and_stops_can_be_given_from_it() -> None:
    source = Source()
    source.files["/nodes/arm_1/ACTION.md"] = b"# one\n\x1b[31mred\xff\n"

    async def steps(app, pilot, until) -> None:
        await pilot.press("enter")
        await until(lambda: isinstance(app.screen, FileScreen) and bool(app.screen.query("#text")))
        area = app.screen.query_one("#text")
        assert area.text == "# one\n\\x1b[31mred\\xff\n"
        source.files["/nodes/arm_1/ACTION.md"] = b"# two\n"
        await source.woken.put(None)
        await until(lambda: area.text == "# two\n")
        await pilot.press("s")
        await until(lambda: source.orders == [("stop", "arm_1")])
        assert area.text == "# two\n"  # nothing was typed into it
        await pilot.press("escape", "o", *"nothing.md", "enter")
        await until(lambda: any("no such file" in note.message for note in app._notifications))

    drive(source, steps)


def test_a_source_that_is_lost_is_said_and_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worldfs.interfaces.cli.top.top_app.AGAIN_S", 0.01)
    source = Source()

    async def steps(app, pilot, until) -> None:
        source.pause.clear()
        await source.woken.put(NotFound("the server has gone"))
        strip = app.query_one("#lost", Static)
        await until(lambda: strip.display)
        assert "the server has gone" in str(strip.content)
        source.pause.set()
        await until(lambda: not strip.display)

    drive(source, steps)


@pytest.mark.parametrize("answer", [None, NotFound("the server has gone")])
def test_what_is_read_when_the_screen_has_gone_is_shown_nowhere(answer: Exception | None) -> None:
    source = Source()

    async def steps(app, pilot, until) -> None:
        source.pause.clear()
        await source.woken.put(None)
        await until(lambda: source.reads == 2)  # it waits for the answer while the program ends
        close = app._close_all

        async def close_all() -> None:
            await close()
            source.fails = answer
            source.pause.set()
            for _ in range(20):
                await asyncio.sleep(0)

        app._close_all = close_all

    drive(source, steps)


def test_forty_columns_and_chinese() -> None:
    long = "an explanation that is much longer than the forty columns of this terminal"
    source = Source(recent=[job("a1", "failed", cause="error", message=long)])

    async def steps(app, pilot, until) -> None:
        assert app.query_one("#robots", OptionList).border_title == "机器人"
        await until(lambda: "停止" in app.export_screenshot())
        await until(lambda: "columns" in app.export_screenshot())  # the end of the sentence is not cut off
        assert app.query_one("#ended", OptionList).region.right <= 40

    drive(source, steps, size=(40, 30), language="zh")
