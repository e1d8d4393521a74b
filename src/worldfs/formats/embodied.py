"""EMBODIED.md: a body's abilities, read from either profile dialect (000 EMBODIED.md; workspace §3.8)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from worldfs.base.model import Operation, Profile
from worldfs.base.model.profile import BASE_FRAME, CAMERA, TRUTH, WORLD_FRAME
from worldfs.base.standard_operations import described

from . import embodied_ops as ops
from . import embodied_sections as sections
from . import markdown_tables, prose, quantities

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
LIMITS: dict[str, tuple[str, tuple[str, ...]]] = {
    "max_reach": (
        "length",
        (
            "max reach",
            "maximum reach",
            "reach",
            "arm reach",
            "最大臂展",
            "臂展",
            "最大工作半径",
            "工作半径",
            "最大可达距离",
        ),
    ),
    "max_payload": (
        "mass",
        (
            "max payload",
            "maximum payload",
            "payload",
            "payload capacity",
            "最大负载",
            "负载",
            "最大载荷",
            "载荷",
            "额定负载",
        ),
    ),
    "max_grip_width": (
        "length",
        (
            *("max grip width", "maximum grip width", "grip width", "gripper opening", "max gripper opening"),
            *("gripper width", "max gripper width", "max opening", "gripper stroke", "max grasp width"),
            *("最大抓取宽度", "抓取宽度", "夹爪开度", "最大夹爪开度", "夹爪行程", "夹爪最大开度", "最大开合宽度"),
        ),
    ),
    "min_grip_width": (
        "length",
        (
            *("min grip width", "minimum grip width", "min gripper width", "min grasp width", "min object size"),
            *("最小抓取宽度", "最小夹持宽度", "最小物体尺寸"),
        ),
    ),
    "max_frame_age": (
        "time",
        ("max frame age", "maximum frame age", "frame age", "max picture age", "最大帧龄", "图像最长时限"),
    ),
    "bounds": (
        "length",
        (
            *("workspace bounds", "workspace", "workspace box", "workspace limits", "workspace range", "bounds"),
            *("工作空间", "工作空间范围", "工作范围", "工作空间边界"),
        ),
    ),
}
_LIMIT = {word: (name, kind) for name, (kind, spellings) in LIMITS.items() for word in spellings}
_SIZES = [(len(word), Counter(word)) for word in _LIMIT if len(word) > 3]
_NO_WIDTH = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
# How the value of a limit begins.
_QUANTITY = re.compile(r"(?:[~～≈≤<=约\s\[(（-]|[xyz]\b|∈|:)*(?:\d|nan|inf)", re.IGNORECASE)
# Figures of the body that no order carries, so no order can break them; named so that they are not called unread.
_FIGURES = re.compile(
    r"volume|speed|velocity|acceleration|force|torque|repeatability|accuracy|frequency|control rate|weight|height"
    r"|battery|dof|degrees of freedom|joint|体积|速度|加速度|力|精度|频率|重量|高度|自由度|关节|续航",
    re.IGNORECASE,
)
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
_LIMIT_COLUMNS = {
    "label": ("parameter", "limit", "constraint", "property", "item", "name", "参数", "项目", "约束", "限制", "名称"),
    "value": ("value", "values", "limit", "range", "数值", "值", "范围", "取值"),
    "unit": ("unit", "units", "单位"),
}
_PERCEPTION = {**dict.fromkeys(("truth", "真值"), TRUTH), **dict.fromkeys(("camera", "cameras", "相机"), CAMERA)}
_NONE = frozenset(("", "—", "–", "-", "none", "n/a", "无", "没有"))
_ABSENT = frozenset(("none", "no", "absent", "not present", "n/a", "not installed", "—", "无", "没有", "未安装"))
_TICK = re.compile(r"\[([ xX✓✔])\]\s*(.*)")

_FRAMES = {
    BASE_FRAME: re.compile(
        r"\b(?:base|robot|arm)(?:'s)?[ _-](?:frame|coordinates)\b|(?:基座|机器人|本体)坐标", re.IGNORECASE
    ),
    WORLD_FRAME: re.compile(
        r"\b(?:world|map|global)[ _-](?:frame|coordinates)\b|(?:世界|全局|地图)坐标", re.IGNORECASE
    ),
}


@dataclass
class _Draft:
    """What has been read so far; the first word on a matter counts."""

    identity: dict[str, str] = field(default_factory=dict)
    title: str = ""
    sensors: list[tuple[str, bool]] = field(default_factory=list)
    ops: dict[str, Operation] = field(default_factory=dict)
    limits: dict[str, float] = field(default_factory=dict)
    bounds: tuple[tuple[float, float], ...] = ()
    frame: str = ""  # of the bounds
    unread: list[str] = field(default_factory=list)
    denied: dict[str, str] = field(default_factory=dict)  # op → the heading that says that it is not supported
    odd: list[str] = field(default_factory=list)  # what looks like an action, below a heading that does not offer it
    heading: str = ""  # the one that the present line is below
    indent: int = -1  # of the list that the present line is in; deeper ones belong to its items


def read(data: bytes) -> Profile:
    """The profile of a document. What it does not say stays empty; a limit line that cannot be read is in `unread`.

    Actions count only below a heading that says that they are supported; what else looks like one is in `odd`.
    Lengths in metres, masses in kilograms, whatever unit the line prints. A volume, a speed and the like are figures
    of the body, not limits of an order, and are left alone. Raises `BadInput` only for bytes that are no text.
    """
    lines = prose.split(prose.decode(data, PATH).removeprefix(prose.BOM))
    mask = prose.visible(lines, list(prose.fences(lines)))
    draft = _Draft()
    heads = {head.line: head for head in (*prose.headings(lines, mask), *_underlined(lines, mask))}
    in_table = {i: t for t in markdown_tables.find(lines, mask) for i in range(t.first, t.end)}
    section, ignored_level = "", 0
    fenced = _fenced(lines)
    for number, line in enumerate(lines):
        if not mask[number]:
            if number in fenced:
                _resembling(draft, line)
            continue
        if number in heads:
            head = heads[number]
            _resembling(draft, head.text)
            if head.level == 1 and not draft.title:
                draft.title = _title(head.text)
            draft.indent = -1
            if ignored_level and head.level > ignored_level:
                if section in ("actions", "sensors"):  # a label had begun a list, which ends here as anywhere
                    section, draft.heading = "unknown", prose.one_line(head.text, 80)
                continue
            draft.heading = prose.one_line(head.text, 80)
            opened = sections.section(head.text)
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
            section = _line(draft, line.rstrip("\r\n"), section, _over_a_list(lines, number))
    return _profile(draft)


def _fenced(lines: Sequence[str]) -> frozenset[int]:
    """The lines inside fences. What is in a comment is switched off on purpose."""
    blocks = [block for block in prose.fences(lines) if block.info != "<!--"]
    return frozenset(number for block in blocks for number in range(block.first, block.last + 1))


def _resembling(draft: _Draft, line: str) -> None:
    """A line that no limit is read from: named where it looks like one."""
    pair = prose.parse_label(prose.bullet(line) or line)
    if pair is None or "`" in pair[0]:
        return
    key = _key(pair[0])
    if _near(key) and _QUANTITY.match(pair[1].strip("`* ")):
        draft.unread.append(prose.one_line(line.strip(), 200))


def _near(key: str) -> bool:
    """Whether a label is that of a limit but for one letter, or two that changed places."""
    if key in _LIMIT:
        return True
    size, letters = len(key), Counter(key)
    return any(
        abs(size - length) < 2 and (letters - word).total() < 2 and (word - letters).total() < 2
        for length, word in _SIZES
    )


def _key(label: str) -> str:
    """A label as it is compared, without the characters that have no width."""
    return sections.key(label if label.isascii() else _NO_WIDTH.sub("", label))


def _underlined(lines: Sequence[str], mask: Sequence[int]) -> Iterator[prose.Heading]:
    """Headings that are underlined with = or -."""
    for number in range(len(lines) - 1):
        under, text = lines[number + 1].strip(), lines[number].strip()
        ruled = mask[number] and mask[number + 1] and len(under) > 1 and set(under) in ({"="}, {"-"})
        worded = text and "|" not in text and prose.bullet(lines[number]) is None and text[0] not in ">#"
        if ruled and worded:
            yield prose.Heading(number, 1 if under[0] == "=" else 2, text)


def _over_a_list(lines: Sequence[str], number: int) -> bool:
    """Whether the line is alone, and what comes next is a list or a table: then it is their label."""
    if number and lines[number - 1].strip() and not lines[number - 1].lstrip().startswith(("#", "|")):
        return False
    below = next((line for line in lines[number + 1 :] if line.strip()), "")
    return prose.bullet(below) is not None or below.lstrip().startswith("|")


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
    if item is None:
        goes_on = 0 <= draft.indent < indent and not over_a_list  # the text of an item, on its next line
        text = "" if goes_on else sections.label(line) or (sections.caption(line) if over_a_list else "")
        if text and (opened := _opened(text, section)) != section:
            draft.heading, draft.indent = prose.one_line(text, 80), -1
            return opened
        if line.lstrip().startswith(">"):
            for part in re.split(r"[|｜]", line.lstrip("> \t")):
                _identity(draft, prose.parse_label(part))
        _resembling(draft, line.lstrip("> \t"))
        return section
    if section in ("sensors", "actions", "unsupported", "unknown"):
        _resembling(draft, line)
    if section == "sensors":
        _sensor(draft, item)
    elif section in ("actions", "unsupported", "unknown"):
        return _action(draft, item, section, indent)
    elif section != "other":
        pair = prose.parse_label(item)
        if section == "" and item.startswith("`"):
            _action(draft, item, section, indent)
        elif pair and not _limit(draft, *pair, item, strict=section == "limits") and section in ("", "identity"):
            _identity(draft, pair)
        elif pair is None and section == "limits":
            draft.unread.append(prose.one_line(item, 200))
    return section


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
        draft.sensors.append((tick[2].strip(), tick[1] != " "))
        return
    pair = prose.parse_label(item)
    text = f"{pair[0]}: {pair[1]}".rstrip(": ") if pair else item.strip("`* ")
    if text.casefold() not in _NONE:
        draft.sensors.append((text, not (pair and pair[1].casefold().rstrip(".") in _ABSENT)))


def _limit(draft: _Draft, label: str, value: str, whole: str, *, strict: bool, unit: str = "") -> bool:
    """Whether the line was a limit; `strict`: it is among limits, so what cannot be understood is unread."""
    key = _key(label)
    axis = re.fullmatch(r"(?:workspace )?([xyz])(?: range| bounds| axis)?|(?:工作空间)?([xyz])(?:轴)?(?:范围)?", key)
    name, kind = ("bounds", "length") if axis and strict else _LIMIT.get(key, ("", ""))
    if not name:
        near = _near(key) and (strict or _QUANTITY.match(value))
        if near or (strict and not _FIGURES.search(key)):
            draft.unread.append(prose.one_line(whole, 200))
        return False
    default = unit or quantities.bracketed_unit(label, kind)
    if name == "bounds":
        text = f"{axis[1] or axis[2]}: {value}" if axis else value
        bounds = quantities.box(text, default)
        if not bounds and not (strict or "bounds" in key):
            return False  # "Workspace: `/home/…`" in an identity is a place, no limit
        draft.bounds = _merge(draft.bounds, bounds)
        draft.frame = draft.frame or next((frame for frame, words in _FRAMES.items() if words.search(whole)), "")
        read = bool(bounds)
    else:
        amount = quantities.amount(value, kind, default)
        read = amount is not None
        if amount is not None:
            # Two lines on one limit: the stricter one holds.
            stricter = max if name.startswith("min") else min
            draft.limits[name] = stricter(amount, draft.limits.get(name, amount))
    if not read:
        draft.unread.append(prose.one_line(whole, 200))
    return True


def _merge(
    old: tuple[tuple[float, float], ...], new: tuple[tuple[float, float], ...]
) -> tuple[tuple[float, float], ...]:
    free = (-float("inf"), float("inf"))
    size = max(len(old), len(new))
    pairs = zip((*old, *[free] * size), (*new, *[free] * size), strict=False)
    return tuple((max(a[0], b[0]), min(a[1], b[1])) for a, b in list(pairs)[:size])


def _open_bounds(bounds: Sequence[tuple[float, float]]) -> Iterator[str]:
    """Bounds that say nothing of an axis of the floor, or allow nothing, as a limit that cannot be read."""
    for axis, (low, high) in zip("xyz", bounds, strict=False):
        if not low < high or (axis != "z" and low == -high == -float("inf")):
            yield f"Workspace Bounds: {axis} ∈ [{low:g}, {high:g}]"


def _table(draft: _Draft, table: markdown_tables.MarkdownTable, section: str) -> None:
    columns = table.named(_COLUMNS)
    limits = table.named(_LIMIT_COLUMNS)
    if section == "limits" or (section not in ("actions", "other") and "value" in limits and "label" in limits):
        label, value, unit = limits.get("label", 0), limits.get("value", 1), limits.get("unit")
        for row in table.rows:
            if max(label, value) < len(row) and any(row):
                whole = f"{row[label]}: {row[value]}" + (f" {row[unit]}" if unit is not None else "")
                if not _limit(
                    draft,
                    row[label].strip("`* "),
                    row[value],
                    whole,
                    strict=section == "limits",
                    unit=row[unit] if unit is not None else "",
                ):
                    _identity(draft, (row[label], row[value]))
    elif section == "sensors":
        for row in table.rows:
            draft.sensors.append((row[0].strip("`* "), not any(c.casefold() in _ABSENT or c == "❌" for c in row[1:])))
    elif section != "other" and "name" in columns and ("parameters" in columns or section in _LISTS):
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
    elif section in ("", "identity") and len(table.header) == 2:
        for row in (table.header, *table.rows):
            _identity(draft, (row[0], row[1]))


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
        max_reach=draft.limits.get("max_reach"),
        max_payload=draft.limits.get("max_payload"),
        max_grip_width=draft.limits.get("max_grip_width"),
        max_frame_age=draft.limits.get("max_frame_age"),
        min_grip_width=draft.limits.get("min_grip_width"),
        bounds=draft.bounds,
        bounds_frame=draft.frame,
        perception=perception,
        unread=(
            *draft.unread,
            *_open_bounds(draft.bounds),
            *((f"Perception: {said}",) if said and not perception else ()),
        ),
        odd=(
            *dict.fromkeys(draft.odd),
            *(f"{name}, supported and not: {draft.denied[name]}" for name in draft.ops if name in draft.denied),
        ),
    )
