"""EMBODIED.md: a body's abilities, read from either profile dialect (000 EMBODIED.md; workspace §3.8)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from worldfs.base.model import Operation, Profile
from worldfs.base.model.profile import CAMERA, TRUTH
from worldfs.base.standard_operations import described

from . import embodied_ops as ops
from . import embodied_sections as sections
from . import markdown_tables, prose
from .embodied_limits import COMMENT, LimitReader, Mode
from .embodied_states import withdraws

PATH = "EMBODIED.md"

IDENTITY = {
    "model": ("robot model", "model", "机器人型号", "型号"),
    "dof": ("dof", "degrees of freedom", "自由度"),
    "end_effector": ("end effector", "end-effector", "gripper", "末端执行器", "夹爪"),
    "driver": ("driver", "驱动", "驱动器"),
    "name": ("name", "名称", "机器人名称"),
    "type": ("type", "类型"),
    "perception": ("perception", "感知"),
}
_IDENTITY = {word: name for name, spellings in IDENTITY.items() for word in spellings}
_COLUMNS = {
    "name": (
        "action type",
        "supported action",
        "supported actions",
        "支持的动作",
        "action",
        "actions",
        "name",
        "tool",
        "command",
        "动作",
        "动作类型",
        "名称",
        "操作",
    ),
    "description": ("description", "meaning", "notes", "描述", "说明", "含义"),
    "parameters": ("parameters", "params", "parameter", "arguments", "args", "参数"),
    "support": ops.SUPPORT,
}
_LISTS = ("actions", "unsupported")
_TOP_SPEEDS = {"go2_edu": 0.8, "wheeled_carrier": 0.6}  # m/s: what these drivers never exceed
_VALUES = ("value", "values", "range", "数值", "值", "范围", "取值")
_LIMIT_COLUMNS = {
    "label": ("parameter", "limit", "constraint", "property", "item", "name", "参数", "项目", "约束", "限制", "名称"),
    "value": (*_VALUES, "limit"),
    "unit": ("unit", "units", "单位"),
}
_PERCEPTION = {**dict.fromkeys(("truth", "真值"), TRUTH), **dict.fromkeys(("camera", "cameras", "相机"), CAMERA)}
_NONE = frozenset(("", "—", "–", "-", "none", "n/a", "无", "没有"))
_ABSENT = frozenset(("none", "no", "absent", "not present", "n/a", "not installed", "—", "无", "没有", "未安装"))
_TICK = re.compile(r"\[([ xX✓✔])\]\s*(.*)")


@dataclass
class _Draft:
    """What has been read so far; the first word on a matter counts."""

    identity: dict[str, str] = field(default_factory=dict)
    title: str = ""
    sensors: list[tuple[str, bool]] = field(default_factory=list)
    ops: dict[str, Operation] = field(default_factory=dict)
    limits: LimitReader = field(default_factory=lambda: LimitReader(described=frozenset(_IDENTITY)))
    denied: dict[str, str] = field(default_factory=dict)  # op → the heading that says that it is not supported
    odd: list[str] = field(default_factory=list)  # what looks like an action, below a heading that does not offer it
    heading: str = ""  # the one that the present line is below
    indent: int = -1  # of the list that the present line is in; deeper ones belong to its items


def read(data: bytes) -> Profile:
    """The profile of a document. What it does not say stays empty; what may be a limit and cannot be read is in
    `unread`, wherever it stands.

    Actions count only below a heading that says that they are supported; what else looks like one is in `odd`.
    Lengths in metres, masses in kilograms, whatever unit the line prints. A volume, a speed and the like are figures
    of the body, not limits of an order, and are left alone. Raises `BadInput` only for bytes that are no text.
    """
    lines = prose.split(prose.decode(data, PATH).removeprefix(prose.BOM))
    blocks = [*prose.fences(lines), *_front_matter(lines)]
    mask = prose.visible(lines, blocks)
    draft = _Draft()
    limits = draft.limits
    heads = {head.line: head for head in (*prose.headings(lines, mask), *_underlined(lines, mask))}
    in_table = {i: t for t in markdown_tables.find(lines, mask) for i in range(t.first, t.end)}
    in_block = {i: block for block in blocks if block.info != "<!--" for i in range(block.first, block.last + 1)}
    below, title = _below(lines), min(heads, default=-1)
    section, ignored_level, outer = "", 0, ""  # `outer`: the section that a heading of one limit interrupts
    for number, line in enumerate(lines):
        if not mask[number]:
            if number in in_block and in_block[number].first == number:
                _block(draft, lines[number : in_block[number].last + 1], section)
            continue
        if number in heads:
            head = heads[number]
            draft.indent = -1
            titled = head.level == 1 and number == title
            if head.level == 1 and not draft.title:
                draft.title = _title(head.text)
            section, outer = outer or section, ""
            opened = sections.section(head.text)
            ignored = bool(ignored_level) and head.level > ignored_level
            mode = _mode(section) if head.level > 2 else "text"
            named_only = titled or ignored
            if limits.heading(head.text, mode, head.level, known=opened, named_only=named_only, title=titled):
                outer = section if head.level > 2 and section != "limits" else ""
                section, ignored_level, draft.heading = "limits", 0, prose.one_line(head.text, 80)
                continue
            if ignored:
                if section in ("actions", "sensors"):  # a label had begun a list, which ends here as anywhere
                    section, draft.heading = "unknown", prose.one_line(head.text, 80)
                continue
            draft.heading = prose.one_line(head.text, 80)
            # an unknown sub-heading leaves identity and limits as they are; a list of actions ends there
            kept = section if head.level > 2 and section not in ("actions", "sensors", "unsupported") else ""
            if kept and opened == "unsupported" and not sections.closes(head.text, kept):
                opened = kept
            section = opened or (kept if kept or head.level <= 2 else "unknown")
            ignored_level = head.level if section in ("other", "unsupported") else 0
        elif number in in_table:
            draft.indent = -1
            if in_table[number].first == number:
                _table(draft, in_table[number], section)
        else:
            section = _line(draft, line.rstrip("\r\n"), section, _over_a_list(lines, number, below))
    limits.close()
    return _profile(draft)


def _mode(section: str) -> Mode:
    """How far a line of `section` is taken for a limit."""
    if section == "limits":
        return "limits"
    if section in ("actions", "unknown"):
        return "actions"
    return "list" if section in ("sensors", "unsupported") else "text"


def _front_matter(lines: Sequence[str]) -> Iterator[prose.Fence]:
    """The settings between two rules at the beginning."""
    rule = lines[0].strip() if lines else ""
    if rule in ("---", "+++"):
        ends = {rule, "..."} if rule == "---" else {rule}
        last = next((i for i, line in enumerate(lines) if i and line.strip() in ends), 0)
        if last:
            yield prose.Fence(0, last, "", True)


def _block(draft: _Draft, lines: Sequence[str], section: str) -> None:
    """The lines of a fence: settings, JSON or a piece of a profile. Limits in it hold as those around it."""
    around: Mode = "limits" if section == "limits" else "text"
    mode, limits = around, draft.limits
    with limits.block():
        for line in lines[1:]:
            if line.lstrip().startswith("#"):
                text = line.strip().lstrip("#").strip()
                opened = limits.heading(text, mode, COMMENT, named_only=not line.lstrip().startswith("##"))
                mode = "limits" if opened or sections.section(text) == "limits" else around
            else:
                limits.take(line, mode)


def _underlined(lines: Sequence[str], mask: Sequence[int]) -> Iterator[prose.Heading]:
    """Headings that are underlined with = or -."""
    for number in range(len(lines) - 1):
        under, text = lines[number + 1].strip(), lines[number].strip()
        ruled = mask[number] and mask[number + 1] and len(under) > 1 and set(under) in ({"="}, {"-"})
        worded = text and "|" not in text and prose.bullet(lines[number]) is None and text[0] not in ">#"
        if ruled and worded:
            yield prose.Heading(number, 1 if under[0] == "=" else 2, text)


def _below(lines: Sequence[str]) -> list[str]:
    """For each line the next one that is not blank, "" where none follows."""
    found, last = [""] * len(lines), ""
    for number in range(len(lines) - 1, -1, -1):
        found[number] = last
        last = lines[number] if lines[number].strip() else last
    return found


def _over_a_list(lines: Sequence[str], number: int, below: Sequence[str]) -> bool:
    """Whether the line is alone, and what comes next is a list or a table: then it is their label."""
    if number and lines[number - 1].strip() and not lines[number - 1].lstrip().startswith(("#", "|")):
        return False
    return prose.bullet(below[number]) is not None or below[number].lstrip().startswith("|")


def _title(text: str) -> str:
    for dash in ("—", "–", " - ", "：", ":"):
        if dash in text:
            return text.split(dash, 1)[1].strip()
    return ""


def _line(draft: _Draft, line: str, section: str, over_a_list: bool) -> str:
    """Take in one line of text; the answer is the section that the next one is in.

    `over_a_list`: the line is alone over a list or a table.
    """
    item = prose.bullet(line)
    indent = len(line) - len(line.lstrip())
    limits = draft.limits
    if item is None:
        goes_on = 0 <= draft.indent < indent and not over_a_list  # the text of an item, on its next line
        text = "" if goes_on else sections.label(line) or (sections.caption(line) if over_a_list else "")
        if text and (opened := _opened(text, section)) != section:
            if not limits.take(line, "text"):
                limits.close()
            draft.heading, draft.indent = prose.one_line(text, 80), -1
            return opened
        if line.lstrip().startswith(">"):
            for part in re.split(r"[|｜]", line.lstrip("> \t")):
                _identity(draft, prose.parse_label(part))
        mode = _mode(section)
        limits.take(line, "text" if mode in ("actions", "list") and not goes_on else mode)
        return section
    if section not in ("actions", "unsupported", "unknown", "sensors") or limits.claims(line):
        as_op = section == "" and item.startswith("`")
        if not limits.take(line, _mode(section)) and section in ("", "identity") and not as_op:
            pair = prose.parse_label(item)
            _identity(draft, pair)
        if as_op:
            _action(draft, item, section, indent)
        return section
    limits.take(line, _mode(section))
    if section == "sensors":
        _sensor(draft, item)
        return section
    return _action(draft, item, section, indent)


def _opened(text: str, section: str) -> str:
    """The section that a label opens. A list of actions or sensors ends at any label that does not offer them."""
    opened = sections.section(text)
    if opened == "unsupported" and not sections.closes(text, section):
        return section
    if opened or section not in ("actions", "sensors", "unsupported", "unknown"):
        return opened or section
    return section if section == "actions" and sections.offers(text) else "unknown"


def _action(draft: _Draft, item: str, section: str, indent: int) -> str:
    """An item of a list below `section`; what is below another item belongs to that one.

    An item may itself be the label of those after it: "- **Not supported**:". The answer is the section from here on.
    """
    nested = draft.indent >= 0 and indent > draft.indent + 1
    if not nested:
        draft.indent = indent
    op, yes = ops.parse_bullet(item)
    if (text := sections.label(item)) and (op is None or sections.section(text) == "unsupported"):
        draft.heading = prose.one_line(text, 80) if not nested else draft.heading
        return _opened(text, section) if not nested else section
    if op is not None and not (nested and section == "actions"):
        _op(draft, op, section if yes else "unsupported", sure=item.startswith("`"))
    return section


def _op(draft: _Draft, op: Operation, section: str, *, sure: bool = False) -> None:
    """One op read below `section`. `sure`: it is written as code, so it is meant as a name."""
    if section == "actions":
        draft.ops.setdefault(op.name, op)
    elif section == "unsupported":
        draft.denied.setdefault(op.name, draft.heading)
    elif sure or "_" in op.name or op.parameters:
        draft.odd.append(f"{op.name}, below {draft.heading or 'no heading'}")


def _identity(draft: _Draft, pair: tuple[str, str] | None) -> None:
    if pair and (name := _IDENTITY.get(sections.key(pair[0]))) and pair[1]:
        draft.identity.setdefault(name, pair[1].strip("`* "))


def _sensor(draft: _Draft, item: str) -> None:
    tick = _TICK.match(item)
    if tick:
        draft.sensors.append((tick[2].strip(), tick[1] != " " and not withdraws(item)))
        return
    pair = prose.parse_label(item)
    text = f"{pair[0]}: {pair[1]}".rstrip(": ") if pair else item.strip("`* ")
    if text.casefold() not in _NONE:
        draft.sensors.append((text, not (withdraws(text) or (pair and pair[1].casefold().rstrip(".") in _ABSENT))))


def _table(draft: _Draft, table: markdown_tables.MarkdownTable, section: str) -> None:
    columns = table.named(_COLUMNS)
    limits = table.named(_LIMIT_COLUMNS)
    mode = _mode(section)
    for column, name in enumerate(table.header):
        for row in table.rows:
            draft.limits.column(name, row[column])
    of_actions = mode != "limits" and "name" in columns and ("parameters" in columns or section in _LISTS)
    if mode == "limits" or (not of_actions and section != "sensors"):
        label, value, unit = limits.get("label", 0), limits.get("value", 1), limits.get("unit")
        labelled = "label" in limits and "value" in limits
        if labelled and label == value:  # "Limit" is the label here, and its value is the other column
            value = table.named({"value": _VALUES}).get("value", value)
        for row in table.rows if labelled else (table.header, *table.rows):
            if max(label, value) < len(row) and any(row):
                said = row[unit] if unit is not None else ""
                whole = f"{row[label]}: {row[value]}" + (f" {said}" if said else "")
                names = row is table.header and bool(table.rows)  # it names columns, perhaps limits
                heads = names and not re.search(r"\d", row[value])
                if (heads or not draft.limits.row(row[label], row[value], said, whole, mode)) and (
                    labelled or mode == "limits" or (section in ("", "identity") and len(row) == 2)
                ):
                    _identity(draft, (row[label], row[value]))
                if not heads:
                    draft.limits.cells([c for i, c in enumerate(row) if i not in (label, value, unit)], "text")
        if len(table.header) == 1:
            for row in (table.header, *table.rows):
                draft.limits.take(row[0], mode)
        return
    for row in (table.header, *table.rows):
        draft.limits.row(row[0], row[1] if len(row) > 1 else "", "", " | ".join(row), mode)
    if section == "sensors":
        for row in table.rows:
            draft.sensors.append((row[0].strip("`* "), not any(c.casefold() in _ABSENT or c == "❌" for c in row[1:])))
    elif section != "other":
        under = "actions" if section not in _LISTS and sections.offers(table.header[columns["name"]]) else section
        for row in table.rows:
            named, rest = row[columns["name"]], [c for i, c in enumerate(row) if i != columns["name"] and c]
            if sections.section(named) == "unsupported" or (not rest and not ops.op_names(named)):
                under = _opened(named, under) if named else under  # a row that is the label of those below it
                draft.heading = prose.one_line(named, 80) or draft.heading
                continue
            text = row[columns["description"]] if "description" in columns else ""
            given = ops.parse_parameters(row[columns["parameters"]]) if "parameters" in columns else ()
            no = ops.is_denied(row[columns["name"]]) or ops.is_denied(text)
            if "support" in columns and not ops.is_affirmed(said := row[columns["support"]]):
                no = True
                draft.odd += [f"{n}, {table.header[columns['support']]}: {said}" for n in ops.op_names(named)]
            for name in ops.op_names(row[columns["name"]]):
                _op(draft, described(name, text, given), "unsupported" if no else under)


def _unheld_speed(speed: float | None, driver: str) -> Iterator[str]:
    """A limit of speed that the driver does not hold, as one that cannot be read."""
    if speed is not None and speed < _TOP_SPEEDS.get(driver.strip().lower(), math.inf):
        yield f"Max Speed: {speed:g} m/s"


def _profile(draft: _Draft) -> Profile:
    identity = draft.identity
    said, perception = identity.get("perception", ""), _PERCEPTION.get(identity.get("perception", "").casefold(), "")
    dof = re.search(r"\d+", identity.get("dof", ""))
    return Profile(
        name=identity.get("name") or draft.title or identity.get("model", ""),
        model=identity.get("model", ""),
        dof=int(dof[0]) if dof and len(dof[0]) < 6 else None,
        end_effector=identity.get("end_effector", ""),
        driver=identity.get("driver", ""),
        type=identity.get("type", ""),
        sensors=tuple(draft.sensors),
        ops=tuple(op for op in draft.ops.values() if op.name not in draft.denied),
        max_reach=draft.limits.amounts.get("max_reach"),
        max_payload=draft.limits.amounts.get("max_payload"),
        max_grip_width=draft.limits.amounts.get("max_grip_width"),
        max_frame_age=draft.limits.amounts.get("max_frame_age"),
        min_grip_width=draft.limits.amounts.get("min_grip_width"),
        bounds=draft.limits.bounds,
        bounds_frame=draft.limits.frame,
        perception=perception,
        unread=(
            *dict.fromkeys(draft.limits.unread),
            *_unheld_speed(draft.limits.amounts.get("max_speed"), identity.get("driver", "")),
            *draft.limits.open_bounds(),
            *((f"Perception: {said}",) if said and not perception else ()),
        ),
        odd=(
            *dict.fromkeys(draft.odd),
            *(f"{name}, supported and not: {draft.denied[name]}" for name in draft.ops if name in draft.denied),
        ),
    )
