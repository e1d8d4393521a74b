"""The flight log of one episode: MCAP, each topic with its schema (mcap.dev/spec).

What was observed and done is JSON; the scene, its motion and its pictures are Foxglove's messages (Protocol Buffers).
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Final, NamedTuple, get_type_hints

from .episode import Episode, columns
from .foxglove_messages import FoxgloveMessage, file_set
from .scene_log import frame_names, picture, scene_update, transforms

if TYPE_CHECKING:
    from mcap.writer import Writer


class EpisodeMessage(NamedTuple):
    """The end of an episode."""

    words: str
    family: str
    seed: int
    success: bool


class ObservationMessage(NamedTuple):
    state: list[float]
    environment_state: list[float]


class ActionMessage(NamedTuple):
    action: list[float]
    intended: list[float]


FlightMessage = EpisodeMessage | ObservationMessage | ActionMessage
SCHEMAS: Final[dict[type[FlightMessage], tuple[str, str]]] = {  # its topic and the name of its schema
    EpisodeMessage: ("/episode", "worldfs.Episode"),
    ObservationMessage: ("/observation", "worldfs.Observation"),
    ActionMessage: ("/action", "worldfs.Action"),
}
_TYPES: Final[dict[object, dict[str, object]]] = {
    str: {"type": "string"}, int: {"type": "integer"}, bool: {"type": "boolean"},
    list[float]: {"type": "array", "items": {"type": "number"}},
}  # fmt: skip


def message_schema(kind: type[FlightMessage]) -> dict[str, object]:
    """The JSON Schema of a message, from its fields."""
    members = {name: _TYPES[found] for name, found in get_type_hints(kind).items()}
    return {"title": SCHEMAS[kind][1], "type": "object", "properties": members, "required": sorted(members)}


def encode_flight_log(episode: Episode, fps: int) -> bytes:
    """The whole file. Times are simulated nanoseconds since the episode began."""
    from mcap.writer import Writer

    out = io.BytesIO()
    writer = Writer(out)
    writer.start(profile="", library="worldfs")
    channels = {}
    for kind, (topic, name) in SCHEMAS.items():
        data = json.dumps(message_schema(kind)).encode()
        number = writer.register_schema(name=name, encoding="jsonschema", data=data)
        channels[topic] = writer.register_channel(
            topic=topic, message_encoding="json", schema_id=number, metadata=_meaning(topic)
        )

    def say(frame: int, message: FlightMessage) -> None:
        at, channel = round(frame * 1e9 / fps), channels[SCHEMAS[type(message)][0]]
        data = json.dumps(message._asdict()).encode()
        writer.add_message(channel_id=channel, log_time=at, publish_time=at, sequence=frame, data=data)

    rows = {name: values.astype(float).round(6).tolist() for name, values in episode.columns.items()}
    for frame in range(episode.length):
        state, world = rows["observation.state"][frame], rows["observation.environment_state"][frame]
        say(frame, ObservationMessage(state, world))
        say(frame, ActionMessage(rows["action"][frame], rows["intended_action"][frame]))
    _say_scene(writer, episode, fps)
    say(episode.length, EpisodeMessage(episode.words, episode.family, episode.seed, episode.success))
    writer.finish()  # type: ignore[no-untyped-call]  # mcap's own
    return out.getvalue()


def _say_scene(writer: Writer, episode: Episode, fps: int) -> None:
    """`/scene` once, `/tf` and the pictures of `/camera/NAME` in each frame."""
    schemas: dict[str, int] = {}
    channels: dict[str, int] = {}

    def say(topic: str, frame: int, message: FoxgloveMessage) -> None:
        name = message.DESCRIPTOR.full_name
        if name not in schemas:
            schemas[name] = writer.register_schema(name=name, encoding="protobuf", data=file_set())
        if topic not in channels:
            channels[topic] = writer.register_channel(topic=topic, message_encoding="protobuf", schema_id=schemas[name])
        at, data = round(frame * 1e9 / fps), message.SerializeToString()
        writer.add_message(channel_id=channels[topic], log_time=at, publish_time=at, sequence=frame, data=data)

    if episode.geometry:
        say("/scene", 0, scene_update(episode.geometry, 0))
        names = frame_names(episode.geometry)
        for frame, poses in enumerate(episode.poses):
            say("/tf", frame, transforms(names, poses, round(frame * 1e9 / fps)))
    for camera, frames in episode.pictures.items():
        for frame, rgb in enumerate(frames):
            say(f"/camera/{camera}", frame, picture(camera, rgb, round(frame * 1e9 / fps)))


def _meaning(topic: str) -> dict[str, str]:
    names = columns()
    meant = {"/observation": ("observation.state", "observation.environment_state"), "/action": ("action",)}
    return {name: " ".join(names[name]) for name in meant.get(topic, ())}
