"""A home that has been used, something odd in place of one of its files, and what every command then says."""

from __future__ import annotations

import contextlib
import io
import shutil
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

from worldfs.interfaces.cli.main import main
from worldfs.testing.odd_files import SPECIAL, OddFile, directory, elsewhere

COMMANDS = (
    ("walk", "/"),
    ("grep", "-i", "hello", "/agents"),
    ("status",),
    ("check",),
    ("agents",),
    ("agent", "show", "rio"),
)
HANGS_S = 60.0  # a huge file is read through, on a busy machine
UNTRUSTED = "config.json"  # its settings protect the rest: nothing is shown without them


class Waits(BaseException):
    """No error of the product's: nothing catches it."""


def make_home(home: Path) -> None:
    for words in (
        ("onboard",),
        ("agent", "init", "rio", "zoe"),
        ("--agent", "rio", "agent", "send", "zoe", "hi", "Hello there"),
        ("agent", "send", "rio", "hi", "Hello rio"),
        ("agent", "run", "rio", "--", "true"),
        ("do", "wave", "--no-cameras"),
        ("token", "add", "rio"),
        ("mission", "add", "pick up the apple"),
        ("stop",),
    ):
        code, out, err = said(home, *words)
        assert code == 0, (words, out, err)


def files_of(home: Path) -> list[str]:
    return sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.is_file() and not path.is_symlink())


def said(home: Path, *words: str) -> tuple[int, str, str]:
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["--home", str(home), *words])
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]  # a BytesIO
    return code, *texts


@contextlib.contextmanager
def ending(seconds: float = HANGS_S) -> Iterator[None]:
    def waits(*_: object) -> None:
        raise Waits

    before = signal.signal(signal.SIGALRM, waits)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def faults(used: Path, place: Path, files: Sequence[str], odd: OddFile) -> list[str]:
    """What went wrong with this kind of thing in place of each of these files of a used home."""
    shutil.copytree(used, place, symlinks=True)
    whole = {words: said(place, *words) for words in COMMANDS}
    found = []
    for file in files:
        (place / file).unlink()
        odd(place / file)
        for words in COMMANDS:
            case = f"{odd.__name__} at {file}: {' '.join(words)}"
            try:
                with ending():
                    code, out, err = said(place, *words)
            except Waits:
                found.append(f"{case}: does not end")
                continue
            if code not in (0, 1, 2) or "Traceback" in out + err or "our bug" in out + err:
                found.append(f"{case}: {code} {err[-300:]}")
            if words[0] in ("walk", "grep") and file != UNTRUSTED:
                lost = {line for line in whole[words][1].splitlines() if not _about(line, file)} - {*out.splitlines()}
                if lost:
                    found.append(f"{case}: lost {sorted(lost)[:4]} {err[-300:]}")
            if words == ("check",) and _is_seen(odd, file) and file.rpartition("/")[2] not in out + err:
                found.append(f"{case}: not named")
        _removed(place / file)
        shutil.copy2(used / file, place / file)
    return found


def _is_seen(odd: OddFile, file: str) -> bool:
    """Whether its kind shows that it is none of ours. (A directory could be one, in a folder that may hold some.)"""
    return odd in (*SPECIAL, elsewhere) and (odd is not directory or "/." not in f"/{file}" or "/done/" in file)


def _about(line: str, file: str) -> bool:
    """Whether a line of the tree is of this file: of its name, or of the job or message that it holds."""
    name = file.rpartition("/")[2]
    return name in line or name.partition(".")[0] in line


def _removed(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
