"""The screen of `paos top`: five lists that follow the change feed, keys that stop and resume, and a file to read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import ClassVar, Final, Literal

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Footer, Input, OptionList, Static, TextArea
from textual.widgets.option_list import Option

from worldfs.base.errors import WorldError
from worldfs.base.messages import coded, render
from worldfs.base.messages.message_rendering import error_message
from worldfs.base.shown_text import shown_text

from .top_rows import SECTIONS, TopRow, TopView, kernel_text, top_view
from .top_source import TopSource, agents

FILE_MOST: Final = 256 * 1024  # bytes of a file that are shown
GATHER_S: Final = 0.05  # changes that come together are shown together
AGAIN_S: Final = 2.0  # between two attempts at a source that is lost
KEYS: Final = (
    ("s", "stop", "top.key_stop"),
    ("S", "stop_all", "top.key_stop_all"),
    ("r", "resume", "top.key_resume"),
    ("o", "open", "top.key_open"),
    ("q", "quit", "top.key_quit"),
)
TITLES: Final = {
    "robots": "top.robots",
    "queue": "top.queue",
    "ended": "top.ended",
    "agents": "top.agents",
    "alerts": "top.alerts",
}
_COLOURS: Final = {"good": "$text-success", "bad": "$text-error", "warn": "$text-warning", "dim": "$text-muted"}


class FileScreen(ModalScreen[None]):
    """One file, read only; it follows the file as long as it is open."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "", show=False),
        Binding("s", "app.stop", "", show=False),  # whatever is on the screen
        Binding("S", "app.stop_all", "", show=False),
    ]

    def __init__(self, path: str, text: str) -> None:
        super().__init__()
        self.path, self._text = path, text

    def compose(self) -> ComposeResult:
        with Vertical(id="file"):
            yield Static(Content(shown_text(self.path)), id="path")
            yield TextArea(self._text, read_only=True, show_line_numbers=False, id="text")

    def show(self, text: str) -> None:
        area = self.query_one(TextArea)
        if area.text != text:
            at = area.scroll_offset
            area.load_text(text)
            area.scroll_to(at.x, at.y, animate=False)


class PathScreen(ModalScreen[str]):
    """The name of a file to open."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "", show=False)]

    def __init__(self, asked: str) -> None:
        super().__init__()
        self._asked = asked

    def compose(self) -> ComposeResult:
        yield Input(placeholder=self._asked, id="ask")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())


class TopApp(App[None]):
    """Reads only when it is woken. A stop goes out at once and waits for no reading."""

    CSS = """
    Screen { layout: vertical; }
    #state { height: auto; padding: 0 1; background: $panel; }
    #lost { height: auto; padding: 0 1; display: none; background: $error; color: $text; text-style: bold; }
    #lists { height: 1fr; }
    OptionList { height: auto; max-height: 40%; border: round $panel; border-title-color: $text-accent; padding: 0; }
    OptionList:focus { border: round $accent; }
    OptionList.empty { display: none; }
    FileScreen { align: center middle; }
    #file { width: 100%; height: 100%; }
    #path { background: $panel; padding: 0 1; text-style: bold; }
    PathScreen { align: center middle; }
    #ask { width: 90%; }
    """
    ENABLE_COMMAND_PALETTE = False
    TITLE = "paos top"

    def __init__(self, source: TopSource, place: str, language: str) -> None:
        """`place`: what is shown, for the first line."""
        super().__init__()
        self._source, self._place, self._language = source, place, language
        self._view = TopView()
        self.lost = ""  # why nothing can be read; "" while it can

    # -- the screen

    def compose(self) -> ComposeResult:
        yield Static(Content(shown_text(self._place)), id="state")
        yield Static("", id="lost", markup=False)
        with VerticalScroll(id="lists", can_focus=False):
            for name in SECTIONS:
                yield OptionList(id=name, markup=False, classes="empty")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        for key, action, code in KEYS:
            self.bind(key, action, description=self._said(coded(code)))
        for name in SECTIONS:
            self.query_one(f"#{name}", OptionList).border_title = self._said(coded(TITLES[name]))
        self.query_one("#robots", OptionList).focus()
        self.run_worker(self._follow(), exclusive=True, group="follow")

    async def _follow(self) -> None:
        """Show the world after each change, and go on when a source that was lost answers again."""
        while True:
            try:
                async for _ in self._source.changes():
                    await asyncio.sleep(GATHER_S)
                    await self._refresh()
            except WorldError as error:
                self._lose(error)
                await asyncio.sleep(AGAIN_S)

    async def _refresh(self) -> None:
        status = await self._source.status()
        view = top_view(status, await agents(self._source))
        if not self.is_running:
            return  # the screen went while the source was read
        self._lose(None)
        said = f"{self._place}  ·  {self._said(kernel_text(status))}"
        self.query_one("#state", Static).update(Content(shown_text(said)))
        for name, rows in zip(SECTIONS, view, strict=True):
            self._fill(name, rows)
        self._view = view
        file = self.screen
        if isinstance(file, FileScreen):
            with suppress(WorldError):  # it has gone: what was read stays
                text = await self._text(file.path)
                if self.is_running and file.is_current:
                    file.show(text)

    def _fill(self, name: str, rows: Sequence[TopRow]) -> None:
        """The rows of one section; the one that the person is at stays the one."""
        if rows == getattr(self._view, name):
            return
        section = self.query_one(f"#{name}", OptionList)
        at = self._selected(name)
        section.clear_options()
        section.add_options([Option(self._content(row)) for row in rows])
        section.set_class(not rows, "empty")
        if rows:
            ids = [row.id for row in rows]
            section.highlighted = ids.index(at.id) if at is not None and at.id in ids else 0

    def _content(self, row: TopRow) -> Content:
        text = shown_text(self._said(row.text))
        return Content.styled(text, _COLOURS[row.mood]) if row.mood in _COLOURS else Content(text)

    def _selected(self, name: str) -> TopRow | None:
        at, rows = self.query_one(f"#{name}", OptionList).highlighted, getattr(self._view, name)
        return rows[at] if at is not None and at < len(rows) else None

    def _lose(self, error: WorldError | None) -> None:
        if not self.is_running:
            return  # the screen has gone
        self.lost = "" if error is None else self._said(error_message(error))
        strip = self.query_one("#lost", Static)
        strip.update(Content(shown_text(self._said(coded("top.lost", why=self.lost)))))
        strip.display = error is not None

    # -- what the keys do

    async def action_stop(self) -> None:
        if (row := self._selected("robots")) is not None:
            self._order(lambda: self._stop(row.id))

    async def action_stop_all(self) -> None:
        self._order(lambda: self._stop(None))

    async def action_resume(self) -> None:
        if (row := self._selected("robots")) is not None:
            self._order(lambda: self._resume(row.id))

    def action_open(self) -> None:
        async def go(path: str | None) -> None:
            if path:
                await self._open(path)

        self.push_screen(PathScreen(self._said(coded("top.ask_path"))), go)

    async def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        row = self._selected(str(event.option_list.id))
        if row is not None and row.opens:
            await self._open(row.opens)

    def _order(self, work: Callable[[], Awaitable[Sequence[tuple[str, bool]]]]) -> None:
        """In a worker of its own: nothing that is being read delays it. `work`: what to say, and if it went well."""

        async def run() -> None:
            try:
                said = await work()
            except WorldError as error:
                said = [(error_message(error), False)]
            for text, well in said:
                severity: Literal["information", "error"] = "information" if well else "error"
                self.notify(shown_text(self._said(text)), severity=severity, markup=False)

        self.run_worker(run(), group="orders")

    async def _stop(self, robot: str | None) -> Sequence[tuple[str, bool]]:
        found = await self._source.stop(robot)
        return [(one.text, one.confirmed) for one in found] or [(coded("command.stopped_none"), True)]

    async def _resume(self, robot: str) -> Sequence[tuple[str, bool]]:
        await self._source.resume(robot)
        return [(coded("command.resumed", node=robot), True)]

    async def _open(self, path: str) -> None:
        try:
            text = await self._text(path)
        except WorldError as error:
            said = shown_text(self._said(error_message(error)))
            self.notify(said, severity="error", markup=False)
            return
        self.push_screen(FileScreen(path, text))

    async def _text(self, path: str) -> str:
        data = await self._source.read(path)
        text = data[:FILE_MOST].decode("utf-8", "backslashreplace").replace("\r\n", "\n").expandtabs(4)
        text = shown_text(text, keep="\n")
        return text if len(data) <= FILE_MOST else f"{text}\n{self._said(coded('top.cut', n=FILE_MOST))}"

    def _said(self, text: str) -> str:
        return render(text, self._language)
