"""Two changed copies of memory.md made one, remark by remark.

A remark is the same in two copies if it says the same, wherever it is; what is left over in the same section and
says nearly the same was edited. One of the copies is the page that is written on: theirs, if only they changed the text
around the remarks, else ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from .memory import add_section
from .memory_headings import HEADINGS, remark_preview
from .memory_outline import MemoryListItem, MemoryOutline, apply_edits, insertion_point, item_text, lines_of, parse

ALIKE: Final = 0.6  # share of letter pairs in common from which a remark counts as edited, not as another
_MOST: Final = 2_500  # comparisons at most


class _MergedRemark(NamedTuple):
    """What becomes of a remark."""

    text: str
    pinned: bool
    section: str


class _Pair(NamedTuple):
    """One remark: its number in our copy and in theirs, and what becomes of it (None: it goes)."""

    ours: int | None
    theirs: int | None
    kept: _MergedRemark | None


def merge_memory(base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, tuple[str, ...]]:
    """(the merged memory.md, conflicts in words). A remark that only they removed goes; what we added or said stays."""
    if theirs in (base, ours):
        return ours, ()
    if ours == base:
        return theirs, ()
    old, mine, yours = (parse(text, dated=False) for text in (base, ours, theirs))
    conflicts: list[str] = []
    on_theirs = _theirs_is_page(old, mine, yours, conflicts)
    pairs = _spared(mine, yours, list(_decided(old, mine, yours, conflicts)))
    if on_theirs:
        flat = [(pair.theirs, pair.ours, pair.kept) for pair in pairs]
        return _written(yours, mine, flat), tuple(conflicts)
    flat = [(pair.ours, pair.theirs, pair.kept) for pair in pairs]
    data = _written(mine, yours, flat)
    return (ours if data == ours else data), tuple(conflicts)


# -- what becomes of each remark -------------------------------------------------------------------------------------


def _decided(old: MemoryOutline, mine: MemoryOutline, yours: MemoryOutline, conflicts: list[str]) -> Iterator[_Pair]:
    here, there = _matched(old.items, mine.items), _matched(old.items, yours.items)
    for number, item in enumerate(old.items):
        o, t = here.get(number), there.get(number)
        yield _Pair(
            o, t, _judged(item, None if o is None else mine.items[o], None if t is None else yours.items[t], conflicts)
        )
    taken = set(here.values())
    ours_new = [number for number in range(len(mine.items)) if number not in taken]
    theirs_new: dict[str, list[int]] = {}
    taken = set(there.values())
    for number, item in enumerate(yours.items):
        if number not in taken:
            theirs_new.setdefault(_squeezed(item), []).append(number)
    for o in ours_new:
        same = theirs_new.get(_squeezed(mine.items[o]))
        t = same.pop(0) if same else None
        kept = _as_is(mine.items[o])
        if t is not None and yours.items[t].remark.pinned:
            kept = kept._replace(pinned=True)
        yield _Pair(o, t, kept)
    for t in sorted(n for numbers in theirs_new.values() for n in numbers):
        yield _Pair(None, t, _as_is(yours.items[t]))


def _spared(mine: MemoryOutline, yours: MemoryOutline, pairs: list[_Pair]) -> list[_Pair]:
    """What both copies still say stays, though each removed it in another place."""
    left = {" ".join(pair.kept.text.split()) for pair in pairs if pair.kept}
    both = {_squeezed(item) for item in yours.items} - left
    for number, pair in enumerate(pairs):
        if pair.kept is None and pair.ours is not None and _squeezed(mine.items[pair.ours]) in both:
            pairs[number] = pair._replace(kept=_as_is(mine.items[pair.ours]))
    return pairs


def _judged(
    was: MemoryListItem, mine: MemoryListItem | None, yours: MemoryListItem | None, conflicts: list[str]
) -> _MergedRemark | None:
    name = remark_preview(was.remark.text)
    if mine is None:
        if yours is not None and _squeezed(yours) != _squeezed(was):
            conflicts.append(f"{name} was removed here and changed there; it stays removed")
        return None
    if yours is None:
        if _said(mine) == _said(was):
            return None
        conflicts.append(f"{name} was changed here and removed there; it is kept")
        return _as_is(mine)
    before, here, there = _said(was), _said(mine), _said(yours)
    text = mine.remark.text
    if there[0] not in (before[0], here[0]):
        if here[0] == before[0]:
            text = yours.remark.text
        else:
            conflicts.append(
                f"{name} is {remark_preview(text)} here and {remark_preview(yours.remark.text)} there;"
                " the first is kept"
            )
    section = here[2]
    if there[2] not in (before[2], here[2]):
        if here[2] == before[2]:
            section = there[2]
        else:
            conflicts.append(f"{name} is below {here[2]} here and below {there[2]} there; the first is kept")
    return _MergedRemark(text, here[1] if there[1] == before[1] else there[1], section)


def _as_is(item: MemoryListItem) -> _MergedRemark:
    return _MergedRemark(item.remark.text, item.remark.pinned, item.remark.section)


def _said(item: MemoryListItem) -> tuple[str, bool, str]:
    return _squeezed(item), item.remark.pinned, item.remark.section


def _squeezed(item: MemoryListItem) -> str:
    return " ".join(item.remark.text.split())


def _matched(old: Sequence[MemoryListItem], new: Sequence[MemoryListItem]) -> dict[int, int]:
    """Number of each old remark that is found again: its number in the new copy."""
    found: dict[int, int] = {}
    left, free = list(range(len(old))), list(range(len(new)))
    old_says, new_says = [_squeezed(item) for item in old], [_squeezed(item) for item in new]
    for exact in (True, False):  # first where it stood, then wherever it went
        where: dict[tuple[str, str], list[int]] = {}
        for n in reversed(free):
            where.setdefault((new_says[n], new[n].remark.section if exact else ""), []).append(n)
        for o in left:
            if numbers := where.get((old_says[o], old[o].remark.section if exact else "")):
                found[o] = numbers.pop()
        taken = set(found.values())
        left, free = [o for o in left if o not in found], [n for n in free if n not in taken]
    if left and free and len(left) * len(free) <= _MOST:
        grams = {n: _grams(new_says[n]) for n in free}
        best = []
        for o in left:
            own = _grams(old_says[o])
            for n in free:
                if old[o].remark.section == new[n].remark.section and (own or grams[n]):
                    share = 2 * len(own & grams[n]) / (len(own) + len(grams[n]))
                    if share >= ALIKE:
                        best.append((-share, o, n))
        for _, o, n in sorted(best):
            if o not in found and n not in taken:
                found[o] = n
                taken.add(n)
    return found


def _grams(text: str) -> set[str]:
    return {text[at : at + 2] for at in range(len(text) - 1)}


# -- the text around them --------------------------------------------------------------------------------------------


def _theirs_is_page(old: MemoryOutline, mine: MemoryOutline, yours: MemoryOutline, conflicts: list[str]) -> bool:
    before, here, there = _prose(old), _prose(mine), _prose(yours)
    if there in (before, here):
        return False
    if here == before:
        return True
    known = set(before)  # new headings come with their remarks
    if _prose(yours, known) == before:
        return False
    if _prose(mine, known) == before:
        return True
    conflicts.append("the text around the remarks was changed here and there; ours is kept")
    return False


def _prose(doc: MemoryOutline, known: set[str] | None = None) -> list[str]:
    """Lines that are no remark; with `known`, also without the headings of remarks that are not among these."""
    gone = {number for item in doc.items for number in range(item.start, item.end)}
    if known is not None:
        for index in {item.head for item in doc.items if item.head >= 0}:
            head = doc.heads[index]
            if doc.lines[head.line].strip() not in known:
                gone.update(range(head.line, head.end))
    return [bare for number, line in enumerate(doc.lines) if number not in gone and (bare := line.strip())]


# -- the page --------------------------------------------------------------------------------------------------------


def _written(
    page: MemoryOutline, other: MemoryOutline, pairs: Sequence[tuple[int | None, int | None, _MergedRemark | None]]
) -> bytes:
    """The page with every remark as it was decided; those that only the other copy has come where they are there."""
    cuts: list[tuple[int, int]] = []
    swaps: dict[int, list[str]] = {}
    known: dict[int, MemoryListItem] = {}  # number in the other copy: the same on the page
    coming: dict[int, _MergedRemark] = {}
    moving: list[_MergedRemark] = []
    staying: set[str] = set()
    for p, q, kept in pairs:
        if p is None:
            continue
        item = page.items[p]
        if kept is None or kept.section != item.remark.section:
            cuts.append((item.start, item.end))
            if kept is not None:
                moving.append(kept)
            continue
        staying.add(" ".join(kept.text.split()))
        if " ".join(kept.text.split()) != _squeezed(item) or kept.pinned != item.remark.pinned:
            cuts.append((item.start, item.end))
            swaps[item.start] = lines_of(page, item.indent, item.mark, kept.text, kept.pinned)
        if q is not None:
            known[q] = item
    for p, q, kept in pairs:
        if p is None and q is not None and kept is not None and " ".join(kept.text.split()) not in staying:
            coming[q] = kept
    puts, ends = _anchored(page, other, coming, known)
    missing: dict[str, list[_MergedRemark]] = {}
    below: dict[int, list[_MergedRemark]] = {}
    for kept in [*ends, *moving]:
        index = _head(page, other, kept.section)
        if index is None:
            missing.setdefault(kept.section, []).append(kept)
        else:
            below.setdefault(index, []).append(kept)
    for index, new in below.items():
        line, apart, loose = insertion_point(page, index)
        for number, kept in enumerate(new):
            if loose if number else apart:
                puts.setdefault(line, []).append(page.end)
            puts.setdefault(line, []).extend(item_text(page, index, kept.text, kept.pinned))
    for line, swap in swaps.items():
        puts.setdefault(line, []).extend(swap)
    data = apply_edits(page, puts, cuts)
    for section, new in missing.items():
        doc = parse(data, dated=False)
        text = _heading(other, section) or _heading(page, section) or HEADINGS["en"].get(section, section)
        data = add_section(doc, section, text, [item_text(doc, None, kept.text, kept.pinned) for kept in new])
    return data


def _anchored(
    page: MemoryOutline, other: MemoryOutline, coming: dict[int, _MergedRemark], known: dict[int, MemoryListItem]
) -> tuple[dict[int, list[str]], list[_MergedRemark]]:
    """Lines to put beside the neighbours that the other copy shows, and what goes to the end of its section."""
    puts: dict[int, list[str]] = {}
    ends: list[_MergedRemark] = []
    first: dict[int, MemoryListItem] = {}
    last: dict[int, int] = {}
    for number, item in enumerate(other.items):
        if number in known and known[number].remark.section == item.remark.section:
            first.setdefault(item.head, known[number])
            last[item.head] = number
    before: dict[int, MemoryListItem] = {}
    for number, item in enumerate(other.items):
        if number in known and known[number].remark.section == item.remark.section:
            before[item.head] = known[number]
        if number not in coming:
            continue
        kept = coming[number]
        if kept.section != item.remark.section or last.get(item.head, -1) < number:
            ends.append(kept)
            continue
        anchor = before.get(item.head)
        near = anchor or first[item.head]
        new = item_text(page, near.head, kept.text, kept.pinned)
        loose = insertion_point(page, near.head)[2]
        if anchor:
            puts.setdefault(anchor.end, []).extend([page.end, *new] if loose else new)
        else:
            puts.setdefault(near.start, []).extend([*new, page.end] if loose else new)
    return puts, ends


def _head(page: MemoryOutline, other: MemoryOutline, section: str) -> int | None:
    if not section:
        return -1
    if section == other.title and page.title:
        return 0
    return page.find(section)


def _heading(doc: MemoryOutline, section: str) -> str:
    return next((head.text for head in doc.heads if head.opens and head.section == section), "")
