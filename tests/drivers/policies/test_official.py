"""openpi's and json-numpy's own packages against ours, bit for bit; fetched once, and skipped where they cannot be."""

import json
import subprocess
import sys
import types
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import Request, urlopen

import numpy as np
import pytest

from worldfs.drivers.policies.msgpack_arrays import pack, unpack
from worldfs.drivers.skills.shown import padded
from worldfs.testing.waiting import PATIENCE_S

from .peers import PICTURE, POSE, WORDS, Plain

ROOT = Path(__file__).resolve().parents[3]
# websockets 17.1 warns of the way in which openpi-client 0.1.2 connects
pytestmark = pytest.mark.filterwarnings("ignore:connect\\(\\) must be used as a context manager:DeprecationWarning")
WANTED = ("openpi-client==0.1.2", "json-numpy==2.1.1")


@pytest.fixture(scope="module")
def official():
    """Both packages, without what they would pull in, in build/: they are no part of our locks."""
    place = ROOT / "build" / "oracles"
    if not place.is_dir():
        (ROOT / "build").mkdir(exist_ok=True)
        with TemporaryDirectory(dir=ROOT / "build") as fresh:  # whole or not at all: others may be fetching it too
            quick = ("--retries", "0", "--timeout", "10")
            command = (sys.executable, "-m", "pip", "install", "-q", *quick, "--no-deps", "--target", fresh, *WANTED)
            try:
                subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
            except subprocess.SubprocessError as error:
                why = (getattr(error, "stderr", "") or str(error)).strip()[-200:]
                pytest.skip(f"pip cannot fetch {', '.join(WANTED)}: {why}")
            with suppress(OSError):
                Path(fresh).rename(place)
            Path(fresh).mkdir(exist_ok=True)
    if "typing_extensions" not in sys.modules:
        try:
            import typing_extensions  # noqa: F401
        except ModuleNotFoundError:  # it wants one decorator of it
            sys.modules["typing_extensions"] = types.SimpleNamespace(override=lambda function: function)
    sys.path.insert(0, str(place))
    try:
        from json_numpy import dumps, loads
        from openpi_client import image_tools, msgpack_numpy, websocket_client_policy

        yield types.SimpleNamespace(
            packed=msgpack_numpy, policy=websocket_client_policy, images=image_tools, dumps=dumps, loads=loads
        )
    finally:
        sys.path.remove(str(place))


def test_openpis_own_client_talks_to_our_server_bit_for_bit(serve, official):
    policy = Plain(np.random.default_rng(3).normal(size=(10, 7)).astype(np.float32))
    server = serve(policy, token="k-1")
    theirs = official.policy.WebsocketClientPolicy("127.0.0.1", server.port, api_key="k-1")
    assert theirs.get_server_metadata()["name"] == "plain"
    shown = {"observation/image": PICTURE, "observation/state": POSE, "n": np.float32(0.1), "prompt": WORDS}
    answer = theirs.infer(shown)
    assert answer["actions"].tobytes() == policy.actions.tobytes() and answer["actions"].dtype == np.float32
    assert answer["server_timing"]["infer_ms"] >= 0
    seen, words = policy.shown[0]
    assert words == WORDS and seen["observation/image"].tobytes() == PICTURE.tobytes()
    assert seen["observation/state"].tobytes() == POSE.tobytes() and seen["n"] == np.float32(0.1)
    theirs._ws.close()


def test_openpis_own_client_is_told_of_a_mistake_by_a_text(serve, official):
    theirs = official.policy.WebsocketClientPolicy("127.0.0.1", serve(Plain(fails=KeyError("state"))).port)
    with pytest.raises(RuntimeError, match="KeyError: 'state'"):
        theirs.infer({"prompt": WORDS})
    theirs._ws.close()


def test_our_bytes_are_openpis_bytes(official):
    for value in (
        {"a": np.arange(6, dtype="<i8").reshape(2, 3), "b": np.float32(1.5), "c": "x", "d": [np.bool_(True), None]},
        {"image": PICTURE[:, ::2], "nested": {"state": POSE.astype(np.float16)}},
    ):
        assert pack(value) == official.packed.packb(value)
        np.testing.assert_equal(unpack(official.packed.packb(value)), official.packed.unpackb(pack(value)))


@pytest.mark.parametrize("shape", [(480, 640), (240, 320), (300, 200), (224, 224), (7, 900)])
def test_pictures_are_resized_as_openpi_does(official, shape):
    picture = np.random.default_rng(5).integers(0, 255, (*shape, 3), np.uint8)
    np.testing.assert_array_equal(padded(picture, 224, 224), official.images.resize_with_pad(picture, 224, 224))


@pytest.mark.parametrize("twice", [False, True])
def test_json_numpys_own_words_are_understood_by_our_act(serve, official, twice):
    policy = Plain(np.full((1, 7), 1.0))
    payload = {"image": PICTURE, "instruction": WORDS}
    text = official.dumps({"encoded": official.dumps(payload)} if twice else payload)
    request = Request(f"http://127.0.0.1:{serve(policy).port}/act", text.encode(), {"Content-Type": "application/json"})
    with urlopen(request, timeout=PATIENCE_S) as answer:
        body = answer.read().decode()
    action = official.loads(json.loads(body) if twice else body)
    np.testing.assert_array_equal(action, np.ones(7))
    np.testing.assert_array_equal(policy.shown[0][0]["image"], PICTURE)
