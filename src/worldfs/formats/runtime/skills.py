"""SKILLS.md: the catalogue of skills (000 "SKILLS.md", workspace §3.7); r2 calls it SKILLRUNTIME.md."""

from __future__ import annotations

from worldfs.base.messages import coded
from worldfs.base.model import Json, PolicySpec, Skill
from worldfs.formats.sheet_members import EntryRefused

from .entry_registry import EntryRegistry, flag, mapping, rest, text, texts
from .entry_registry import read as read_registry

FILE = "SKILLS.md"
CATEGORIES = ("manipulation", "navigation", "perception")
_CATEGORIES_OF_R1 = ("vla", "builtin", "hybrid", "debug")
_POLICIES = ("http", "openvla", "openpi", "gr00t", "lerobot", "local", "leader")
_KNOWN = frozenset((
    "id", "runtime", "category", "runtime_kind", "description", "supported_target_types", "supported_target_kinds",
    "policy_client", "policy", "requires",
))  # fmt: skip
_TYPES = {"simulation": "sim", "game": "sim", "debug": "sim", "real": "real_robot"}


def read(data: bytes) -> EntryRegistry[Skill]:
    """Raises `BadInput` for a text that cannot be read; a bad entry is a finding, and the others are there."""
    return read_registry(data, FILE, ("skills", "skillruntimes"), _dialect, _skill)


def _dialect(value: Json) -> str:
    return "r2" if "skillruntimes" in value else "r1" if "version" in value else "page"


def _skill(item: Json, at: str, dialect: str) -> Skill:
    runtime = text(item, "runtime", at)
    if not runtime:
        raise EntryRefused(f"{at}/runtime", coded("file.runtime_name"), item.get("runtime", coded("file.nothing")))
    category = text(item, "category", at)
    if category and category.lower() not in (*CATEGORIES, *(() if dialect == "page" else _CATEGORIES_OF_R1)):
        raise EntryRefused(
            f"{at}/category", coded("common.one_of", names=[*CATEGORIES]), category, coded("file.name_or_leave")
        )
    requires = mapping(item, "requires", at)
    types = texts(item, "supported_target_types", at) + texts(item, "supported_target_kinds", at)
    return Skill(
        id=str(item["id"]),
        runtime=runtime,
        category=category.lower() or text(item, "runtime_kind", at),
        description=text(item, "description", at),
        target_types=tuple(dict.fromkeys(_TYPES.get(word, word) for word in types)),
        policy=_policy(item, at),
        sensors=texts(requires, "sensors", f"{at}/requires"),
        environment_outputs=texts(requires, "environment_outputs", f"{at}/requires"),
        strict=flag(requires, "strict_environment_contract", f"{at}/requires", False),
        extra=rest(item, _KNOWN) | ({"requires": requires} if requires else {}),
    )


def _policy(item: Json, at: str) -> PolicySpec | None:
    """The page has a mapping; r1 a word, its endpoint elsewhere; r2 a mapping whose `policy_client` is that word."""
    where, value = f"{at}/policy_client", item.get("policy_client")
    if value is None and item.get("policy") is not None:
        where, value = f"{at}/policy", item["policy"]
        if isinstance(value, dict) and "type" not in value:
            value = {**value, "type": value.get("policy_client")}
    if value is None:
        return None
    if isinstance(value, str):
        value = {"type": value}
    if not isinstance(value, dict):
        raise EntryRefused(where, coded("file.mapping_with", names="`type`"), value)
    kind = text(value, "type", where)
    if not kind:
        raise EntryRefused(
            f"{where}/type", coded("common.one_of", names=[*_POLICIES]), value.get("type", coded("file.nothing"))
        )
    return PolicySpec(
        kind.lower(), text(value, "endpoint", where), text(value, "checkpoint", where),
        rest(value, frozenset(("type", "endpoint", "checkpoint", "policy_client"))),
    )  # fmt: skip
