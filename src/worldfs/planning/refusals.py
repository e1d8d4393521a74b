"""The messages of every refusal, in both languages: one row per reason (workspace §5: code, field, expected, found,
fix)."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import NamedTuple

from worldfs.base.model import Finding
from worldfs.formats.prose import one_line

LIMITS = "EMBODIED.md Physical Constraints"


class RefusalReason(NamedTuple):
    code: str
    field: str
    en: tuple[str, str, str]  # expected, found, fix
    zh: tuple[str, str, str]
    warning: bool = False


REASONS: dict[str, RefusalReason] = {
    "no_profile": RefusalReason(
        "OP_NOT_IN_PROFILE",
        "EMBODIED.md",
        ("a profile that lists {op}", "no profile for {node}", "put the body's profile into EMBODIED.md"),
        ("列出 {op} 的能力画像", "{node} 没有能力画像", "将机器人的能力画像写入 EMBODIED.md"),
    ),
    "op": RefusalReason(
        "OP_NOT_IN_PROFILE",
        "EMBODIED.md Supported Actions",
        ("one of {ops}", "{op}", "use {close}, or give the order to a body that lists {op}"),
        ("{ops} 之一", "{op}", "改用 {close}，或交给支持 {op} 的机器人"),
    ),
    "missing": RefusalReason(
        "SCHEMA_VALIDATION",
        "ACTION.md params / {name}",
        ("{expected}", "nothing", "give {name} in params"),
        ("{expected}", "缺少该参数", "在 params 中给出 {name}"),
    ),
    "type": RefusalReason(
        "SCHEMA_VALIDATION",
        "ACTION.md params / {name}",
        ("{expected}", "{value}", "write {name} as EMBODIED.md lists it"),
        ("{expected}", "{value}", "按 EMBODIED.md 的写法给出 {name}"),
    ),
    "extra": RefusalReason(
        "SCHEMA_VALIDATION",
        "ACTION.md params / {name}",
        ("only {names}", "{name}, which the profile does not list", "drop it: it will be passed on unread"),
        ("仅 {names}", "{name} 不在能力画像中", "删除该参数：它将被原样传递"),
        warning=True,
    ),
    "finite": RefusalReason(
        "SCHEMA_VALIDATION",
        "ACTION.md params / {name}",
        ("finite numbers of at most {limit:g}", "{value}", "send the pose again with real numbers"),
        ("不超过 {limit:g} 的有限数值", "{value}", "用有效数值重新给出位姿"),
    ),
    "sensor": RefusalReason(
        "REQUIRED_SENSOR_MISSING",
        "EMBODIED.md Sensors",
        ("{sensor}, which {op} needs", "{present}", "add the sensor and tick it, or choose an action that needs none"),
        ("{op} 需要的 {sensor}", "{present}", "安装该传感器并勾选，或选择不需要它的动作"),
    ),
    "unknown": RefusalReason(
        "UNKNOWN_OBJECT",
        "ENVIRONMENT.md objects",
        ("one of {known}", "{value}", "use an id that ENVIRONMENT.md lists{hint}"),
        ("{known} 之一", "{value}", "使用 ENVIRONMENT.md 中已有的 id{hint}"),
    ),
    "unseen": RefusalReason(
        "UNKNOWN_OBJECT",
        "ENVIRONMENT.md objects",
        ("a world that lists it", "{value}, and an empty scene", "the body will have to find it by looking"),
        ("场景中已列出", "{value}，而场景为空", "机器人需自行搜索"),
        warning=True,
    ),
    "furniture": RefusalReason(
        "CRITIC_REFUSED",
        "ENVIRONMENT.md objects / {id}",
        ("an object that can be handled", "{id} is furniture ({kind})", "pick up one of the objects instead"),
        ("可抓取的物体", "{id} 是家具({kind})", "改为抓取物体"),
    ),
    "place": RefusalReason(
        "SCHEMA_VALIDATION",
        "ENVIRONMENT.md objects / {id} / position",
        ("three finite numbers", "{value}", "observe the scene again before acting"),
        ("三个有限数值", "{value}", "先重新观测场景再行动"),
    ),
    "bounds": RefusalReason(
        "PROFILE_LIMIT",
        f"{LIMITS} / Workspace Bounds",
        (
            "{axis} in [{low:g}, {high:g}] m",
            "{what} at {point}: {axis} = {value:g} m",
            "choose a point inside the workspace",
        ),
        ("{axis} 在 [{low:g}, {high:g}] m 内", "{what} 位于 {point}:{axis} = {value:g} m", "选择工作空间内的位置"),
    ),
    "reach": RefusalReason(
        "PROFILE_LIMIT",
        f"{LIMITS} / Max Reach",
        (
            "at most {limit:g} m (max reach)",
            "{what} at position {point} is {distance:.3f} m from the base of {node} at {base}: out of reach",
            "bring it within {limit:g} m of the base, or move the robot closer",
        ),
        (
            "不超过 {limit:g} m (最大臂展)",
            "{what} 的位置 {point} 距 {node} 底座 {base} {distance:.3f} m，超出最大臂展",
            "将其移到距底座 {limit:g} m 以内，或将机器人移近",
        ),
    ),
    "reach_unchecked": RefusalReason(
        "REACH_UNCHECKED",
        f"{LIMITS} / Max Reach",
        (
            "the base pose of {node} in ENVIRONMENT.md",
            "no such robot in the scene",
            "start its driver, which reports the pose",
        ),
        ("ENVIRONMENT.md 中 {node} 的底座位姿", "场景中没有该机器人", "启动其驱动以上报位姿"),
        warning=True,
    ),
    "payload": RefusalReason(
        "PROFILE_LIMIT",
        f"{LIMITS} / Max Payload",
        (
            "at most {limit:g} kg (max payload)",
            "{id} weighs {mass:g} kg: too heavy",
            "leave it, or give it to a stronger body",
        ),
        ("不超过 {limit:g} kg (最大负载)", "{id} 重 {mass:g} kg，超出最大负载", "放弃该物体，或交给负载更大的机器人"),
    ),
    "mass_unknown": RefusalReason(
        "MASS_UNKNOWN",
        f"{LIMITS} / Max Payload",
        ("a mass of at most {limit:g} kg", "{id} has no mass in ENVIRONMENT.md", "add its mass to be sure"),
        ("质量不超过 {limit:g} kg", "ENVIRONMENT.md 中 {id} 没有质量", "补充其质量"),
        warning=True,
    ),
    "grip": RefusalReason(
        "PROFILE_LIMIT",
        f"{LIMITS} / Max Grip Width",
        (
            "at most {limit:g} m (max grip width)",
            "{id} is {width:.3g} m wide where the gripper would close: too wide",
            "leave it, or use a body with a wider gripper",
        ),
        (
            "不超过 {limit:g} m (最大抓取宽度)",
            "{id} 的抓取宽度为 {width:.3g} m，过宽",
            "放弃该物体，或使用夹爪更宽的机器人",
        ),
    ),
    "width_unknown": RefusalReason(
        "WIDTH_UNKNOWN",
        f"{LIMITS} / Max Grip Width",
        ("a graspable width of at most {limit:g} m", "{id} has no size in ENVIRONMENT.md", "add its size to be sure"),
        ("抓取宽度不超过 {limit:g} m", "ENVIRONMENT.md 中 {id} 没有尺寸", "补充其尺寸"),
        warning=True,
    ),
    "holding": RefusalReason(
        "HOLDING",
        "ENVIRONMENT.md robots / {node} / holding",
        ("an empty gripper", "{node} is holding {held}", "place {held} first"),
        ("夹爪为空", "{node} 正拿着 {held}", "先放下 {held}"),
    ),
    "empty": RefusalReason(
        "NOT_HOLDING",
        "ENVIRONMENT.md robots / {node} / holding",
        ("an object in the gripper", "{node} is holding nothing", "pick_up the object first"),
        ("夹爪中有物体", "{node} 未拿任何物体", "先执行 pick_up"),
    ),
    "other_held": RefusalReason(
        "HOLDING",
        "ENVIRONMENT.md robots / {node} / holding",
        ("{value} in the gripper", "{node} is holding {held}", "place {held}, or pick up {value} first"),
        ("夹爪中是 {value}", "{node} 正拿着 {held}", "放下 {held}，或先抓取 {value}"),
    ),
    "unread": RefusalReason(
        "LIMIT_UNREAD",
        LIMITS,
        ("a number with a unit", "{line}", "write it as `- **Max Reach**: 0.855 m`; until then it is not checked"),
        ("带单位的数值", "{line}", "写成 `- **最大臂展**: 0.855 m` 的形式;在此之前不作检查"),
        warning=True,
    ),
}


def finding(key: str, job: str, language: str = "en", **words: object) -> Finding:
    """The finding of one reason, its blanks filled. Values are data: they are put in, never read as a template."""
    reason = REASONS[key]
    texts = reason.zh if language.startswith("zh") else reason.en
    expected, found, fix = (one_line(text.format(**words), 600) for text in texts)
    return Finding(reason.code, one_line(reason.field.format(**words), 200), expected, found, fix, job, reason.warning)


def display_value(value: object) -> str:
    """A value for a message: short, on one line, control characters escaped."""
    if isinstance(value, str):
        return one_line(value, 80) or '""'
    form = reprlib.Repr()
    form.maxlist, form.maxtuple, form.maxlevel, form.maxstring, form.maxother = 8, 8, 3, 60, 60
    try:
        return one_line(form.repr(value), 120)
    except ValueError:  # an integer of thousands of digits has no text in Python
        return f"a {type(value).__name__} too long to print"


def vector(values: Sequence[float]) -> str:
    """A position, to the millimetre: `[1.2, 0.75, 0.8]`."""
    return "[" + ", ".join(f"{round(float(v), 3) + 0.0:g}" for v in values[:3]) + "]"


def short_list(items: Sequence[str], language: str = "en") -> str:
    """A list that stays short."""
    shown = ", ".join(one_line(item, 60) for item in items[:8])
    more = len(items) - 8
    if more > 0:
        shown += f" … (+{more})"
    return shown or ("无" if language.startswith("zh") else "nothing")
