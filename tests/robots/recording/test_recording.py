"""Demonstrations of the table: episodes that can be learned from, in files that a kill leaves whole."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="the simulation is an extra")
pytest.importorskip("pyarrow", reason="recording is an extra")

from worldfs.base.errors import BadInput, Busy, Exists
from worldfs.plugins.recording import lerobot_dataset, stats, video
from worldfs.plugins.recording.dataset import Dataset
from worldfs.plugins.recording.episode import Episode, RecordingRecipe, columns, record_episode, slices, start_episode
from worldfs.plugins.recording.episode_queue import encode_episode
from worldfs.plugins.recording.recording import record
from worldfs.robots.mujoco.env import TabletopEnv

ROOT = Path(__file__).resolve().parents[3]
QUIET = RecordingRecipe(noise=0.0)


def made_up(trial: int, length: int = 5, cameras: tuple[str, ...] = ()) -> Episode:
    rng = np.random.default_rng(trial)
    table = {name: rng.normal(size=(length, len(names))).astype(np.float32) for name, names in columns().items()}
    shots = {camera: rng.integers(0, 255, (length, 32, 48, 3)).astype(np.uint8) for camera in cameras}
    return Episode(trial, "pick", trial, f"words {trial % 3}", True, table, shots)


def rows_of(path: Path, name: str) -> list:
    files = sorted((path / name).glob("*/*.parquet"))
    return [row for file in files for row in lerobot_dataset.table_of(file.read_bytes()).to_pylist()]


def whole(path: Path) -> int:
    """How many episodes a dataset holds, once everything in it agrees."""
    info = json.loads((path / lerobot_dataset.INFO).read_text())
    frames, episodes = rows_of(path, "data"), rows_of(path, "meta/episodes")
    assert info["codebase_version"] == "v3.0" and info["total_frames"] == len(frames)
    assert info["total_episodes"] == len(episodes) and info["splits"] == {"train": f"0:{len(episodes)}"}
    assert [row["index"] for row in frames] == list(range(len(frames)))
    tasks = lerobot_dataset.tasks_of((path / lerobot_dataset.TASKS).read_bytes())
    assert info["total_tasks"] == len(tasks)
    for i, row in enumerate(episodes):
        assert row["episode_index"] == i
        own = frames[row["dataset_from_index"] : row["dataset_to_index"]]
        assert {frame["episode_index"] for frame in own} == {i} and len(own) == row["length"]
        assert [tasks[frame["task_index"]] for frame in own] == row["tasks"] * row["length"]
        assert (path / f"flight/chunk-000/episode-{i:03d}.mcap").read_bytes().startswith(b"\x89MCAP0")
    kept = json.loads((path / lerobot_dataset.STATS).read_text())
    state = np.array([frame["observation.state"] for frame in frames])
    assert np.allclose(kept["observation.state"]["mean"], state.mean(0), atol=1e-6)
    assert np.allclose(kept["observation.state"]["std"], state.std(0), atol=1e-6)
    assert kept["index"]["max"] == [len(frames) - 1] and kept["action"]["count"] == [len(frames)]
    return len(episodes)


@pytest.fixture(scope="module")
def env():
    made = TabletopEnv(objects=3)
    yield made
    made.close()


@pytest.mark.slice(3)
@pytest.mark.parametrize("family", ["pick", "place", "stack"])
def test_the_expert_manages_most_worlds_and_says_itself_when_it_does_not(env, family):
    recipe = RecordingRecipe((family,), seed=9000)
    ends = [record_episode(env, recipe, trial) for trial in range(5)]
    assert sum(end.success for end in ends) >= 4
    assert {type(end.success) for end in ends} == {bool}
    for end in ends:
        assert all(len(values) == end.length for values in end.columns.values())


def test_observation_and_action_are_pairs_that_really_happened(env):
    """The recorded actions, played in the same world, lead through the recorded observations."""
    recipe = RecordingRecipe(("pick",), seed=5, noise=0.003)
    made = record_episode(env, recipe, 0)
    assert made.success and not np.array_equal(made.columns["action"], made.columns["intended_action"])
    record_episode(env, replace(recipe, seed=6), 0)  # something else in between
    assert start_episode(env, recipe, 0, np.random.default_rng([made.seed, 7])) == made.words
    where = slices(columns()["observation.state"])["ee_pose"]
    for row, action in zip(made.columns["observation.state"], made.columns["action"], strict=True):
        assert np.allclose(env.observation()["ee_pose"], row[where], atol=2e-3)
        env.act(action, "ee_delta")
    assert env.done()


@pytest.mark.proof
def test_a_recording_goes_on_where_it_ended_and_is_the_same_as_one_in_one_go(tmp_path):
    def go(name: str, *counts: int) -> Path:
        for count in counts:
            tally = record(tmp_path / name, RecordingRecipe(objects=1), count, threading.Event(), lambda tally: None)
            assert tally.episodes == count
        return tmp_path / name

    one, two = go("one", 5), go("two", 2, 3, 5)
    assert whole(one) == whole(two) == 5
    assert rows_of(one, "data") == rows_of(two, "data")
    assert not list(tmp_path.glob(".*"))  # nothing is left beside


@pytest.mark.parametrize(("episodes", "editions"), [(7, 7), pytest.param(30, 16, marks=pytest.mark.proof)])
def test_an_edition_is_whole_at_every_size_and_rewrites_little(tmp_path, monkeypatch, episodes, editions):
    monkeypatch.setattr(lerobot_dataset, "DATA_MB", 0.01)  # files fill up, so that there are several
    path, made = tmp_path / "set", [0]
    dataset = Dataset(path, QUIET)
    for trial in range(episodes):
        dataset.add(encode_episode(made_up(trial), 20))
        if json.loads((path / lerobot_dataset.INFO).read_text())["total_episodes"] != made[-1]:
            made.append(whole(path))
    dataset.commit()
    dataset.close()
    assert whole(path) == episodes and len(made) - 1 <= editions and made[-1] >= 0.8 * episodes
    assert len(list((path / "data").glob("*/*.parquet"))) > 2


def test_films_follow_each_other_in_one_file_and_each_frame_is_found_at_its_time(tmp_path):
    av = pytest.importorskip("av", reason="recording is an extra")
    path = tmp_path / "set"
    shots = [np.full((4, 32, 48, 3), 40 * (i + 1), np.uint8) for i in range(5)]
    for i, shot in enumerate(shots):  # each run opens it anew
        dataset = Dataset(path, RecordingRecipe(noise=0.0, cameras=("front",)))
        episode = replace(made_up(i, 4), pictures={"front": shot})
        dataset.add(encode_episode(episode, 20))
        dataset.commit()
        dataset.close()
    assert whole(path) == 5
    key = "videos/observation.images.front"
    with av.open(str(path / key / "chunk-000/file-000.mp4")) as box:
        frames = [(float(frame.time), frame.to_ndarray(format="rgb24").mean()) for frame in box.decode(video=0)]
    assert len(frames) == 20
    for row in rows_of(path, "meta/episodes"):
        assert row[f"{key}/to_timestamp"] - row[f"{key}/from_timestamp"] == pytest.approx(0.2)
        for step in range(4):
            at = row[f"{key}/from_timestamp"] + step / 20
            time_, mean = min(frames, key=lambda frame: abs(frame[0] - at))
            assert abs(time_ - at) < 1e-4 and abs(mean - 40 * (row["episode_index"] + 1)) < 6
    info = json.loads((path / lerobot_dataset.INFO).read_text())["features"]["observation.images.front"]
    assert info["shape"] == [32, 48, 3] and info["info"]["video.codec"] == "h264"


def test_the_flight_log_is_read_by_its_own_reader(tmp_path):
    from mcap.reader import make_reader

    episode = made_up(3, 7)
    reader = make_reader(io.BytesIO(encode_episode(episode, 20).flight))
    said = [(schema, channel.topic, message.log_time, json.loads(message.data))
            for schema, channel, message in reader.iter_messages()]  # fmt: skip
    assert [topic for _, topic, _, _ in said].count("/action") == 7 and len(said) == 15
    jsonschema = pytest.importorskip("jsonschema")
    for schema, _, _, message in said:
        assert schema.encoding == "jsonschema"
        jsonschema.validate(message, json.loads(schema.data))
    actions = [(at, message["action"]) for _, topic, at, message in said if topic == "/action"]
    assert [at for at, _ in actions] == [i * 50_000_000 for i in range(7)]
    assert np.allclose([action for _, action in actions], episode.columns["action"], atol=1e-6)
    assert said[-1][3] == {"words": "words 0", "family": "pick", "seed": 3, "success": True}


def test_the_flight_log_shows_the_world_in_messages_that_viewers_know(tmp_path):
    """Read by MCAP's own reader, decoded by nothing but the schemas in the file."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    from mcap.reader import make_reader
    from PIL import Image

    env = TabletopEnv(objects=1)
    episode = record_episode(env, QUIET, 0)
    env.close()
    shots = np.zeros((episode.length, 24, 32, 3), np.uint8) + np.array([200, 30, 30], np.uint8)
    flight = encode_episode(replace(episode, pictures={"front": shots}), 20).flight
    said: dict[str, list] = {}
    for schema, channel, message in make_reader(io.BytesIO(flight)).iter_messages():
        if schema.encoding == "protobuf":
            pool = descriptor_pool.DescriptorPool()
            for file in descriptor_pb2.FileDescriptorSet.FromString(schema.data).file:
                pool.Add(file)
            kind = message_factory.GetMessageClass(pool.FindMessageTypeByName(schema.name))
            said.setdefault(channel.topic, []).append((schema.name, message.log_time, kind.FromString(message.data)))
    assert {topic: found[0][0] for topic, found in said.items()} == {
        "/scene": "foxglove.SceneUpdate",
        "/tf": "foxglove.FrameTransforms",
        "/camera/front": "foxglove.CompressedImage",
    }  # fmt: skip
    entities = said["/scene"][0][2].entities
    cans = [
        one for one in entities if {"kind": "object"}.items() <= {pair.key: pair.value for pair in one.metadata}.items()
    ]
    assert len(cans) == 1 and cans[0].frame_locked
    assert len(said["/tf"]) == len(said["/camera/front"]) == episode.length
    frames = {one.child_frame_id for one in said["/tf"][0][2].transforms}
    assert {one.frame_id for one in entities} <= frames
    index = int(cans[0].frame_id.partition(":")[0])
    for (_, at, message), poses in zip(said["/tf"], episode.poses, strict=True):
        found = next(one for one in message.transforms if one.child_frame_id == cans[0].frame_id)
        assert at == found.timestamp.seconds * 10**9 + found.timestamp.nanos
        there = (found.translation.x, found.translation.y, found.translation.z)
        turned = (found.rotation.w, found.rotation.x, found.rotation.y, found.rotation.z)
        assert np.allclose((*there, *turned), poses[index], atol=1e-6)
    assert episode.poses[-1][index][2] > episode.poses[0][index][2] + 0.02  # it was picked up
    picture = said["/camera/front"][3][2]
    shown = Image.open(io.BytesIO(picture.data))
    assert (shown.format, shown.size, picture.format) == ("JPEG", (32, 24), "jpeg")
    assert np.allclose(shown.getpixel((9, 9)), (200, 30, 30), atol=6)


@pytest.mark.parametrize("kills", [(1,), pytest.param((1, 3), marks=pytest.mark.proof)], ids=["one", "two"])
def test_a_killed_recording_leaves_whole_episodes_and_loses_none_that_it_told_of(tmp_path, kills):
    path = tmp_path / "set"
    command = [sys.executable, "-m", "worldfs.interfaces.cli.main", "--json", "record", str(path), "--objects", "1"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    for told in kills:
        process = subprocess.Popen([*command, "--episodes", "50"], stdout=subprocess.PIPE, env=environ, text=True)
        assert process.stdout is not None
        episodes = 0
        while episodes < told:
            episodes = json.loads(process.stdout.readline())["episodes"]
        time.sleep(0.03 * told)
        process.send_signal(signal.SIGKILL)
        for line in process.stdout.read().splitlines(keepends=True):  # it told of more before it died
            episodes = json.loads(line)["episodes"] if line.endswith("\n") else episodes
        process.wait()
        process.stdout.close()
        assert 0 < whole(path) <= episodes + 1
        dataset = Dataset(path, RecordingRecipe(objects=1))
        assert dataset.episodes >= episodes
        dataset.close()
    last = whole(path) + 1
    done = subprocess.run([*command, "--episodes", str(last)], capture_output=True, env=environ, text=True, check=True)
    assert whole(path) == last and json.loads(done.stdout.splitlines()[-1])["event"] == "result"
    assert len({row["worldfs/trial"] for row in rows_of(path, "meta/episodes")}) == last


NEVER = 1_000


def crashed(path, moment, stop_at):
    """A new edition whose commit ends before the step `stop_at` of this kind; how many there were."""

    class Crash(BaseException):
        pass

    dataset = Dataset(path, QUIET)
    before, count = dataset.episodes, [0]

    def boundary(name, place):
        count[0] += name == moment
        if count[0] > stop_at:
            raise Crash

    dataset._waiting.add(encode_episode(made_up(dataset.next_trial), 20))
    dataset._pending.append(dataset.next_trial)
    dataset._root.disk.boundary = boundary
    with suppress(Crash):
        dataset.commit()
    dataset._root.disk.boundary = None
    os.close(dataset._lock)
    assert whole(path) in (before, before + 1)
    again = Dataset(path, QUIET)
    assert again.episodes == before + 1  # what was durable is not lost, and not there twice
    again.commit()
    again.close()
    assert whole(path) == before + 1
    return count[0]


@pytest.mark.slice(8, 4)
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.proof)], ids=["first and last", "every"])
@pytest.mark.parametrize("moment", ["create", "link", "rename", "fsync_dir"])
def test_a_crash_at_any_step_of_a_new_edition_leaves_the_old_or_the_new_one(tmp_path, moment, every):
    """The last steps are those with which two editions change places. Each step in `make proof`."""
    path = tmp_path / "set"
    dataset = Dataset(path, QUIET)
    for trial in range(2):
        dataset.add(encode_episode(made_up(trial), 20))
    dataset.commit()
    dataset.close()
    steps = crashed(path, moment, NEVER)
    assert steps > 1
    for stop_at in range(steps) if every else (0, steps - 1):
        assert crashed(path, moment, stop_at) == stop_at + 1


def test_where_directories_cannot_change_places_the_old_one_is_put_back_after_a_crash(tmp_path):
    path = tmp_path / "set"
    dataset = Dataset(path, QUIET)
    dataset._root.disk.exchange = False
    for trial in range(3):
        dataset.add(encode_episode(made_up(trial), 20))
    dataset.commit()
    assert whole(path) == 3
    (tmp_path / ".set.recording").mkdir(exist_ok=True)
    path.rename(tmp_path / ".set.recording/old")
    os.close(dataset._lock)
    dataset = Dataset(path, QUIET)
    assert whole(path) == 3
    dataset.close()


def test_two_recordings_of_one_place_and_other_recipes_are_refused(tmp_path):
    path = tmp_path / "set"
    dataset = Dataset(path, QUIET)
    with pytest.raises(Busy):
        Dataset(path, QUIET)
    dataset.add(encode_episode(made_up(0), 20))
    dataset.close()
    with pytest.raises(BadInput, match="same options"):
        Dataset(path, RecordingRecipe(noise=0.004))
    (tmp_path / "else").mkdir()
    (tmp_path / "else/thesis.tex").write_text("years of work")
    with pytest.raises(Exists):
        Dataset(tmp_path / "else", QUIET)
    assert (tmp_path / "else/thesis.tex").exists()


@pytest.mark.parametrize(
    "odd", [{"families": ("juggle",)}, {"families": ()}, {"cameras": ("back",)}, {"objects": 0}, {"noise": 1.0},
            {"seed": -1}],
)  # fmt: skip
def test_a_recipe_that_cannot_be_is_refused(odd):
    with pytest.raises(BadInput):
        RecordingRecipe(**odd)


def test_statistics_folded_are_those_of_all(tmp_path):
    rng = np.random.default_rng(1)
    parts = [rng.normal(i, 1 + i, (n, 3)) for i, n in enumerate((5, 1, 30))]
    folded: dict = {}
    for part in parts:
        folded = stats.merge_stats(folded, {"x": stats.column_stats(part)})
    every = np.concatenate(parts)
    assert np.allclose(folded["x"]["mean"], every.mean(0)) and np.allclose(folded["x"]["std"], every.std(0))
    assert np.array_equal(folded["x"]["max"], every.max(0)) and folded["x"]["count"] == [36]


def test_a_joined_film_of_one_is_that_film():
    film = video.encode(np.zeros((3, 32, 48, 3), np.uint8), 20)
    assert video.join([film], 20) == film and video.size(film) == (32, 48)
