"""What a node can be asked to do: an operation, its parameters, and what it does to the world."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .base import Json

# A type as profiles print it → the type of JSON Schema. A parameter without one has the type of its name.
_TYPES: dict[str, str] = {
    **dict.fromkeys(("string", "str", "text", "字符串"), "string"),
    **dict.fromkeys(("float", "number", "double", "num", "数值", "浮点数"), "number"),
    **dict.fromkeys(("int", "integer", "整数"), "integer"),
    **dict.fromkeys(("bool", "boolean", "布尔"), "boolean"),
    **dict.fromkeys(("list", "array", "列表"), "array"),
    **dict.fromkeys(("object", "dict", "map"), "object"),
}
_TYPE_OF_NAME: dict[str, str] = {
    **dict.fromkeys(("target_pose", "pose"), "[x,y,z,r,p,y]"),
    "target_position": "[x,y,z]",
    **dict.fromkeys(("x", "y", "z", "r", "p", "roll", "pitch", "yaw", "theta", "speed", "distance", "angle"), "number"),
    **dict.fromkeys(("object_id", "target_label", "nl_task", "container_id", "support_id", "robot_id"), "string"),
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A named value that an operation takes."""

    name: str
    type: str = ""  # as the profile prints it: "string", "[x,y,z]"
    optional: bool = False
    unit: str = ""  # of its numbers; "": metres and radians

    @property
    def kind(self) -> str:
        """The printed type in lower case, else that of its name; "" for any value."""
        return self.type.strip().casefold() or _TYPE_OF_NAME.get(self.name, "")

    def json_schema(self) -> Json:
        """The JSON Schema of a value. A pose may be given as a position: 3 numbers in place of 6."""
        printed = re.search(r"\(([^()]+)\)", self.type)  # a unit that this package does not convert
        unit = self.unit or (printed[1] if printed else "")
        return {**self._type(), **({"description": f"in {unit}"} if unit else {})}

    def _type(self) -> Json:
        if not self.kind.startswith("["):
            word = re.match(r"[a-z一-鿿]*", self.kind)
            named = _TYPES.get(word[0] if word else "", "")
            return {"type": named, **({"minLength": 1} if named == "string" else {})} if named else {}
        inside = [part.strip() for part in self.kind.strip("[] ").split(",")]
        if len(inside) == 1 or "..." in self.kind or "…" in self.kind:
            return {"type": "array"}
        numbers: Json = {"type": "array", "items": {"type": "number"}}
        some = [{"minItems": size, "maxItems": size} for size in ((3, 6) if len(inside) == 6 else (len(inside),))]
        return {**numbers, "anyOf": some} if len(some) > 1 else {**numbers, **some[0]}


@dataclass(frozen=True, slots=True)
class Operation:
    """One verb of a node: a row of Supported Actions, a skill of a target.

    What an observer needs to know before it asks for it: whether it may move something, whether another operation can
    put everything back, whether it may be started again after a crash, and what shows that it is done.
    """

    name: str
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    sensors: tuple[str, ...] = ()  # what the body must sense for it
    moves: bool = True
    undoable: bool = False
    repeatable: bool = False  # only what has no effect on the world
    # (member of the robot's own entry, parameter): what the entry shows once it is done, by which it is measured
    shows: tuple[tuple[str, str], ...] = ()

    def json_schema(self) -> Json:
        """The JSON Schema of its parameters, as models want a tool's."""
        return {
            "type": "object",
            "properties": {item.name: item.json_schema() for item in self.parameters},
            "required": [item.name for item in self.parameters if not item.optional],
        }
