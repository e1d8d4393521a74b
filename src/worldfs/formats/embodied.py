"""EMBODIED.md: a body's abilities, read from either profile dialect (000 EMBODIED.md; reference §3.8)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from worldfs.ground.model import Op, Parameter, Profile

from . import prose, quantities, tables

PATH = "EMBODIED.md"

SECTIONS = {
    "identity": ("identity", "robot identity", "overview", "身份", "基本信息", "标识", "机器人信息", "身份信息"),
    "sensors": ("sensors", "sensor", "sensing", "传感器", "感知"),
    "actions": (
        *("supported actions", "actions", "supported action types", "action types", "available actions"),
        *("支持的动作", "支持动作", "动作", "可用动作", "动作列表"),
    ),
    "limits": (
        *("physical constraints", "constraints", "physical limits", "limits", "joint limits", "workspace limits"),
        *("物理约束", "物理限制", "约束", "限制", "物理参数"),
    ),
    "other": (
        *("not supported", "unsupported", "unsupported actions", "connection", "runtime protocol", "notes"),
        *("driver keys", "driver configuration", "不支持", "不支持的动作", "连接", "运行协议", "备注", "说明"),
    ),
}
_SECTION = {word: name for name, spellings in SECTIONS.items() for word in spellings}
IDENTITY = {
    "model": ("robot model", "model", "机器人型号", "型号"),
    "dof": ("dof", "degrees of freedom", "自由度"),
    "end_effector": ("end effector", "end-effector", "gripper", "末端执行器", "夹爪"),
    "driver": ("driver", "驱动", "驱动器"),
    "name": ("name", "名称", "机器人名称"),
    "type": ("type", "类型"),
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
    "bounds": (
        "length",
        (
            *("workspace bounds", "workspace", "workspace box", "workspace limits", "workspace range", "bounds"),
            *("工作空间", "工作空间范围", "工作范围", "工作空间边界"),
        ),
    ),
}
_LIMIT = {word: (name, kind) for name, (kind, spellings) in LIMITS.items() for word in spellings}
# Figures of the body that no order carries, so no order can break them; named so that they are not called unread.
_FIGURES = re.compile(
    r"volume|speed|velocity|acceleration|force|torque|repeatability|accuracy|frequency|control rate|weight|height"
    r"|battery|dof|degrees of freedom|joint|体积|速度|加速度|力|精度|频率|重量|高度|自由度|关节|续航",
    re.IGNORECASE,
)
_COLUMNS = {
    "name": ("action type", "action", "actions", "name", "tool", "command", "动作", "动作类型", "名称", "操作"),
    "description": ("description", "meaning", "notes", "描述", "说明", "含义"),
    "parameters": ("parameters", "params", "parameter", "arguments", "args", "参数"),
}
_LIMIT_COLUMNS = {
    "label": ("parameter", "limit", "constraint", "property", "item", "name", "参数", "项目", "约束", "限制", "名称"),
    "value": ("value", "values", "limit", "range", "数值", "值", "范围", "取值"),
    "unit": ("unit", "units", "单位"),
}
_NONE = frozenset(("", "—", "–", "-", "none", "n/a", "no parameters", "无", "没有"))
_ABSENT = frozenset(("none", "no", "absent", "not present", "n/a", "not installed", "—", "无", "没有", "未安装"))
_TICK = re.compile(r"\[([ xX✓✔])\]\s*(.*)")
_NAME = re.compile(r"[A-Za-z_][\w.\-]*")
_BULLET_OP = re.compile(
    r"(?:`(?P<code>[^`]+)`|\*\*`?(?P<bold>[^*`]+)`?\*\*|(?P<plain>[A-Za-z_]\w*))\s*(?P<args>\([^)]*\))?\s*[:：—–-]*\s*(?P<text>.*)"
)
_PARAMETERS = re.compile(r"(?:parameters|params|参数)\s*[:：]\s*(.*)", re.IGNORECASE)


@dataclass
class _Draft:
    """What has been read so far; the first word on a matter counts."""

    identity: dict[str, str] = field(default_factory=dict)
    title: str = ""
    sensors: list[tuple[str, bool]] = field(default_factory=list)
    ops: dict[str, Op] = field(default_factory=dict)
    limits: dict[str, float] = field(default_factory=dict)
    bounds: tuple[tuple[float, float], ...] = ()
    unread: list[str] = field(default_factory=list)


def read(data: bytes) -> Profile:
    """The profile of a document. What it does not say stays empty; a limit line that cannot be read is in `unread`.

    Lengths in metres, masses in kilograms, whatever unit the line prints. A volume, a speed and the like are figures
    of the body, not limits of an order, and are left alone. Raises `BadInput` only for bytes that are no text.
    """
    lines = prose.split(prose.decode(data, PATH).removeprefix(prose.BOM))
    mask = prose.visible(lines, list(prose.fences(lines)))
    draft = _Draft()
    heads = {head.line: head for head in prose.headings(lines, mask)}
    in_table = {i: t for t in tables.find(lines, mask) for i in range(t.first, t.end)}
    section, ignored_level = "", 0
    for number, line in enumerate(lines):
        if not mask[number]:
            continue
        if number in heads:
            head = heads[number]
            if head.level == 1 and not draft.title:
                draft.title = _title(head.text)
            if ignored_level and head.level > ignored_level:
                continue
            section = _SECTION.get(_key(head.text), "" if head.level <= 2 else section)
            ignored_level = head.level if section == "other" else 0
        elif number in in_table:
            if in_table[number].first == number:
                _table(draft, in_table[number], section)
        elif section != "other" or _plain_section(line):
            section = _line(draft, line.rstrip("\r\n"), section)
    return _profile(draft)


def _key(text: str) -> str:
    bare = re.sub(r"[(（].*?[)）]", "", text)
    return " ".join(re.sub(r"[*_`:：#]+", " ", bare).split()).casefold()


def _title(text: str) -> str:
    for dash in ("—", "–", " - ", "：", ":"):
        if dash in text:
            return text.split(dash, 1)[1].strip()
    return ""


def _plain_section(line: str) -> str:
    bare = line.strip().strip("*").strip()
    return _SECTION.get(_key(bare), "") if bare.endswith((":", "：")) and prose.bullet(line) is None else ""


def _line(draft: _Draft, line: str, section: str) -> str:
    """Take in one line of text; the answer is the section that the next one stands in."""
    if opened := _plain_section(line):
        return opened
    item = prose.bullet(line)
    if item is None:
        if line.lstrip().startswith(">"):
            for part in re.split(r"[|｜]", line.lstrip("> \t")):
                _identity(draft, prose.labelled(part))
        return section
    if section == "sensors":
        _sensor(draft, item)
    elif section == "actions":
        _bullet_op(draft, item)
    else:
        pair = prose.labelled(item)
        if pair and not _limit(draft, *pair, item, strict=section == "limits") and section in ("", "identity"):
            _identity(draft, pair)
        elif pair is None and section == "limits":
            draft.unread.append(prose.flat(item, 200))
    return section


def _identity(draft: _Draft, pair: tuple[str, str] | None) -> None:
    if pair and (name := _IDENTITY.get(_key(pair[0]))) and pair[1]:
        draft.identity.setdefault(name, pair[1].strip("`* "))


def _sensor(draft: _Draft, item: str) -> None:
    tick = _TICK.match(item)
    if tick:
        draft.sensors.append((tick[2].strip(), tick[1] != " "))
        return
    pair = prose.labelled(item)
    text = f"{pair[0]}: {pair[1]}".rstrip(": ") if pair else item.strip("`* ")
    if text.casefold() not in _NONE:
        draft.sensors.append((text, not (pair and pair[1].casefold().rstrip(".") in _ABSENT)))


def _limit(draft: _Draft, label: str, value: str, whole: str, *, strict: bool, unit: str = "") -> bool:
    """Whether the line was a limit; `strict`: it stands among limits, so what cannot be understood is unread."""
    key = _key(label)
    axis = re.fullmatch(r"(?:workspace )?([xyz])(?: range| bounds| axis)?|(?:工作空间)?([xyz])(?:轴)?(?:范围)?", key)
    name, kind = ("bounds", "length") if axis and strict else _LIMIT.get(key, ("", ""))
    if not name:
        if strict and not _FIGURES.search(key):
            draft.unread.append(prose.flat(whole, 200))
        return False
    default = unit or quantities.bracketed_unit(label, kind)
    if name == "bounds":
        text = f"{axis[1] or axis[2]}: {value}" if axis else value
        bounds = quantities.box(text, default)
        if not bounds and not (strict or "bounds" in key):
            return False  # "Workspace: `/home/…`" in an identity is a place, no limit
        draft.bounds = _merge(draft.bounds, bounds)
        read = bool(bounds)
    else:
        amount = quantities.amount(value, kind, default)
        read = amount is not None
        if amount is not None:
            # Two lines on one limit: the stricter one holds.
            draft.limits[name] = min(amount, draft.limits.get(name, amount))
    if not read:
        draft.unread.append(prose.flat(whole, 200))
    return True


def _merge(
    old: tuple[tuple[float, float], ...], new: tuple[tuple[float, float], ...]
) -> tuple[tuple[float, float], ...]:
    free = (-float("inf"), float("inf"))
    size = max(len(old), len(new))
    pairs = zip((*old, *[free] * size), (*new, *[free] * size), strict=False)
    return tuple((max(a[0], b[0]), min(a[1], b[1])) for a, b in list(pairs)[:size])


def _table(draft: _Draft, table: tables.Table, section: str) -> None:
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
    elif section != "other" and "name" in columns and (section == "actions" or "parameters" in columns):
        for row in table.rows:
            text = row[columns["description"]] if "description" in columns else ""
            given = parameters(row[columns["parameters"]]) if "parameters" in columns else ()
            for name in names(row[columns["name"]]):
                draft.ops.setdefault(name, Op(name, text, given))
    elif section in ("", "identity") and len(table.header) == 2:
        for row in (table.header, *table.rows):
            _identity(draft, (row[0], row[1]))


def names(cell: str) -> list[str]:
    """The op names of a cell: back-ticked ones if there are any, else split at `/`, `,` and `、`."""
    found = re.findall(r"`([^`]+)`", cell) or re.split(r"[/,，、]|<br\s*/?>", cell)
    return [match[0] for name in found if (match := _NAME.fullmatch(re.sub(r"\(.*\)", "", name).strip(" *")))]


def _bullet_op(draft: _Draft, item: str) -> None:
    match = _BULLET_OP.fullmatch(item)
    if not match:
        return
    name = (match["code"] or match["bold"] or match["plain"]).strip()
    call = re.fullmatch(r"([A-Za-z_][\w.\-]*)\s*\((.*)\)", name)
    bare = call[1] if call else name
    if not _NAME.fullmatch(bare) or (match["plain"] and not match["text"] and " " in item.strip()):
        return
    stated = _PARAMETERS.search(match["text"])
    given = parameters(call[2] if call else (match["args"] or "").strip("()") or (stated[1] if stated else ""))
    draft.ops.setdefault(bare, Op(bare, match["text"], given))


def parameters(cell: str) -> tuple[Parameter, ...]:
    """A Parameters cell: `name: type`, `` `a, b, c?` ``, `(optional)`, a unit in brackets, `—` for none.

    A unit after the last name of a list without types (`` `x, y, z` (cm) ``) is the unit of the whole list.
    """
    text = re.sub(r"<br\s*/?>", ", ", cell).replace("`", "").strip()
    if text.casefold() in _NONE:
        return ()
    found = [parameter for part in _parts(text) if (parameter := _parameter(part))]
    if len(found) > 1 and found[-1].unit and not any(p.unit or p.type for p in found[:-1]):
        found = [Parameter(p.name, p.type, p.optional, found[-1].unit) for p in found]
    return tuple(found)


def _parts(text: str) -> list[str]:
    parts, depth, begin = [], 0, 0
    for i, sign in enumerate(text):
        if sign in "[({（":
            depth += 1
        elif sign in "])}）":
            depth = max(0, depth - 1)
        elif sign in ",，;；、" and depth == 0:
            parts.append(text[begin:i])
            begin = i + 1
    return [*parts, text[begin:]]


def _parameter(part: str) -> Parameter | None:
    optional = bool(re.search(r"[(（\[]\s*(optional|可选|opt\.?)\s*[)）\]]|=|可选", part, re.IGNORECASE))
    bare = re.sub(r"[(（\[]\s*(optional|可选|opt\.?)\s*[)）\]]", "", part, flags=re.IGNORECASE).strip()
    word = quantities.bracketed_unit(bare, "length") or quantities.bracketed_unit(bare, "mass")
    word = word or quantities.bracketed_unit(bare, "angle")
    if word:
        bare = re.sub(rf"[(（\[]\s*{re.escape(word)}\s*[)）\]]", "", bare).strip()
    name, _, kind = bare.replace("：", ":").partition(":")
    name, _, default = name.partition("=")
    kind = kind.partition("=")[0] if ":" in bare else kind
    name = name.strip()
    if name.endswith("?") or kind.strip().endswith("?"):
        optional, name, kind = True, name.rstrip("? "), kind.strip().rstrip("?")
    if not _NAME.fullmatch(name):
        return None
    return Parameter(name, kind.strip(), optional or bool(default), word.casefold())


def _profile(draft: _Draft) -> Profile:
    identity = draft.identity
    dof = re.search(r"\d+", identity.get("dof", ""))
    return Profile(
        name=identity.get("name") or draft.title or identity.get("model", ""),
        model=identity.get("model", ""),
        dof=int(dof[0]) if dof and len(dof[0]) < 6 else None,
        end_effector=identity.get("end_effector", ""),
        driver=identity.get("driver", ""),
        type=identity.get("type", ""),
        sensors=tuple(draft.sensors),
        ops=tuple(draft.ops.values()),
        max_reach=draft.limits.get("max_reach"),
        max_payload=draft.limits.get("max_payload"),
        max_grip_width=draft.limits.get("max_grip_width"),
        bounds=draft.bounds,
        unread=tuple(draft.unread),
    )
