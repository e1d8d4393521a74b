"""ORCHESTRATOR.md: the fleet's missions and robots (000, 001 "ORCHESTRATOR.md"), kept in its own form."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from worldfs.base.messages import coded
from worldfs.base.model import Finding
from worldfs.base.restricting_fields import bounds, resembles, restricting

from . import entry_ids, markdown_tables, prose
from .markdown_tables import MarkdownTable

PATH: Final = "ORCHESTRATOR.md"
SHOWN: Final = 20  # entries of the decision log
LONGEST: Final = 500  # characters of a mission
MOST_ROWS: Final = 10_000

_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "mission": ("mission", "任务"),
    "assigned_to": ("assigned to", "assigned", "分配至", "分配给"),
    "priority": ("priority", "优先级"),
    "status": ("status", "state", "状态", "当前状态"),
    "robot": ("robot", "robot id", "机器人"),
    "heartbeat": ("last heartbeat", "heartbeat", "最后心跳"),
    "current": ("current mission", "当前任务"),
    "requirements": ("requirements", "required capabilities", "要求"),
    "queued_at": ("queued at", "排队时间"),
}
_TRUTH: Final = {**dict.fromkeys(("no", "false", "否"), False), **dict.fromkeys(("yes", "true", "是"), True)}
_TABLES: Mapping[str, tuple[str, ...]] = {  # table → the columns that it has, and what it is known by: the first two
    "active": ("mission", "assigned_to", "priority", "status"),
    "robots": ("robot", "status", "heartbeat", "current"),
    "queue": ("mission", "requirements", "priority", "queued_at"),
}
_HEADINGS = {
    "en": {"title": "Orchestrator Dashboard", "active": "Active Missions", "robots": "Robot Pool",
           "queue": "Pending Queue", "log": "Decision Log"},
    "zh": {"title": "调度面板", "active": "活跃任务", "robots": "资源池", "queue": "待分配", "log": "决策记录"},
}  # fmt: skip
_HEADERS = {
    "en": {
        "active": ("Mission", "Assigned To", "Priority", "Status"),
        "robots": ("Robot", "Status", "Last Heartbeat", "Current Mission"),
        "queue": ("Mission", "Requirements", "Priority", "Queued At"),
    },
    "zh": {
        "active": ("任务", "分配至", "优先级", "状态"),
        "robots": ("机器人", "当前状态", "最后心跳", "当前任务"),
        "queue": ("任务", "要求", "优先级", "排队时间"),
    },
}
PRIORITIES: Mapping[str, tuple[str, ...]] = {
    "high": ("high", "urgent", "高", "紧急"),
    "normal": ("normal", "medium", "", "普通", "中", "正常"),
    "low": ("low", "低"),
}
_PRIORITY = {word: name for name, words in PRIORITIES.items() for word in words}
CANCELLED: Final = frozenset(("cancelled", "canceled", "cancel", "取消", "已取消"))
ROBOT: Final = "robot:"  # among the requirements: the only robot that may do it
_ROBOT_WORD: Final = re.compile(r"(?:robot|机器人)\s*[:：]\s*", re.IGNORECASE)
_BLANK = frozenset(("", "—", "–", "-"))
_EMPTY = _BLANK | {"n/a", "none", "无"}
_LOG_ENTRY = re.compile(r"[ \t]*[-*+][ \t]+(\[\d\d:\d\d(?::\d\d)?\][ \t].*)")
_SEVERAL: Final = re.compile(r"(?<![\w-])(?:or|and|not|either|any|all)(?![\w-])|[/\\|]|或|不要|任意", re.IGNORECASE)
_PLUS = re.compile(r"[+＋,，、;；&]")
_DATE: Final = r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}"
_CLOCK: Final = r"\d{1,2}[:：]\d\d(?:[:：]\d\d(?:[.,]\d+)?)?(?:\s*(?:[ap]\.?m\b\.?|z\b|[+-]\d\d:?\d\d))?"
_TIME: Final = re.compile(rf"(?:{_DATE}(?:[t\s]\s*{_CLOCK})?|{_CLOCK}|now\b|现在)", re.IGNORECASE)
_AROUND: Final = " \t()（）[]【】<>《》,，;；:：.。/-–—*_~!！"  # signs about a word that change nothing of it
_BY: Final = re.compile(r" by \w+(?: \w+)?$")


class ActiveMission(NamedTuple):
    mission: str
    assigned_to: str = ""
    priority: str = "normal"
    status: str = "running"


class PoolRobot(NamedTuple):
    robot: str
    status: str = "idle"
    heartbeat: str = ""  # HH:MM:SS
    current: str = ""  # the mission that it carries out


class QueuedMission(NamedTuple):
    mission: str
    requirements: tuple[str, ...] = ()
    priority: str = "normal"
    queued_at: str = ""  # HH:MM:SS, or the date and time that a person wrote
    cancelled: bool = False  # a cell of its row says so


class Dashboard(NamedTuple):
    """`decisions`: the decision log, oldest first, each "[HH:MM:SS] text"."""

    active: tuple[ActiveMission, ...] = ()
    robots: tuple[PoolRobot, ...] = ()
    queue: tuple[QueuedMission, ...] = ()
    decisions: tuple[str, ...] = ()


class ParsedDashboard(NamedTuple):
    """`refused`: rows of the pending queue that make no mission, by their first cell; they stay in the file.
    `refused_at`: which rows these are. `torn`: the text ends inside of a row, which its writer may yet complete.
    `strays`: rows that are in no table."""

    dashboard: Dashboard
    refused: tuple[tuple[str, Finding], ...] = ()
    language: str = "en"
    refused_at: tuple[int, ...] = ()
    torn: bool = False
    strays: tuple[Finding, ...] = ()


def read(data: bytes) -> ParsedDashboard:
    """The dashboard of a document in either language. Raises `BadInput` for bytes that are no UTF-8 text."""
    lines, mask, tables = _parts(data)
    values: dict[str, list[tuple[str, ...]]] = {}
    for name, (table, fields) in tables.items():
        values[name] = [_values(name, row, fields) for row in table.rows[:MOST_ROWS]]
    refused: list[tuple[str, Finding]] = []
    refused_at: list[int] = []
    queue: list[QueuedMission] = []
    torn = False
    waiting, columns = tables.get("queue", (MarkdownTable(0, (), (), ()), {}))
    for at, (mission, requirements, priority, queued_at) in enumerate(values.get("queue", ())):
        line = lines[waiting.body[at]]
        when, said = _when(queued_at)
        more = _cells_over(line, waiting)
        if any(map(says_cancelled, (requirements, priority, said, *more))):
            cancelled, finding = True, None
        elif markdown_tables.is_whole(line, waiting.header):
            column = _unread(waiting, columns, waiting.rows[at]) or "".join(more[:1])
            cancelled, finding = False, _finding(mission, _requirements(requirements), priority, column, said)
        else:
            cancelled, finding = False, _unfinished(mission, line, waiting.header)
            torn |= not line.endswith(("\n", "\r"))
        if finding is not None and (mission or torn):
            refused.append((mission, finding))
            refused_at.append(at)
        elif mission:
            named = _PRIORITY.get(priority.casefold(), "normal")
            queue.append(QueuedMission(mission, _requirements(requirements), named, when, cancelled))
    found = Dashboard(
        tuple(ActiveMission(*row) for row in values.get("active", ()) if row[0]),
        tuple(PoolRobot(*row) for row in values.get("robots", ()) if row[0]),
        tuple(queue),
        tuple(text for _, text in _log(lines, mask)),
    )
    chinese = any(not "".join(table.header).isascii() for table, _ in tables.values())
    chinese |= any("调度" in head.text for head in prose.headings(lines, mask))
    strays = tuple(_stray(lines[number]) for number in markdown_tables.strays(lines, mask))
    return ParsedDashboard(found, tuple(refused), "zh" if chinese else "en", tuple(refused_at), torn, strays)


def write(
    data: bytes | None, dashboard: Dashboard, *, language: str = "en", had: Collection[str] | None = None
) -> bytes:
    """The document after `dashboard`: cells that differ are replaced, rows added and removed; prose, unknown sections
    and columns, and refused rows stay. A new document is written in `language`.

    `had`: waiting missions that had a row before, so that a refused row of the same words may be theirs, changed; None:
    any.
    """
    if not data or not data.strip():
        return _fresh(dashboard, language).encode()
    present = read(data)
    text = prose.decode(data, PATH)
    rows: dict[str, Sequence[tuple[object, ...]]] = {
        "active": dashboard.active,
        "robots": dashboard.robots,
        "queue": [item[:4] for item in dashboard.queue],
    }
    for name in _TABLES:
        lines, _, tables = _parts(text.encode())
        if name in tables:
            keep = present.refused_at if name == "queue" else ()
            text = "".join(_patched(lines, name, tables[name], rows[name], keep, had=had))
        elif rows[name]:
            end = prose.ending(lines)
            added = [f"## {_words(present.language)[name]}", *_table(name, rows[name], present.language)]
            text = text.rstrip("\r\n") + end * 2 + end.join(added) + end
    if dashboard.decisions != present.dashboard.decisions:
        text = _with_log(text, dashboard.decisions[-SHOWN:], present.language)
    return text.encode()


def template(language: str = "en") -> bytes:
    """A dashboard without missions and robots."""
    return _fresh(Dashboard(), language).encode()


def _parts(data: bytes) -> tuple[list[str], bytearray, dict[str, tuple[MarkdownTable, dict[str, int]]]]:
    lines = prose.split(prose.decode(data, PATH))
    mask = prose.visible(lines, list(prose.fences(lines, inline=True)))
    tables: dict[str, tuple[MarkdownTable, dict[str, int]]] = {}
    for table in markdown_tables.find(lines, mask):
        fields = table.named(_COLUMNS)
        for name, columns in _TABLES.items():
            if name not in tables and columns[0] in fields and columns[1] in fields:
                tables[name] = table, {column: fields[column] for column in columns if column in fields}
                break
    return lines, mask, tables


def _values(name: str, row: Sequence[str], fields: Mapping[str, int]) -> tuple[str, ...]:
    cells = [prose.one_line(row[fields[column]]) if column in fields else "" for column in _TABLES[name]]
    return tuple("" if cell in (_EMPTY if at else _BLANK) else cell for at, cell in enumerate(cells))


def _unread(table: MarkdownTable, fields: Mapping[str, int], row: Sequence[str]) -> str:
    """The first column of a waiting mission that nothing reads and that would hold it back or name its robot, or that
    is meant for one that is read; "" for none."""
    for at, name in enumerate(table.header):
        cell = prose.one_line(row[at]).casefold()
        if at in fields.values() or cell in _BLANK or cell in _EMPTY:
            continue
        word, value = prose.one_line(name).casefold(), _TRUTH.get(cell, cell)
        if (
            word in (*_COLUMNS["robot"], *_COLUMNS["assigned_to"])
            or any(restricting({"state" if word in _COLUMNS["status"] else name: value}))
            or bounds(name)
            or resembles(name, [known for column in _TABLES["queue"] for known in _COLUMNS[column]])
        ):
            return name
    return ""


def says_cancelled(cell: str) -> bool:
    """Whether a cell says no more than that the mission is cancelled, and by whom."""
    return _BY.sub("", cell.strip(_AROUND)).strip(_AROUND).casefold() in CANCELLED


def _when(cell: str) -> tuple[str, str]:
    """The time that a cell begins with, and what else it says; also the time behind "cancelled"."""
    behind = _TIME.search(cell)
    if behind and says_cancelled(cell[: behind.start()]) and not cell[behind.end() :].strip(_AROUND):
        return behind[0], cell[: behind.start()]
    found = _TIME.match(cell)
    return (found[0], cell[found.end() :].strip(_AROUND)) if found else ("", cell)


def _cells_over(line: str, table: MarkdownTable) -> list[str]:
    """What a row says behind its last column."""
    cells = markdown_tables.values(line)[len(table.header) :]
    return [word for cell in cells if (word := prose.one_line(cell)) not in _EMPTY]


def _unfinished(mission: str, line: str, header: Sequence[str]) -> Finding:
    """Of a row that is not whole: its writer may complete it."""
    expected = coded("mission.whole_row", n=len(header))
    found = coded("mission.part_of_row", row=prose.one_line(line)[:80])
    where = f"{PATH} Pending Queue / {mission[:80]}"
    return Finding("MISSION_UNFINISHED", where, expected, found, coded("mission.complete_row"))


def _stray(line: str) -> Finding:
    """A row, or the rest of one, that is in no table."""
    row = prose.one_line(line)[:80]
    expected, found = coded("mission.row_in_queue"), coded("mission.row_outside", row=row)
    return Finding("ROW_OUTSIDE", f"{PATH} / {row}", expected, found, coded("mission.move_row"), warning=True)


def _finding(mission: str, requirements: Sequence[str], priority: str, unread: str, beside_time: str) -> Finding | None:
    """Why a row of the pending queue makes no mission. `beside_time`: what Queued At says that is no time."""
    where, fix = f"{PATH} Pending Queue / {mission[:80]}", coded("mission.correct_row")
    if not mission:
        return None
    robots = [word.removeprefix(ROBOT).strip() for word in requirements if word.startswith(ROBOT)]
    if len(robots) > 1 or any(entry_ids.unsafe(id) or _SEVERAL.search(id) for id in robots):
        found, expected = ", ".join(robots)[:80], coded("mission.one_robot")
        return Finding("MISSION_ROBOT", where, expected, found, fix)
    if len(mission) > LONGEST:
        found = coded("mission.characters", n=len(mission))
        return Finding("MISSION_TOO_LONG", where, coded("mission.at_most_characters", n=LONGEST), found, fix)
    if priority.casefold() not in _PRIORITY:
        expected = coded("common.one_of", names=list(PRIORITIES))
        return Finding("MISSION_PRIORITY", where, expected, priority[:80], fix)
    if beside_time:
        fix = coded("mission.time_or_cancelled")
        return Finding("MISSION_TIME", where, coded("mission.a_time"), beside_time[:80], fix)
    if unread:
        found, fix = coded("session.unread", name=unread[:80]), coded("mission.column_out")
        return Finding("FIELD_UNREAD", where, coded("common.one_of", names=_HEADERS["en"]["queue"]), found, fix)
    return None


def _requirements(cell: str) -> tuple[str, ...]:
    words = (word for part in _PLUS.split(cell) if (word := part.strip()) and word not in _EMPTY)
    return tuple(_ROBOT_WORD.sub(f"{ROBOT} ", word) for word in words)


def _patched(
    lines: list[str],
    name: str,
    found: tuple[MarkdownTable, Mapping[str, int]],
    wanted: Iterable[tuple[object, ...]],
    keep: Collection[int],
    *,
    had: Collection[str] | None,
) -> list[str]:
    """The lines with the rows of one table replaced: a known row keeps its line but for cells that differ. `keep`: rows
    that stay; of a name in `had` one of them may be the row that is looked for, changed."""
    columns, (table, fields) = _TABLES[name], found
    kept = {table.body[at] for at in keep}
    old: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
    for number, row in zip(table.body, table.rows, strict=True):
        present = _values(name, row, fields)
        old.setdefault(present[0], []).append((number, present))

    def known_row(cells: Sequence[str]) -> tuple[int, tuple[str, ...]] | None:
        """The one that says the same, else one that does not stay."""
        alike = [
            (any(not _same(*pair) for pair in zip(columns, row[1], cells, strict=True)), row[0] in kept, row)
            for row in old.get(cells[0], ())
            if row[0] not in kept or had is None or cells[0] in had
        ]
        if not alike:
            return None
        row = min(alike)[2]
        old[cells[0]].remove(row)
        return row

    end = prose.ending(lines)
    shape = lines[table.body[-1] if table.body else table.first]
    widths = [max(0, prose.width(shape[a:b]) - 2) for a, b in markdown_tables.spans(shape)]
    rows: list[tuple[int, str]] = []
    for item in wanted:
        cells = tuple(_cell(value) for value in item)
        if (known := known_row(cells)) is not None:
            number, present = known
            line = lines[number]
            for column, before, now in zip(columns, present, cells, strict=True):
                if column in fields and not _same(column, before, now):
                    line = markdown_tables.replace(line, fields[column], now)
            rows.append((number, line))
        else:
            new = {fields[column]: value for column, value in zip(columns, cells, strict=True) if column in fields}
            made = [new.get(i, "") for i in range(len(table.header))]
            rows.append((len(lines), markdown_tables.row(made, widths) + end))
    # a row that was refused is its author's to correct
    rows += [(number, lines[number]) for left in old.values() for number, _ in left if number in kept]
    made = [lines[table.first + 1], *(line for _, line in sorted(rows, key=lambda row: row[0]))]
    last = "" if table.end == len(lines) else end
    ends = [*(end for _ in made[1:]), last]
    lines[table.first + 1 : table.end] = [
        line if line.endswith(("\n", "\r")) else line + after for line, after in zip(made, ends, strict=True)
    ]
    return lines


def _same(column: str, before: str, now: str) -> bool:
    if column == "requirements":
        return _requirements(before) == _requirements(now)
    if column == "priority" and before.casefold() in _PRIORITY:
        return _PRIORITY[before.casefold()] == _PRIORITY.get(now.casefold())
    return before == ("" if now in _EMPTY else now)


def _cell(value: object) -> str:
    return " + ".join(map(str, value)) if isinstance(value, tuple) else prose.one_line(str(value))


def _table(name: str, rows: Iterable[tuple[object, ...]], language: str) -> list[str]:
    header = _HEADERS["zh" if language.startswith("zh") else "en"][name]
    return markdown_tables.render(header, [[_cell(value) for value in row] for row in rows])


def _words(language: str) -> Mapping[str, str]:
    return _HEADINGS["zh" if language.startswith("zh") else "en"]


def _fresh(dashboard: Dashboard, language: str) -> str:
    words = _words(language)
    lines = [f"# {words['title']}"]
    rows: Mapping[str, Sequence[tuple[object, ...]]] = {
        "active": dashboard.active,
        "robots": dashboard.robots,
        "queue": [item[:4] for item in dashboard.queue],
    }
    for name, items in rows.items():
        lines += ["", f"## {words[name]}", "", *_table(name, items, language)]
    if dashboard.decisions:
        lines += ["", f"## {words['log']}", "", *(f"- {text}" for text in dashboard.decisions[-SHOWN:])]
    return "\n".join(lines) + "\n"


def _log_section(lines: Sequence[str], mask: Sequence[int]) -> tuple[int, int] | None:
    """The lines of the decision log: from its heading's line to that of the next."""
    heads = prose.headings(lines, mask)
    names = {words["log"].casefold() for words in _HEADINGS.values()}
    for at, head in enumerate(heads):
        if head.text.casefold() in names:
            return head.line, heads[at + 1].line if at + 1 < len(heads) else len(lines)
    return None


def _log(lines: Sequence[str], mask: Sequence[int]) -> list[tuple[int, str]]:
    """Its entries: line, and text."""
    section = _log_section(lines, mask)
    found = ((n, _LOG_ENTRY.match(lines[n])) for n in range(*section) if mask[n]) if section else ()
    return [(number, prose.one_line(match[1])) for number, match in found if match]


def _with_log(text: str, decisions: Sequence[str], language: str) -> str:
    lines = prose.split(text)
    mask = prose.visible(lines, list(prose.fences(lines, inline=True)))
    end = prose.ending(lines)
    made = [f"- {prose.one_line(entry)}{end}" for entry in decisions]
    section = _log_section(lines, mask)
    if section is None:
        return text.rstrip("\r\n") + end * 2 + f"## {_words(language)['log']}" + end * 2 + "".join(made)
    old = [number for number, _ in _log(lines, mask)]
    if not old:
        head = lines[section[0]]
        lines[section[0]] = (head if head.endswith(("\n", "\r")) else head + end) + end
    at = old[0] if old else section[0] + 1
    for number in reversed(old):
        del lines[number]
    lines[at:at] = made
    return "".join(lines)
