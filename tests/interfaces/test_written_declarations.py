"""`paos write` of a document in which a person declares robots and skills: what cannot be read is not written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., tuple[int, str, str]]
GOOD = b"targets:\n  - {id: table, type: sim, backend: mujoco, adapter: {class: SimTargetAdapter}}\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> Path:
    monkeypatch.setenv("PAOS_HOME", str(tmp_path / "home"))
    assert command("onboard")[0] == 0
    return tmp_path / "home"


@pytest.mark.parametrize("name", ["TARGETS.md", "SKILLS.md", "SESSIONS.md"])
@pytest.mark.parametrize("text", ["# T\n\n```yaml\nKEY: [\n  a: {\n```\n", "\ud800", "KEY: [" + "a: [" * 5000])
def test_what_cannot_be_read_is_refused_and_the_one_of_before_stays(
    home: Path, command: Command, name: str, text: str
) -> None:
    data = text.replace("KEY", name.lower()[:-3]).encode("utf-8", "surrogatepass")
    before = command("cat", name)
    code, out, err = command("write", name, stdin=data)
    assert (code, out) == (2, "") and name in err and "Traceback" not in err
    assert command("cat", name) == before
    assert command("check")[0] == 0


def test_what_is_refused_in_a_readable_one_is_said_at_once(home: Path, command: Command) -> None:
    assert command("write", "TARGETS.md", stdin=GOOD)[2] == ""
    code, out, err = command("write", "TARGETS.md", stdin=GOOD.replace(b"type: sim", b"type: [1]"))
    assert code == 0 and "written" in out and "alert: " in err and "TARGETS.md" in err
