"""`rm`, `mkdir`, `mv`, `cp` and `grep`: the same words and the same exit codes on this disk and over --connect."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from worldfs.interfaces.cli.main import main
from worldfs.testing.waiting import PATIENCE_S

from .served import Served, served

ART = "/projects/main/artifacts"
WORK = "/nodes/node-1/fs/work"
Paos = Callable[..., tuple[int, str, str]]


@pytest.fixture
def paos(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Paos:
    monkeypatch.delenv("PAOS_CONNECT", raising=False)

    def call(*words: str) -> tuple[int, str, str]:
        code = main(["--home", str(tmp_path / "home"), *words])
        said = capsys.readouterr()
        return code, said.out, said.err

    assert call("onboard")[0] == 0
    return call


def there(tmp_path: Path, life: Callable[[Served], None]) -> None:
    async def run() -> None:
        async with asyncio.timeout(PATIENCE_S), served(tmp_path) as site:
            await asyncio.to_thread(life, site)

    asyncio.run(run())


SAME = (
    ("rm", f"{ART}/d"),
    ("rm", f"{ART}/nope"),
    ("rm", ART, "-r"),
    ("rm", "/projects/main/ENVIRONMENT.md"),
    ("rm", "/projects/main/ROBOTS.md"),
    ("rm", f"{ART}/../ENVIRONMENT.md"),
    ("mkdir", f"{ART}/d"),
    ("mv", f"{ART}/d/a.txt", "/projects/main/x.txt"),
    ("mv", "/projects/main/ENVIRONMENT.md", f"{ART}/e"),
    ("cp", f"{ART}/d", f"{ART}/d/e"),
    ("cp", "-r", f"{ART}/d", f"{ART}/d/e"),
    ("cp", f"{ART}/d/a.txt", f"{ART}/d/b.txt", f"{ART}/none"),
    ("grep", "(", ART),
    ("grep", "nothing like it", ART),
    ("grep", "-i", "HELLO", ART),
    ("grep", "-l", "l+o", f"{ART}/d/a.txt", f"{ART}/d/b.txt"),
    ("cp", f"{ART}/d/a.txt", f"{ART}/f.txt"),
    ("cp", "-r", f"{ART}/d/a.txt", f"{ART}/d/b.txt", f"{ART}/g"),
    ("mv", f"{ART}/g/a.txt", f"{ART}/g/c.txt"),
    ("mv", f"{ART}/f.txt", f"{ART}/g"),
    ("mv", f"{ART}/g/f.txt", f"{ART}/g/c.txt"),
    ("rm", "-r", f"{ART}/g"),
    ("mkdir", f"{ART}/made"),
    ("mkdir", f"{ART}/none/made"),
    ("mkdir", f"{ART}/d/a.txt/made"),
    ("mkdir", "/projects/main/made"),
    ("mkdir", "/agents/made"),
    ("mkdir", f"{ART}/../made"),
    ("cp", "-r", f"{ART}/d", f"{ART}/copy"),
    ("cp", "-r", f"{ART}/d", f"{ART}/made"),
    ("cp", "-r", f"{ART}/copy", f"{ART}/made/deep"),
    ("cp", "-r", f"{ART}/d", "/projects/main/new"),
    ("mv", f"{ART}/made", f"{ART}/moved"),
    ("grep", "world", f"{ART}/moved"),
    ("rm", "-r", f"{ART}/moved"),
    ("rm", "-r", f"{ART}/copy"),
)


def test_what_is_refused_and_what_is_done_reads_alike_both_ways(tmp_path: Path, paos: Paos) -> None:
    place = tmp_path / "home/workspace/artifacts/d"
    place.mkdir(parents=True)
    (place / "a.txt").write_text("hello\nworld\n")
    (place / "b.txt").write_text("other\n")
    (place / "in/side").mkdir(parents=True)
    (place / "in/side/c.txt").write_text("deep\n")
    (place.parent / "g").mkdir()
    here = [paos(*words) for words in SAME]
    assert {code for code, _, _ in here} == {0, 1, 2}
    assert here[0][0] == 2 and "paos rm -r" in here[0][2]
    assert here[2][0] == 2 and (place / "a.txt").exists()  # refused before anything in it had gone
    assert here[5][0] == 2 and "climbs" in here[5][2]
    said = {words: (code, out.splitlines()) for words, (code, out, _) in zip(SAME, here, strict=True)}
    assert said["rm", "-r", f"{ART}/g"][1][-1] == f"{ART}/g: removed" and not (place.parent / "g").exists()
    assert said["mkdir", f"{ART}/made"] == (0, [f"{ART}/made: made"])
    assert said["cp", "-r", f"{ART}/d", f"{ART}/copy"] == (
        0, [f"{ART}/d/{name} → {ART}/copy/{name}" for name in ("a.txt", "b.txt", "in/side/c.txt")],
    )  # fmt: skip
    assert said["rm", "-r", f"{ART}/moved"][0] == 0 and not (place.parent / "moved").exists()

    (place.parent / "g").mkdir()

    def life(site: Served) -> None:
        far = [paos("--connect", site.url, *words) for words in SAME]
        for words, near, distant in zip(SAME, here, far, strict=True):
            assert distant[:2] == near[:2], words
            assert _gist(distant[2]) == _gist(near[2]), words

    there(tmp_path, life)


def _gist(text: str) -> str:
    """What was found: a server's error carries no path, so of a rename the client names the source."""
    return text.partition(" — ")[0].partition("; ")[0].rpartition(": ")[2].strip()


def test_in_a_node_s_export_names_are_made_and_unmade(tmp_path: Path, paos: Paos) -> None:
    def life(site: Served) -> None:
        def far(*words: str) -> tuple[int, str, str]:
            return paos("--connect", site.url, *words)

        (site.work / "a.txt").write_text("one\ntwo\n")
        assert far("mkdir", f"{WORK}/d")[0] == 0
        assert far("cp", f"{WORK}/a.txt", f"{WORK}/d")[0] == 0
        assert far("cp", "-r", f"{WORK}/d", f"{WORK}/e")[0] == 0
        assert far("mv", f"{WORK}/a.txt", f"{WORK}/e/a.txt")[0] == 0
        assert far("grep", "^two$", WORK)[:2] == (0, f"{WORK}/d/a.txt:2:two\n{WORK}/e/a.txt:2:two\n")
        assert far("cp", f"{WORK}/d/a.txt", f"{ART}/b.txt")[0] == 0
        assert far("mv", f"{WORK}/d/a.txt", f"{ART}/c.txt")[0] == 2
        assert far("rm", "-r", WORK)[0] == 2 and (site.work / "d/a.txt").exists()
        assert far("rm", f"{WORK}/../../../../x")[0] == 2
        (site.work / "out").symlink_to(tmp_path)
        assert far("rm", "-r", f"{WORK}/d", f"{WORK}/e")[0] == 0
        assert far("rm", f"{WORK}/out/home/auth_tokens.json")[0] == 2
        assert (tmp_path / "home/auth_tokens.json").exists()
        assert sorted(path.name for path in site.work.iterdir()) == ["out"]

    there(tmp_path, life)
    assert paos("cat", f"{ART}/b.txt")[:2] == (0, "one\ntwo\n")


def test_only_a_writer_unmakes_and_what_is_not_seen_is_not_there(tmp_path: Path, paos: Paos) -> None:
    place = tmp_path / "home/workspace/artifacts"
    place.mkdir(parents=True)
    (place / "a.txt").write_text("a")
    for role, word in (("critic", "may not write it"), ("agent", "no such file")):
        for words in (("rm", f"{ART}/a.txt"), ("mv", f"{ART}/a.txt", f"{ART}/b.txt")):
            code, _, err = paos("--as", role, *words)
            assert code == 2 and word in err, (role, words, err)
    assert (place / "a.txt").read_text() == "a"
    assert paos("--as", "watchdog", "rm", f"{ART}/a.txt")[0] == 0
    (place / "link").symlink_to(tmp_path)
    assert paos("rm", "-r", f"{ART}/link")[0] == 2
    assert paos("rm", f"{ART}/link/home/config.json")[0] == 2
    assert (tmp_path / "home").is_dir() and (tmp_path / "home/workspace/ENVIRONMENT.md").exists()


WHERE = ("--connect", "env")


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize(
    ("words", "instead"),
    [
        (("agents",), "/agents"),
        (("agent", "show", "rio"), "/agents"),
        (("agent", "run", "rio", "--", "true"), "/agents"),
        (("lessons",), "LESSONS.md"),
        (("up",), "server"),
        (("onboard",), ""),
        (("serve",), ""),
        (("token", "list"), ""),
    ],
)
def test_what_works_here_only_says_so_and_what_does_there(
    paos: Paos, monkeypatch: pytest.MonkeyPatch, where: str, words: tuple[str, ...], instead: str
) -> None:
    if where == "env":
        monkeypatch.setenv("PAOS_CONNECT", "ws://127.0.0.1:9")
        code, out, err = paos(*words)
    else:
        code, out, err = paos("--connect", "ws://127.0.0.1:9", *words)
    named = " ".join(word for word in words if word not in ("rio", "--", "true"))
    assert (code, out) == (2, "") and f"paos {named} does not work over --connect" in err and instead in err


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize(
    "words", [("do", "wave"), ("status",), ("watch",), ("stop",), ("resume",), ("cancel", "x"), ("ls",), ("rm", "/x")]
)
def test_what_works_there_goes_there_either_way(
    paos: Paos, monkeypatch: pytest.MonkeyPatch, where: str, words: tuple[str, ...]
) -> None:
    """Nobody listens on that port: a command that looked at this disk would say something else."""
    if where == "env":
        monkeypatch.setenv("PAOS_CONNECT", "ws://127.0.0.1:9")
    code, out, err = paos(*(("--connect", "ws://127.0.0.1:9") if where != "env" else ()), *words)
    if words == ("stop",):  # whose answer is what became of the stop
        assert code == 1 and "NOT delivered" in out and "127.0.0.1:9" in out
    else:
        assert (code, out) == (3, "") and "127.0.0.1:9" in err


def test_a_place_on_this_disk_goes_before_the_environment_and_not_beside_connect(
    paos: Paos, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PAOS_CONNECT", "ws://127.0.0.1:9")
    workspace = str(tmp_path / "home/workspace")
    assert paos("--workspace", workspace, "status")[0] == 0
    assert paos("--connect=", "status")[0] == 0
    code, _, err = paos("--connect", "ws://127.0.0.1:9", "--workspace", workspace, "status")
    assert code == 2 and "--workspace" in err
    assert paos("version")[0] == 0 and paos("completion", "bash")[0] == 0
