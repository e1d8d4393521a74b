"""Quantities as people print them in a profile, read into SI units, or not at all."""

from __future__ import annotations

import math
import re

UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("m", "meter", "meters", "metre", "metres", "米"), ("length", 1.0)),
    **dict.fromkeys(("cm", "centimeter", "centimeters", "centimetre", "centimetres", "厘米", "公分"), ("length", 0.01)),
    **dict.fromkeys(("mm", "millimeter", "millimeters", "millimetre", "millimetres", "毫米"), ("length", 0.001)),
    **dict.fromkeys(("kg", "kilogram", "kilograms", "千克", "公斤"), ("mass", 1.0)),
    **dict.fromkeys(("g", "gram", "grams", "克"), ("mass", 0.001)),
    **dict.fromkeys(("s", "sec", "second", "seconds", "秒"), ("time", 1.0)),
    **dict.fromkeys(("ms", "millisecond", "milliseconds", "毫秒"), ("time", 0.001)),
    **dict.fromkeys(("rad", "radian", "radians", "弧度"), ("angle", 1.0)),
    **dict.fromkeys(("deg", "degree", "degrees", "°", "度"), ("angle", math.pi / 180)),
    "m/s": ("speed", 1.0),
    "cm/s": ("speed", 0.01),
    "mm/s": ("speed", 0.001),
    "km/h": ("speed", 1 / 3.6),
}
_NUMBER = r"(?>[-+−]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?)"  # atomic: "1.5e-1" is never a range from 1.5
_UNIT = r"(?:[^\W\d_]|°)+(?:/[A-Za-z]+)?[²³]?"  # no CJK range: with IGNORECASE it takes 60 ms to compile
_RANGE = r"\s*+(?:[-–—~～]|\.{2,3}|…|to|至|到)\s*+"
_AMOUNT = re.compile(
    rf"(?:[~～≈≤<=约]|about|approx\.?|ca\.?|up to|max\.?|at most|最大|不超过|小于|至多|\s)*"
    rf"(?:(?P<low>{_NUMBER})\s*(?P<lowunit>{_UNIT})?{_RANGE})?"
    rf"(?P<high>{_NUMBER})(?![\d,.])\s*(?:[（(\[]?\s*(?P<unit>{_UNIT}))?(?P<rest>.*)",
    re.IGNORECASE,
)
_BRACKET = re.compile(r"[（(\[]([^（()）\[\]]+)[)）\]]")
_AXIS = re.compile(
    rf"(?<![A-Za-z])(?P<axis>[xyz])(?![A-Za-z])\s*+(?:(?:轴|范围|-?axis|range)\s*+)?(?:(?:∈|[:：=]|in\b|from\b|从)\s*+)?"
    rf"(?:[\[(（]\s*+)?(?P<low>{_NUMBER})\s*+(?P<lowunit>{_UNIT})?(?:\s*+[,，]\s*+|{_RANGE})(?P<high>{_NUMBER})"
    rf"\s*+(?:[\])）]\s*+)?(?P<unit>{_UNIT})?",
    re.IGNORECASE,
)
_CHAIN = re.compile(
    rf"(?P<low>{_NUMBER})\s*+(?:(?P<lowunit>{_UNIT})\s*+)?(?:≤|<=|<)\s*+(?P<axis>[xyz])\s*+(?:≤|<=|<)"
    rf"\s*+(?P<high>{_NUMBER})\s*+(?P<unit>{_UNIT})?",
    re.IGNORECASE,
)
_FRAMES = frozenset(("world", "base", "robot", "frame", "in", "relative", "safe", "approx", "世界坐标系", "基座坐标系"))
_LEFT = re.compile(r"\d|(?<![A-Za-z])(?:[xyz]|nan|inf(?:inity)?)(?![A-Za-z])", re.IGNORECASE)  # of ranges, unread
_BOX = re.compile(rf"\[\s*({_NUMBER})\s*[,，]\s*({_NUMBER})\s*\]")


_USUAL = re.compile(  # words beside a quantity that change nothing of it
    r"(?<![^\W\d_])(?:from|the|of|its|to|a|an|in|at|and|base|robot|arm|flange|wrist|tool|tip|cent(?:er|re)|world|map"
    r"|global|frame|coordinates?|relative|safe|axis|axes|range|full|extension|incl(?:\.|uding)?|gripper|total|max(?:imum)?"
    r"|min(?:imum)?|approx|about|up|most|nominal|rated|(?:centi|milli)?met(?:er|re)s?|[cm]?m|k?g|(?:kilo)?grams?|seconds?"
    r"|m?s|[cmk]?m/[sh])(?![^\W\d_])|以内|之内|基座|机器人|本体|世界|地图|坐标系?|[厘毫]?米|公?千?[克斤]|公分|毫?秒|不超过|小于"
    r"|最大|至多|约|\^\d|[²³]",
    re.IGNORECASE,
)
LONGEST = 500  # characters of a quantity; a longer text is none


def _shown(text: str) -> str:
    return text if len(text) <= LONGEST else ""


def unit(text: str, kind: str) -> float | None:
    """How many SI units one of `text` is, if it is a unit of `kind` (length, mass, angle, time); None else."""
    known = UNITS.get(text.strip().casefold().rstrip("."))
    return known[1] if known and known[0] == kind else None


def bracketed_unit(text: str, kind: str) -> str:
    """The unit that is in brackets somewhere in `text` ("Max Reach (mm)", "… (centimetres)"); "" without one."""
    words = [word for inside in _BRACKET.findall(_shown(text)) for word in re.split(r"[\s,;，；]+", inside)]
    return next((word for word in words if unit(word, kind) is not None), "")


def amount(text: str, kind: str, default: str = "") -> float | None:
    """One upper limit in SI units: `~0.855 m`, `≤ 3 kg`, `855 mm from base`, `0–80 mm` (its upper end).

    `default` is the unit if the text has none; "" means SI (workspace D34). None: unreadable, which is not "none".
    """
    match = _AMOUNT.fullmatch(_shown(text).strip().strip("`*_").strip())
    if not match:
        return None
    if match["lowunit"] and unit(match["lowunit"], kind) is None:
        return None
    word = match["unit"] or match["lowunit"] or ""
    factor = unit(word, kind) if word else None
    if factor is None:
        if word and not _is_prose(word, match):
            return None
        factor = unit(default, kind) if default else 1.0
    value = float(match["high"].replace("−", "-")) * (factor or 1.0)
    return value if math.isfinite(value) and value > 0 else None


def _is_prose(word: str, match: re.Match[str]) -> bool:
    # "0.855 from base": a word that no instrument measures in. Anything that could be a unit is not guessed at.
    return word.casefold() in ("from", "at", "incl", "including", "total", "per", "of", "max", "maximum", "以内")


def box(text: str, default: str = "") -> tuple[tuple[float, float], ...]:
    """Workspace bounds in metres: x, y[, z] ranges; an axis that is not bounded is (-inf, inf). () if unreadable.

    Forms: `x ∈ [-50, 50], y ∈ … (centimetres)`, `x: -0.5..0.5 m`, `-0.5 ≤ x ≤ 0.5`, `[-0.3, 0.8] × [-0.6, 0.6]`.
    """
    text = _shown(text)
    stated = bracketed_unit(text, "length")
    inside = [re.split(r"[\s,;，；]+", words.strip())[0] for words in _BRACKET.findall(text)]
    if not stated and any(word.isalpha() and word.casefold() not in _FRAMES for word in inside):
        return ()  # "(inches)": a unit we do not know is not taken for metres
    ranges: dict[str, tuple[float, float]] = {}
    found = [*_AXIS.finditer(text), *_CHAIN.finditer(text)]
    trailing = next((u for m in reversed(found) if (u := m["unit"] or m["lowunit"])), "")
    if not found:
        plain = _BOX.findall(text)
        tail = re.search(rf"\]\s*(?:\^\d)?\s*({_UNIT})\s*\W*$", text)
        trailing = tail[1] if tail and unit(tail[1], "length") is not None else ""
        factor = unit(stated or trailing or default or "m", "length")
        if not 2 <= len(plain) <= 3 or factor is None:
            return ()
        ranges = {axis: _ordered(low, high, factor) for axis, (low, high) in zip("xyz", plain, strict=False)}
    for match in found:
        factor = unit(match["unit"] or match["lowunit"] or stated or trailing or default or "m", "length")
        if factor is None:
            return ()
        low, high = _ordered(match["low"], match["high"], factor)
        earlier = ranges.get(match["axis"].lower(), (low, high))
        if not low < high:
            return ()
        ranges[match["axis"].lower()] = max(low, earlier[0]), min(high, earlier[1])  # the stricter of two
    if found and _LEFT.search(_CHAIN.sub("", _AXIS.sub("", text))):
        return ()  # a range that was not understood, as of "y ∈ [-0,2, 0,2]"
    if not ranges or any(not low < high for low, high in ranges.values()):
        return ()
    free = (-math.inf, math.inf)
    axes = "xyz" if "z" in ranges else "xy"
    return tuple(ranges.get(axis, free) for axis in axes)


def _ordered(low: str, high: str, factor: float) -> tuple[float, float]:
    return float(low.replace("−", "-")) * factor, float(high.replace("−", "-")) * factor


def says_more(text: str, kind: str) -> bool:
    """Whether a text from which an `amount`, or a `box` (of kind "box"), was read says more than that: a second one,
    a condition, an exception."""
    text = _shown(text)
    if kind == "box":
        left = _BOX.sub(" ", _CHAIN.sub(" ", _AXIS.sub(" ", text)))
    else:
        match = _AMOUNT.fullmatch(text.strip().strip("`*_").strip())
        left = match["rest"] if match else text
    return any(sign.isalnum() for sign in _USUAL.sub(" ", left))
