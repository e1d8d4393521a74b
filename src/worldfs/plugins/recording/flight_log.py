"""The flight log of one episode: MCAP with messages in JSON, each topic with its schema (mcap.dev/spec)."""

from __future__ import annotations

import io
import json
from typing import Final

from .episode import Episode, columns

_NUMBERS: Final = {"type": "array", "items": {"type": "number"}}
SCHEMAS: Final[dict[str, tuple[str, dict[str, object]]]] = {  # topic → name of the schema, its members
    "/episode": ("worldfs.Episode", {"words": {"type": "string"}, "family": {"type": "string"},
                                     "seed": {"type": "integer"}, "success": {"type": "boolean"}}),
    "/observation": ("worldfs.Observation", {"state": _NUMBERS, "environment_state": _NUMBERS}),
    "/action": ("worldfs.Action", {"action": _NUMBERS, "intended": _NUMBERS}),
}  # fmt: skip


def encode_flight_log(episode: Episode, fps: int) -> bytes:
    """The whole file. Times are simulated nanoseconds since the episode began."""
    from mcap.writer import Writer

    out = io.BytesIO()
    writer = Writer(out)
    writer.start(profile="", library="worldfs")
    channels = {}
    for topic, (name, members) in SCHEMAS.items():
        schema = {"title": name, "type": "object", "properties": members, "required": sorted(members)}
        number = writer.register_schema(name=name, encoding="jsonschema", data=json.dumps(schema).encode())
        channels[topic] = writer.register_channel(
            topic=topic, message_encoding="json", schema_id=number, metadata=_meaning(topic)
        )

    def say(topic: str, frame: int, message: dict[str, object]) -> None:
        at = round(frame * 1e9 / fps)
        writer.add_message(
            channel_id=channels[topic], log_time=at, publish_time=at, sequence=frame, data=json.dumps(message).encode()
        )

    rows = {name: values.astype(float).round(6).tolist() for name, values in episode.columns.items()}
    for frame in range(episode.length):
        state, world = rows["observation.state"][frame], rows["observation.environment_state"][frame]
        say("/observation", frame, {"state": state, "environment_state": world})
        say("/action", frame, {"action": rows["action"][frame], "intended": rows["intended_action"][frame]})
    about = {"words": episode.words, "family": episode.family, "seed": episode.seed, "success": episode.success}
    say("/episode", episode.length, about)
    writer.finish()  # type: ignore[no-untyped-call]  # mcap's own
    return out.getvalue()


def _meaning(topic: str) -> dict[str, str]:
    names = columns()
    meant = {"/observation": ("observation.state", "observation.environment_state"), "/action": ("action",)}
    return {name: " ".join(names[name]) for name in meant.get(topic, ())}
