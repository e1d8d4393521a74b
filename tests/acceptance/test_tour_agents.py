"""docs/tour-agents.md, run as it stands by a shell in a fresh home."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MARK = "@@ block"


def blocks() -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```$", (ROOT / "docs/tour-agents.md").read_text("utf-8"), re.M | re.S)


def tour(home: Path) -> list[str]:
    """What each block said, both streams together; a block that fails ends the tour."""
    programs = home / "bin"
    programs.mkdir()
    command = programs / "paos"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m worldfs.doors.cli.main "$@"\n')
    command.chmod(0o755)
    environ = {key: text for key, text in os.environ.items() if not key.startswith("PAOS_")} | {
        "HOME": str(home), "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src"),
    }  # fmt: skip
    script = "exec 2>&1\nset -eu\n" + "".join(f"{block}\necho '{MARK}'\n" for block in blocks())
    done = subprocess.run(
        ["bash", "-c", script], cwd=home, env=environ, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    return done.stdout.split(f"{MARK}\n")


def test_the_tour_says_what_the_page_promises(tmp_path: Path) -> None:
    begun, ran, known, spoilt, brought, scripts, plan, rest = tour(tmp_path)
    assert re.search(r"^rio +idle .* 0\+1 +1 \(1 high\)", begun, re.M)
    assert " completed\n" in ran and "task-001  completed  high  research" in ran
    assert "no letter" in ran and "Re: Check MetaDAO" in ran and '"event": "session_end"' in ran
    assert "治理代币" in known and "[pinned] @0xfbifemboy" in known
    assert "NOT_JSON" in spoilt and "check says: 1" in spoilt and "mended" in spoilt and "task-001  completed" in spoilt
    assert "Futarchy evidence" in brought or "1 task" in brought
    assert "a second one: 2" in scripts and " completed\n" in scripts and "the script died" in scripts
    assert re.search(r"^ *\d+\.\d  rio", plan, re.M) and re.search(r"^ *\d+\.\d  theseus", plan, re.M)
    assert rest == ""
    assert list((tmp_path / ".PhyAgentOS/agents/rio/.paos/aside").glob("*tasks.json"))
