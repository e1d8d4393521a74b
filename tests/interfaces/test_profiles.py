"""Profiles of the operator's own, by name: offered, copied in, and missed by name, through the command."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from worldfs.interfaces.cli.main import main
from worldfs.testing.null_driver import NullDriver

Paos = Callable[..., tuple[int, str, str]]
MINE = "# EMBODIED — My Arm\n\n> Profile: my_arm | Driver: other_sim\n\n## Supported Actions\n- `wave_hello`: waves\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "hal" / "profiles"
    folder.mkdir(parents=True)
    (folder / "my_arm.md").write_text(MINE)
    (folder / "my_arm.zh.md").write_text(MINE.replace("My Arm", "我的机械臂"))
    return tmp_path / "home"


@pytest.fixture
def paos(home: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Paos:
    def factories(name: str | None, *, seed: int | None, cameras: bool, real_time: float = 0.0) -> dict[str, object]:
        return dict.fromkeys(("simulation", "other_sim"), lambda seat: NullDriver())

    monkeypatch.setattr("worldfs.interfaces.cli.driver_factories.factories", factories)

    def call(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
        code = main(("--home", str(home), *words))
        said = capsysbinary.readouterr()
        return code, said.out.decode(), said.err.decode()

    return call


def renamed(home: Path, name: str, **members: str) -> None:
    config = json.loads((home / "config.json").read_text())
    config["embodiments"]["instances"][0] |= {"profileName": name, **members}
    (home / "config.json").write_text(json.dumps(config))


def test_onboard_takes_a_profile_of_ones_own_and_the_driver_that_it_names(paos: Paos, home: Path) -> None:
    assert paos("onboard", "--profile", "my_arm")[0] == 0
    [instance] = json.loads((home / "config.json").read_text())["embodiments"]["instances"]
    assert (instance["profileName"], instance["driver"]) == ("my_arm", "other_sim")
    assert paos("up", "--until-idle")[0] == 0
    assert (home / "workspace/EMBODIED.md").read_text() == MINE
    assert "wave_hello" in paos("cat", "ROBOTS.md")[1]


def test_the_workspace_s_language_chooses_the_text(paos: Paos, home: Path) -> None:
    assert paos("onboard", "--profile", "my_arm", "--language", "zh")[0] == 0
    assert paos("up", "--until-idle")[0] == 0
    assert "我的机械臂" in (home / "workspace/EMBODIED.md").read_text()


def test_a_profile_of_ones_own_stands_before_ours_of_the_same_name(paos: Paos, home: Path) -> None:
    (home / "hal/profiles/franka_panda.md").write_text(MINE)
    assert paos("onboard")[0] == 0
    assert paos("up", "--until-idle")[0] == 0
    assert (home / "workspace/EMBODIED.md").read_text() == MINE


@pytest.mark.parametrize("name", ["my_rm", "../my_arm", "a\0b", "/etc/passwd", "my_arm.md", "."])
def test_onboard_misses_a_profile_by_name(paos: Paos, home: Path, name: str) -> None:
    code, _, said = paos("onboard", "--profile", name)
    assert (code, (home / "config.json").exists()) == (2, False)
    assert "unknown profile" in said and "franka_panda, " in said and "my_arm" in said
    assert ("did you mean my_arm?" in said) == (name in ("my_rm", "my_arm.md", "../my_arm"))


def test_a_configured_profile_that_is_not_there_stops_the_start_and_is_named_by_check(paos: Paos, home: Path) -> None:
    assert paos("onboard")[0] == 0
    renamed(home, "myarm")
    code, _, said = paos("up", "--until-idle")
    assert code == 2
    for words in ("'myarm'", "franka_001 profileName", "did you mean my_arm?", "hal/profiles/myarm.md"):
        assert words in said
    assert not (home / "workspace/EMBODIED.md").read_bytes().strip()
    code, said, _ = paos("check", "--json")
    found = [item for item in json.loads(said)["findings"] if item["code"] == "PROFILE_MISSING"]
    assert code == 1 and len(found) == 1 and "'myarm'" in found[0]["found"]
    (home / "hal/profiles/myarm.md").write_text(MINE)
    assert paos("up", "--until-idle")[0] == 0
    assert (home / "workspace/EMBODIED.md").read_text() == MINE


def test_without_a_name_it_is_the_driver_s_and_an_edited_one_is_kept(paos: Paos, home: Path) -> None:
    assert paos("onboard")[0] == 0
    renamed(home, "", driver="other_sim")
    assert "'other_sim'" in paos("up", "--until-idle")[2]
    (home / "workspace/EMBODIED.md").write_text("# my own words\n")
    assert paos("up", "--until-idle")[0] == 0
    assert (home / "workspace/EMBODIED.md").read_text() == "# my own words\n"
    (home / "workspace/EMBODIED.md").write_text("")
    (home / "hal/profiles/other_sim.md").write_text(MINE)
    assert paos("up", "--until-idle")[0] == 0
    assert (home / "workspace/EMBODIED.md").read_text() == MINE
