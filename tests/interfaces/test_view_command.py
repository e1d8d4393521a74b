"""`paos view`: the scene's files as a model, and what the window of the library is given."""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from pathlib import Path

import pytest

pytest.importorskip("mujoco", reason="mujoco is not installed")

from worldfs.base.errors import BadInput
from worldfs.interfaces.acheron.serve_realm import BackgroundServer, ListenOptions
from worldfs.interfaces.cli import view_command
from worldfs.interfaces.cli.main import main
from worldfs.interfaces.cli.viewed_scene import ViewedScene
from worldfs.robots.pose_frames import encode_frame
from worldfs.world.served_world import ServedWorld

BOX = {"type": "box", "size": [0.1, 0.1, 0.1], "rgba": [1, 0, 0, 1]}
SCENE = {"revision": 7, "bodies": [{"name": "table", "geoms": [BOX]}, {"name": "apple", "geoms": [BOX]}]}


@pytest.fixture(autouse=True)
def _own_opengl(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command chooses the OpenGL of its process for good: what it chose here is taken back after each test."""
    monkeypatch.setenv("MUJOCO_GL", os.environ.get("MUJOCO_GL", "glfw"))


class Window:
    """In place of the library's: it notes each drawn frame, and is closed after `most` of them."""

    def __init__(self, scene: ViewedScene, most: int) -> None:
        self.scene, self.most, self.drawn = scene, most, []

    def __enter__(self) -> Window:
        return self

    def __exit__(self, *raised: object) -> None:
        pass

    def is_running(self) -> bool:
        return len(self.drawn) < self.most

    def lock(self) -> nullcontext[None]:
        return nullcontext()

    def sync(self) -> None:
        self.drawn.append(self.scene.data.xpos.copy())


def test_bodies_stand_where_a_frame_says_and_an_unknown_or_endless_one_is_left_alone():
    scene = ViewedScene(SCENE)
    scene.place({1: (0.5, 0.25, 1.0, 1, 0, 0, 0), 9: (1, 1, 1, 1, 0, 0, 0), 0: (float("nan"),) * 7})
    assert scene.data.xpos[2].tolist() == [0.5, 0.25, 1.0] and scene.data.xpos[1].tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"bodies": []},
        {"bodies": [{"geoms": [{**BOX, "type": "script"}]}]},
        {"bodies": [{"geoms": [{**BOX, "size": [0.1]}]}]},
        {"bodies": [{"geoms": [{**BOX, "size": [float("inf")] * 3}]}]},
        {"bodies": [{"geoms": [{**BOX, "type": "mesh", "mesh": 3}]}]},
        {**SCENE, "meshes": [{"vertices": "no base64", "faces": ""}]},
    ],
)
def test_what_is_no_scene_is_refused_with_the_reason(wrong):
    with pytest.raises(BadInput):
        ViewedScene(wrong)


def test_a_frame_of_another_scene_is_not_drawn():
    scene = ViewedScene(SCENE)
    window = Window(scene, 9)
    assert view_command._show(scene, window, encode_frame(1, 7, 0.0, [(1, (0.5, 0, 0, 1, 0, 0, 0))]))
    assert not view_command._show(scene, window, encode_frame(2, 8, 0.0, []))
    assert len(window.drawn) == 1


def test_a_home_is_shown_as_its_scene_says_until_the_window_is_closed(tmp_path: Path, monkeypatch):
    home = tmp_path / "home"
    assert main(["--home", str(home), "onboard"]) == 0
    made: list[Window] = []
    monkeypatch.setattr(view_command, "_window", lambda scene: made.append(Window(scene, 1)) or made[-1])
    monkeypatch.setenv("DISPLAY", ":77")
    assert main(["--home", str(home), "view"]) == 0
    assert len(made) == 1 and [0.0, 0.0, 0.333] in made[0].drawn[0].round(4).tolist()  # the arm's shoulder


def test_without_a_display_it_says_what_shows_the_world_instead(tmp_path: Path, monkeypatch, capsys):
    home = tmp_path / "home"
    assert main(["--home", str(home), "onboard"]) == 0
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert main(["--home", str(home), "view"]) == 2
    assert "paos page" in capsys.readouterr().err


def test_over_connect_it_follows_the_scene_and_opens_another_window_for_another_scene(tmp_path: Path, monkeypatch):
    home = tmp_path / "home"
    assert main(["--home", str(home), "onboard"]) == 0
    made: list[Window] = []

    def stand(x: float, size: float) -> None:
        apple = {"id": "apple_01", "category": "fruit", "position": [x, 0.2, 0.03], "size": [size] * 3}
        value = {"schema_version": "v2.0", "scene_graph": {"nodes": [], "edges": []}, "robots": [], "objects": [apple]}
        text = f"# ENVIRONMENT\n\n```json\n{json.dumps(value)}\n```\n"
        (home / "workspace/ENVIRONMENT.md").write_text(text)

    class Live(Window):
        def sync(self) -> None:
            super().sync()
            if len(made) == 1 and len(self.drawn) == 1:
                stand(0.36, 0.07)
            elif len(made) == 1 and (self.drawn[-1] != self.drawn[0]).any():
                stand(0.36, 0.06)  # now the scene is another one

    def window(scene: ViewedScene) -> Window:
        made.append(Live(scene, 60 if not made else 1))
        return made[-1]

    stand(0.3, 0.07)
    monkeypatch.setattr(view_command, "_window", window)
    monkeypatch.setenv("DISPLAY", ":77")
    with ServedWorld.open(home) as realm, BackgroundServer(realm, ListenOptions(port=0)) as server:
        url = f"ws://127.0.0.1:{server.started.port}"
        assert main(["--home", str(home), "--connect", url, "view"]) == 0
    assert len(made) == 2, [len(one.drawn) for one in made]
    assert 0.36 in made[0].drawn[-1].round(3) and len(made[1].drawn) == 1
