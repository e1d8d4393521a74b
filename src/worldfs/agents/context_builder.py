"""The context pack: what an agent kept, as much as a budget holds, with everything that was left out named.

Order of importance: the last session and faults, messages of high priority, active tasks, pinned notes; then other
messages, open tasks, notes, the newest first. Each kind has a share (context_budget.SHARES); the rest of it is for all.
The text never costs more than the budget, by text_cost; a budget too small for anything gets a sentence that says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.base.errors import BadInput
from worldfs.base.messages import coded, render
from worldfs.base.model.agent import AgentReport, Message, SessionRecord

from .context_budget import LETTER, OTHER_LETTER, OTHER_TASK, PIN, TASK, TROUBLE, ContextBudget, ContextItem
from .context_items import PackInput, finding_line, gather, message_label, task_size
from .quote import quote_line
from .text_cost import Unit, format_size, text_cost

if TYPE_CHECKING:
    from worldfs.base.model import Finding

BUDGET: Final = 8_000  # tokens: what a wake should cost at most
WARN: Final = 0.8  # of the budget
_FIXES: Final = {
    "memory.md": "agent.merge_notes",
    "tasks.json": "agent.close_tasks",
    "inbox/": "agent.answer_messages",
}
# A budget too small for anything says so in the longest of these that it holds, after `context.small_1`.
_LADDER: Final = ("context.small_2", "context.small_3", "context.small_4", "context.small_5", "context.small_6",
                  "context.small_7")  # fmt: skip
_WHAT: Final = {  # what was left out, one of it and more
    "note": ("context.one_note", "context.many_note"),
    "letter": ("context.one_letter", "context.many_letter"),
    "task": ("context.one_task", "context.many_task"),
    "fault": ("context.one_fault", "context.many_fault"),
    "detail": ("context.one_detail", "context.many_detail"),
    "part": ("context.one_part", "context.many_part"),
}
_LINES: Final = 10  # headings of memory.md that are named one by one


class Omission(NamedTuple):
    """What the pack does not show, or shows in part."""

    where: str  # "memory.md › Dead Ends", "inbox/", "inbox/ › msg-1" (cut)
    number: int
    size: int  # bytes of its text
    pinned: int = 0
    high: int = 0  # messages of high priority
    done: int = 0  # tasks completed or dropped
    what: str = "note"  # note, message, task, fault, detail, part


class ContextPack(NamedTuple):
    text: str
    used: int  # what the text costs, in `unit`; never more than `budget`
    budget: int
    omitted: tuple[Omission, ...] = ()
    warnings: tuple[Finding, ...] = ()  # for the author of the files: what should be shortened
    unit: Unit = "tokens"
    messages: frozenset[str] = frozenset()  # ids of those whose whole text is included


def build_context(
    memory: bytes,
    tasks: bytes,
    inbox: Sequence[Message] = (),
    *,
    session: SessionRecord | None = None,
    report: AgentReport | None = None,
    findings: Sequence[Finding] = (),
    budget: int = BUDGET,
    unit: Unit = "tokens",
    language: str = "en",
    agent: str = "",
) -> ContextPack:
    """`session` and `report` are those of the last session. Raises nothing for any content; `BadInput` for a unit."""
    if unit not in ("tokens", "bytes"):
        raise BadInput(coded("agent.no_unit", unit=unit), op="pack", expected=coded("agent.units"))
    named = quote_line(agent or (report.agent if report else "") or (session.agent if session else ""), 64) or "?"
    quote, pack_input = gather(memory, tasks, inbox, session, report, findings=findings, language=language)
    texts = _Texts(language, unit, budget)
    head = [texts.say("context.title", agent=named)]
    if pack_input.items:
        head.append(texts.say("context.quoted", mark=quote.mark))
    need = (
        texts.price("\n".join([*head, ""])) + ContextBudget(pack_input.items, pack_input.frames, unit, texts.cut).need()
    )
    file = max(_FIXES, key=lambda f: sum(item.size for item in pack_input.items if item.where.startswith(f)))
    warnings = () if (warning := _warning(need, budget, unit, file)) is None else (warning,)
    for finding in warnings:
        pack_input.items.append(ContextItem(TROUBLE, ("faults",), f"- {finding_line(finding, language)}", 0, file))
    selection = ContextBudget(pack_input.items, pack_input.frames, unit, texts.cut)
    everything = _omissions(pack_input, selection)
    fixed = texts.price("\n".join([*head, ""]))
    ways = [texts.price(text) for text in texts.omitted(everything)] or [0]
    reserve = ways[0] if ways[0] <= budget // 5 else ways[-1]
    if fixed + reserve <= budget:
        selection.fill(budget - fixed - reserve)
        text = _settle(head, pack_input, selection, texts)
        if text is not None:
            whole = _whole(pack_input, selection)
            messages = frozenset(message.id for message in inbox if message_label(message.id) in whole)
            return ContextPack(
                text, texts.price(text), budget, _omissions(pack_input, selection), warnings, unit, messages
            )
    text = _tiny(head[0], everything, texts)
    return ContextPack(text, texts.price(text), budget, everything, warnings, unit)


def _settle(head: Sequence[str], pack_input: PackInput, selection: ContextBudget, texts: _Texts) -> str | None:
    """The text, filled up with what the lines of omissions did not need after all; None if nothing fits."""
    for _ in range(3):
        text = _render(head, pack_input, selection, texts)
        left = texts.budget - texts.price(text)
        before = len(selection.taken)
        if left > 0:
            selection.rest(left)
        if len(selection.taken) == before:
            break
    while True:
        text = _render(head, pack_input, selection, texts)
        if texts.price(text) <= texts.budget:
            return text if selection.taken or not pack_input.items else None
        if not selection.drop():
            return None


def _render(head: Sequence[str], pack_input: PackInput, selection: ContextBudget, texts: _Texts) -> str:
    """Frames in their order, each around what was taken of it; then what was left out, named as well as it can be."""
    order = {place: number for number, place in enumerate(pack_input.frames)}
    lines = list(head)
    standing: list[str] = []
    for number in sorted(selection.taken, key=lambda n: ([order[place] for place in pack_input.items[n].places], n)):
        places = pack_input.items[number].places
        while standing and standing[-1] not in places:
            lines.append(pack_input.frames[standing.pop()][1])
        for place in places:
            if place not in standing:
                standing.append(place)
                lines.append(pack_input.frames[place][0])
        lines.append(selection.taken[number])
    lines.extend(pack_input.frames[place][1] for place in reversed(standing))
    if not pack_input.items and not pack_input.finished and not pack_input.unread:
        lines.append(texts.say("context.empty"))
    body = "\n".join(quote_line for quote_line in lines if quote_line) + "\n"
    endings = texts.omitted(_omissions(pack_input, selection, cut=False)) or [""]
    return next((body + text for text in endings if texts.price(body + text) <= texts.budget), body + endings[-1])


def _tiny(title: str, everything: Sequence[Omission], texts: _Texts) -> str:
    """A budget that holds no content: the longest of the sentences that say so."""
    unit = coded("context.tokens") if texts.unit == "tokens" else coded("context.bytes")
    small = texts.say("context.small", budget=texts.budget, unit=unit)
    ladder = [f"{title}\n{small}\n{text}" for text in texts.omitted(everything)[1:]]
    ladder += [texts.say("context.small_1", budget=texts.budget, unit=unit), *map(texts.say, _LADDER)]
    return next((text for text in ladder if texts.price(text) <= texts.budget), "")


def _whole(pack_input: PackInput, selection: ContextBudget) -> set[str]:
    """Where what is in the text uncut comes from."""
    return {
        item.where
        for number, item in enumerate(pack_input.items)
        if number in selection.taken.keys() - selection.cut.keys()
    }


def _omissions(pack_input: PackInput, selection: ContextBudget, *, cut: bool = True) -> tuple[Omission, ...]:
    found: dict[str, Omission] = {}
    for number, item in enumerate(pack_input.items):
        if number in selection.taken or not item.size:
            continue
        message, task = item.kind in (LETTER, OTHER_LETTER), item.kind in (TASK, OTHER_TASK)
        where = "inbox/" if message else item.where
        kinds = {"faults": "fault", "last": "detail"}
        what = "letter" if message else "task" if task else kinds.get(item.places[0], "note")
        so_far = found.get(where, Omission(where, 0, 0, what=what))
        found[where] = so_far._replace(
            number=so_far.number + 1,
            size=so_far.size + item.size,
            pinned=so_far.pinned + (item.kind == PIN),
            high=so_far.high + (item.kind == LETTER),
        )
    for task_ in pack_input.finished:
        so_far = found.get("tasks.json", Omission("tasks.json", 0, 0, what="task"))
        found["tasks.json"] = so_far._replace(
            number=so_far.number + 1, size=so_far.size + task_size(task_), done=so_far.done + 1
        )
    for where, length in pack_input.unread:
        found[where] = Omission(where, 1, length, what="part")
    if cut:
        for number, missing in selection.cut.items():
            where = pack_input.items[number].where
            found[f"{where} {number}"] = Omission(where, 1, missing, what="part")
    return tuple(found.values())


def _warning(need: int, budget: int, unit: Unit, file: str) -> Finding | None:
    if need < WARN * budget:
        return None
    from worldfs.base.model import Finding

    share = f"{100 * need // budget} %" if budget > 0 else coded("agent.pack_more")
    return Finding(
        "PACK_OVERFLOW" if need > budget else "PACK_NEARLY_FULL",
        file,
        coded("agent.pack_limit", n=int(WARN * budget), unit=unit, budget=budget),
        coded("agent.pack_need", n=need, unit=unit, share=share),
        coded(_FIXES[file]),
        warning=True,
    )


class _Texts:
    """The fixed sentences in one language and unit."""

    def __init__(self, language: str, unit: Unit, budget: int) -> None:
        self.language, self.unit, self.budget = language, unit, budget

    def price(self, text: str) -> int:
        return text_cost(text, self.unit)

    def cut(self, item: ContextItem, missing: int) -> str:
        return self.say("context.cut", size=self._size(missing), where=item.where)

    def omitted(self, omissions: Sequence[Omission]) -> list[str]:
        """The ways to name these, the fullest first; [] if there are none."""
        if not omissions:
            return []
        heads = [o for o in omissions if o.where.startswith("memory.md › ")]
        others = [o for o in omissions if not o.where.startswith("memory.md › ")]
        shown, rest = (heads, []) if len(heads) <= _LINES else (heads[: _LINES - 1], heads[_LINES - 1 :])
        if rest:
            where = f"memory.md › {self.say('context.more', count=len(rest))}"
            shown = [*shown, _sum(rest, where)]
        named = [self._line("context.line", omission) for omission in [*others, *shown]]
        files = [*others, *([_sum(heads, "memory.md")] if heads else [])]
        total = "、" if self.language.startswith("zh") else "; "
        return [
            "\n".join([self.say("context.omitted"), *named, ""]),
            self.say("context.total", list=total.join(self._line("context.of", omission) for omission in files)) + "\n",
        ]

    def _line(self, code: str, omission: Omission) -> str:
        one, many = _WHAT[omission.what]
        what = self.say(one if omission.number == 1 else many)
        for more, count in (
            ("context.high", omission.high),
            ("context.pins", omission.pinned),
            ("context.done", omission.done),
        ):
            what += self.say(more, count=count) if count else ""
        return self.say(code, where=omission.where, count=omission.number, what=what, size=self._size(omission.size))

    def _size(self, count: int) -> str:
        return format_size(count, self.language.startswith("zh"))

    def say(self, code: str, **values: object) -> str:
        return render(coded(code, **values), self.language)


def _sum(omissions: Sequence[Omission], where: str) -> Omission:
    counts = (sum(column) for column in zip(*((o.number, o.size, o.pinned) for o in omissions), strict=True))
    return Omission(where, *counts)
