"""The context pack: what an agent kept, as much as a budget holds, with everything that was left out named.

Order of importance: the last session and faults, letters of high priority, active tasks, pinned notes; then other
letters, open tasks, notes, the newest first. Each kind has a share (allot.SHARES) and passes on what it does not use.
The text never costs more than the budget, by measure.cost; a budget that holds nothing is told so in what it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from worldfs.ground.errors import BadInput
from worldfs.ground.model.agent import Message, Report, SessionRecord

from .allot import LETTER, OTHER_LETTER, OTHER_TASK, PIN, TASK, TROUBLE, Allotment, Item
from .material import Material, fault_line, gather, letter_place, task_size
from .measure import Unit, cost, size
from .pack_words import LADDER, PACK, chosen
from .quote import line

if TYPE_CHECKING:
    from worldfs.ground.model import Finding

BUDGET: Final = 8_000  # tokens: what a wake should cost at most
WARN: Final = 0.8  # of the budget
_FIXES: Final = {
    "memory.md": "merge or take out notes that are settled, and pin what must stay",
    "tasks.json": "complete or drop tasks that are no longer meant",
    "inbox/": "answer messages, and delete those that are done",
}
_LINES: Final = 10  # headings of memory.md that are named one by one


class Omission(NamedTuple):
    """What the pack does not show, or shows in part."""

    where: str  # "memory.md › Dead Ends", "inbox/", "inbox/ › msg-1" (cut)
    number: int
    size: int  # bytes of its text
    pinned: int = 0
    high: int = 0  # letters of high priority
    done: int = 0  # tasks completed or dropped
    what: str = "note"  # note, letter, task, fault, detail, part


class Pack(NamedTuple):
    text: str
    used: int  # what the text costs, in `unit`; never more than `budget`
    budget: int
    omitted: tuple[Omission, ...] = ()
    warnings: tuple[Finding, ...] = ()  # for who writes: what should be shortened
    unit: Unit = "tokens"
    letters: frozenset[str] = frozenset()  # ids of those that stand in the text whole


def pack(
    memory: bytes,
    tasks: bytes,
    inbox: Sequence[Message] = (),
    *,
    session: SessionRecord | None = None,
    report: Report | None = None,
    findings: Sequence[Finding] = (),
    budget: int = BUDGET,
    unit: Unit = "tokens",
    language: str = "en",
    agent: str = "",
) -> Pack:
    """`session` and `report` are those of the last session. Raises nothing for any content; `BadInput` for a unit."""
    if unit not in ("tokens", "bytes"):
        raise BadInput(f"no unit {unit!r}", op="pack", expected="tokens or bytes")
    named = line(agent or (report.agent if report else "") or (session.agent if session else ""), 64) or "?"
    quote, material = gather(memory, tasks, inbox, session, report, findings=findings, language=language)
    texts = _Texts(language, unit, budget)
    head = [chosen(PACK["title"], language).format(agent=named)]
    if material.items:
        head.append(chosen(PACK["quoted"], language).format(mark=quote.mark))
    need = texts.price("\n".join([*head, ""])) + Allotment(material.items, material.frames, unit, texts.cut).need()
    file = max(_FIXES, key=lambda f: sum(item.size for item in material.items if item.where.startswith(f)))
    warnings = () if (warning := _warning(need, budget, unit, file)) is None else (warning,)
    for finding in warnings:
        material.items.append(Item(TROUBLE, ("faults",), f"- {fault_line(finding, language)}", 0, file))
    allotment = Allotment(material.items, material.frames, unit, texts.cut)
    everything = _omissions(material, allotment)
    fixed = texts.price("\n".join([*head, ""]))
    ways = [texts.price(text) for text in texts.omitted(everything)] or [0]
    reserve = ways[0] if ways[0] <= budget // 5 else ways[-1]
    if fixed + reserve <= budget:
        allotment.fill(budget - fixed - reserve)
        text = _settle(head, material, allotment, texts)
        if text is not None:
            whole = _whole(material, allotment)
            letters = frozenset(letter.id for letter in inbox if letter_place(letter.id) in whole)
            return Pack(text, texts.price(text), budget, _omissions(material, allotment), warnings, unit, letters)
    text = _tiny(head[0], everything, texts)
    return Pack(text, texts.price(text), budget, everything, warnings, unit)


def fill(memory: bytes, *, budget: int = BUDGET, unit: Unit = "tokens") -> Finding | None:
    """The warning that memory.md alone fills 80 % of a budget or more, for the moment of writing; else None."""
    return _warning(cost(memory.decode("utf-8", "replace"), unit), budget, unit, "memory.md")


def _settle(head: Sequence[str], material: Material, allotment: Allotment, texts: _Texts) -> str | None:
    """The text, filled up with what the lines of omissions did not need after all; None if nothing can stand."""
    for _ in range(3):
        text = _render(head, material, allotment, texts)
        left = texts.budget - texts.price(text)
        before = len(allotment.taken)
        if left > 0:
            allotment.rest(left)
        if len(allotment.taken) == before:
            break
    while True:
        text = _render(head, material, allotment, texts)
        if texts.price(text) <= texts.budget:
            return text if allotment.taken or not material.items else None
        if not allotment.drop():
            return None


def _render(head: Sequence[str], material: Material, allotment: Allotment, texts: _Texts) -> str:
    """Frames in their order, each around what was taken of it; then what was left out, named as well as it can be."""
    order = {place: number for number, place in enumerate(material.frames)}
    lines = list(head)
    standing: list[str] = []
    for number in sorted(allotment.taken, key=lambda n: ([order[place] for place in material.items[n].places], n)):
        places = material.items[number].places
        while standing and standing[-1] not in places:
            lines.append(material.frames[standing.pop()][1])
        for place in places:
            if place not in standing:
                standing.append(place)
                lines.append(material.frames[place][0])
        lines.append(allotment.taken[number])
    lines.extend(material.frames[place][1] for place in reversed(standing))
    if not material.items and not material.finished and not material.unread:
        lines.append(chosen(PACK["empty"], texts.language))
    body = "\n".join(line for line in lines if line) + "\n"
    endings = texts.omitted(_omissions(material, allotment, cut=False)) or [""]
    return next((body + text for text in endings if texts.price(body + text) <= texts.budget), body + endings[-1])


def _tiny(title: str, everything: Sequence[Omission], texts: _Texts) -> str:
    """A budget that holds no content: the longest of the sentences that say so."""
    unit = chosen(PACK[texts.unit], texts.language)
    small = chosen(PACK["small"], texts.language).format(budget=texts.budget, unit=unit)
    ladder = [f"{title}\n{small}\n{text}" for text in texts.omitted(everything)[1:]]
    ladder += [chosen(pair, texts.language).format(budget=texts.budget, unit=unit) for pair in LADDER]
    return next((text for text in ladder if texts.price(text) <= texts.budget), "")


def _whole(material: Material, allotment: Allotment) -> set[str]:
    """Where what stands in the text uncut comes from."""
    return {
        item.where
        for number, item in enumerate(material.items)
        if number in allotment.taken.keys() - allotment.cut.keys()
    }


def _omissions(material: Material, allotment: Allotment, *, cut: bool = True) -> tuple[Omission, ...]:
    found: dict[str, Omission] = {}
    for number, item in enumerate(material.items):
        if number in allotment.taken or not item.size:
            continue
        letter, task = item.kind in (LETTER, OTHER_LETTER), item.kind in (TASK, OTHER_TASK)
        where = "inbox/" if letter else item.where
        kinds = {"faults": "fault", "last": "detail"}
        what = "letter" if letter else "task" if task else kinds.get(item.places[0], "note")
        so_far = found.get(where, Omission(where, 0, 0, what=what))
        found[where] = so_far._replace(
            number=so_far.number + 1,
            size=so_far.size + item.size,
            pinned=so_far.pinned + (item.kind == PIN),
            high=so_far.high + (item.kind == LETTER),
        )
    for task_ in material.finished:
        so_far = found.get("tasks.json", Omission("tasks.json", 0, 0, what="task"))
        found["tasks.json"] = so_far._replace(
            number=so_far.number + 1, size=so_far.size + task_size(task_), done=so_far.done + 1
        )
    for where, length in material.unread:
        found[where] = Omission(where, 1, length, what="part")
    if cut:
        for number, missing in allotment.cut.items():
            where = material.items[number].where
            found[f"{where} {number}"] = Omission(where, 1, missing, what="part")
    return tuple(found.values())


def _warning(need: int, budget: int, unit: Unit, file: str) -> Finding | None:
    if need < WARN * budget:
        return None
    from worldfs.ground.model import Finding

    share = f"{100 * need // budget} %" if budget > 0 else "more than all"
    return Finding(
        "PACK_OVERFLOW" if need > budget else "PACK_NEARLY_FULL",
        file,
        f"at most {int(WARN * budget)} {unit} (80 % of {budget})",
        f"{need} {unit} ({share})",
        _FIXES[file],
        warning=True,
    )


class _Texts:
    """The house's own sentences in one language and unit."""

    def __init__(self, language: str, unit: Unit, budget: int) -> None:
        self.language, self.unit, self.budget = language, unit, budget

    def price(self, text: str) -> int:
        return cost(text, self.unit)

    def cut(self, item: Item, missing: int) -> str:
        return self._say("cut", size=self._size(missing), where=item.where)

    def omitted(self, omissions: Sequence[Omission]) -> list[str]:
        """The ways to name these, the fullest first; [] if there are none."""
        if not omissions:
            return []
        heads = [o for o in omissions if o.where.startswith("memory.md › ")]
        others = [o for o in omissions if not o.where.startswith("memory.md › ")]
        shown, rest = (heads, []) if len(heads) <= _LINES else (heads[: _LINES - 1], heads[_LINES - 1 :])
        if rest:
            where = f"memory.md › {self._say('more', count=len(rest))}"
            shown = [*shown, _sum(rest, where)]
        named = [self._line("line", omission) for omission in [*others, *shown]]
        files = [*others, *([_sum(heads, "memory.md")] if heads else [])]
        total = "、" if self.language.startswith("zh") else "; "
        return [
            "\n".join([chosen(PACK["omitted"], self.language), *named, ""]),
            self._say("total", list=total.join(self._line("of", omission) for omission in files)) + "\n",
        ]

    def _line(self, key: str, omission: Omission) -> str:
        one, many = self._say(omission.what).split("|")
        what = one if omission.number == 1 else many
        for name, count in (("high", omission.high), ("pins", omission.pinned), ("done", omission.done)):
            what += self._say(name, count=count) if count else ""
        return self._say(key, where=omission.where, count=omission.number, what=what, size=self._size(omission.size))

    def _size(self, count: int) -> str:
        return size(count, self.language.startswith("zh"))

    def _say(self, key: str, **values: object) -> str:
        return chosen(PACK[key], self.language).format(**values)


def _sum(omissions: Sequence[Omission], where: str) -> Omission:
    counts = (sum(column) for column in zip(*((o.number, o.size, o.pinned) for o in omissions), strict=True))
    return Omission(where, *counts)
